#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A guide as Doxygen wants it: guide_filter.py FILE. Links to what is no part of the reference lose their target."""
import pathlib
import re
import sys

path = pathlib.Path(sys.argv[1])
text = path.read_text()
known = lambda link: link.startswith("http") or (link.endswith((".md", ".hpp")) and
                                                 ("RESULTS" not in link and "/test/" not in link))
text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", lambda m: m[0] if known(m[2]) else f"`{m[1]}`", text)
text = re.sub(r"^```mermaid\n.*?^```\n", "", text, flags=re.M | re.S)
text = re.sub(r"^```(?:console|sh)$", "```", text, flags=re.M)
sys.stdout.write(re.sub(r"^```cpp$", "```{.cpp}", text, flags=re.M))
