#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readme.py README PROGRAM ...: every C++ block of the README is one of the programs, and each program is one block."""
import pathlib
import re
import sys

readme, *programs = map(pathlib.Path, sys.argv[1:])
blocks = re.findall(r"^```cpp\n(.*?)^```$", readme.read_text(), re.M | re.S)
texts = {path: path.read_text().split("\n", 1)[1] for path in programs}  # without the licence line
failed = 0
for path, text in texts.items():
    if text not in blocks:
        failed += 1
        print(f"FAIL: {path.name} does not stand in {readme.name} word for word")
for block in blocks:
    if block not in texts.values():
        failed += 1
        print(f"FAIL: a block of {readme.name} is none of the programs:\n{block}")
if len(blocks) != len(programs):
    failed += 1
print(f"{len(programs) - min(failed, len(programs))} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)
