#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A guide as Doxygen wants it: guide_filter.py FILE. Links to what is no part of the reference lose their target. Links to
headers become references, because Doxygen 1.9 follows only links to other guides."""
import os
import pathlib
import re
import sys

path = pathlib.Path(sys.argv[1])
text = path.read_text()


def link(found):
    words, target = found[1], found[2]
    inside = "RESULTS" not in target and "/test/" not in target
    if target.startswith("http") or (target.endswith(".md") and inside):
        return found[0]
    header = os.path.normpath(path.parent / target).split("/include/", 1)
    if target.endswith(".hpp") and len(header) == 2:
        return f'@ref {header[1]} "{words}"'
    return f"`{words}`"


text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, text)
text = re.sub(r"^```mermaid\n.*?^```\n", "", text, flags=re.M | re.S)
text = re.sub(r"^```(?:console|sh)$", "```", text, flags=re.M)
sys.stdout.write(re.sub(r"^```cpp$", "```{.cpp}", text, flags=re.M))
