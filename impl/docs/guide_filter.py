#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A guide as Doxygen wants it: guide_filter.py FILE. Links to what is no part of the reference lose their target. Links to
headers become references, because Doxygen 1.9 follows only links to other guides. A flow chart is drawn by `dot`, or is a list of
its arrows if that is not there. Code with a quote in it has two marks at each end, because one quote ends code."""
import os
import pathlib
import re
import shutil
import subprocess
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


def chart(found):
    """Nodes are `id`, `id["label"]`, `id(["label"])` or `id[(label)]`, arrows `-->`, `-- "label" -->` or `-. "label" .->`."""
    names, lines, drawn = {}, [], ["digraph { node [shape=box] "]
    for line in found[1].splitlines():
        ends = [part.strip() for part in re.split(r'-->|\.->|--(?= ")|-\.(?= ")', line)]
        for name, label in re.findall(r'(\w+)[\[(]+"?([^"\])]+)"?[\])]+', line):
            names[name] = label.replace("<br/>", ": ")
        if len(ends) > 1:
            source, target = (names.get(end, end) for end in (re.match(r"\w+", ends[at])[0] for at in (0, -1)))
            label = ends[1].strip('"') if len(ends) > 2 else ""
            lines.append(f"{source} -> {target}" + f" ({label})" * bool(label))
            drawn.append(f'"{source}" -> "{target}" [label="{label}"]')
    if not shutil.which("dot"):
        return "```\n" + "\n".join(lines) + "\n```\n"
    picture = subprocess.run(["dot", "-Tsvg"], input="\n".join(drawn) + "}", text=True, capture_output=True, check=True).stdout
    return f"@htmlonly\n{picture[picture.index('<svg'):]}@endhtmlonly\n"


text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, text)
text = re.sub(r"^```mermaid\n(.*?)^```\n", chart, text, flags=re.M | re.S)
parts = re.split(r"(^```.*?^```$|^@htmlonly$.*?^@endhtmlonly$)", text, flags=re.M | re.S)
text = "".join(part if at % 2 else re.sub(r"`([^`]*)`", lambda code: f"`{code[0]}`" if "'" in code[0] else code[0], part) for at, part in enumerate(parts))
text = re.sub(r"^```(?:console|sh)$", "```", text, flags=re.M)
sys.stdout.write(re.sub(r"^```cpp$", "```{.cpp}", text, flags=re.M))
