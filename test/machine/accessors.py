# SPDX-License-Identifier: MIT
"""Accessors of an environment are one load: a load and a return are all that each compiles to.
usage: accessors.py PROGRAM"""
import re, subprocess, sys

listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", sys.argv[1]], capture_output=True, text=True, check=True).stdout
failed = 0
accessors = ("comm", "rank", "size", "master_rank", "is_master")
for name in accessors:
    body = re.search(rf"<read_{name}>:\n(.*?)(?:\n\n|\Z)", listing, re.S)
    lines = [line.split("\t")[-1].strip() for line in body.group(1).splitlines()] if body else []
    # What the processor does: landing pads and padding left out.
    code = [line for line in lines if not re.match(r"(endbr|nop|bti|data16|xchg\s+%ax,%ax|cs nop)", line)]
    right = len(code) == 2 and "ret" in code[1]
    failed += not right
    print(f"{'passed' if right else 'failed'}: {name}: {'; '.join(code)}")
print(f"{len(accessors) - failed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
