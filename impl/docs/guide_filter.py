#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A guide as Doxygen wants it: guide_filter.py FILE. Links to headers and to programs of the course become references, because
Doxygen 1.9 follows only links to other guides; other files of the project are no pages, and stay as code. A heading gets a label, which links to it name. A transcript of the
course becomes a page of its program: what it prints, and its sources. A flow chart is drawn by `dot`, or is a list of its arrows
if that is not there. Code with a quote in it has two marks at each end, because one quote ends code."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
path = pathlib.Path(sys.argv[1]).resolve()
text = path.read_text()


def label(file, heading):
    """What Doxygen calls a heading of a guide. GitHub calls it by its words only."""
    name = re.sub(r"\W", "_", os.path.relpath(file, ROOT))
    return name + "_" + re.sub(r"[^\w-]", "", heading.strip().lower().replace(" ", "-"))


def link(found):
    words, (target, _, heading) = found[1], found[2].partition("#")
    place = os.path.normpath(path.parent / target) if target else str(path)
    is_page = place.endswith(".md") and "/impl/" not in place
    if found[2].startswith("http") or (is_page and not heading):
        return found[0]
    if is_page:
        return f'@ref {label(place, heading)} "{words}"'
    if place.endswith(".hpp") and "/include/" in place:
        return f'@ref {place.split("/include/", 1)[1]} "{words}"'
    program = re.sub(r"\.(cpp|c|f90)$", "", place)
    if pathlib.Path(program + ".txt").is_file():
        return f'@ref example_{os.path.basename(program)} "{words}"'
    return f"`{words}`"


def program():
    """The page of a program of the course."""
    sources = sorted(path.with_suffix("").glob("*.[ch]pp")) or [source for source in map(path.with_suffix, (".cpp", ".c", ".f90")) if source.exists()]
    page = [f"# {path.stem} {{#example_{path.stem}}}", f"```\n{text}```"]
    page += [f"{source.name}\n\n```{{{source.suffix}}}\n{source.read_text()}```" for source in sources]
    return "\n\n".join(page) + "\n"


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


if path.suffix == ".txt":
    sys.stdout.write(program())
    sys.exit()
text = re.sub(r"!\[([^\]]+)\]\([^)]*?([^/)]+)\)", r"<img src='\2' alt='\1'>", text)
text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, text)
text = re.sub(r"^(##+) (.*)$", lambda found: f"{found[0]} {{#{label(path, found[2])}}}", text, flags=re.M)
text = re.sub(r"^```mermaid\n(.*?)^```\n", chart, text, flags=re.M | re.S)
parts = re.split(r"(^```.*?^```$|^@htmlonly$.*?^@endhtmlonly$)", text, flags=re.M | re.S)
text = "".join(part if at % 2 else re.sub(r"`([^`]*)`", lambda code: f"`{code[0]}`" if "'" in code[0] else code[0], part) for at, part in enumerate(parts))
text = re.sub(r"^```(?:console|sh)$", "```", text, flags=re.M)
sys.stdout.write(re.sub(r"^```cpp$", "```{.cpp}", text, flags=re.M))
