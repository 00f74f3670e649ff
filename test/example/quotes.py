#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every block of code in a guide is a piece of a tested program: quotes.py ROOT GUIDE ...

A block of C++, C or Fortran stands, line by line, in a program below ROOT/test; it may be indented less. A block `console` is a
piece of a transcript of ROOT/test/example, on the device serial. Links to files of the project lead somewhere, and concepts are in a header.
"""
import pathlib
import re
import sys
import textwrap


def pieces(text):
    """The text with a line break on both ends, and once more for each depth of indentation that code has."""
    for depth in (0, 2, 4, 6):
        lines = [line if line[:depth].strip() else line[depth:] for line in text.splitlines()]
        yield "\n" + "\n".join(lines) + "\n"


def complaints(root, guide):
    text = guide.read_text()
    programs = {"cpp": "*.[ch]pp", "c": "*.c", "fortran": "*.f90"}
    sources = {**{language: [piece for path in sorted((root / "test").rglob(name)) for piece in pieces(path.read_text())]
                  for language, name in programs.items()},
               "console": ["\n" + path.read_text().replace("HOST", "serial") for path in sorted((root / "test/example").glob("*.txt"))]}
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        if language in sources and not any("\n" + block in source for source in sources[language]):
            yield f"this block is in no program:\n{textwrap.indent(block, '    ')}"
        if language not in (*sources, "sh", "mermaid"):
            yield f"a block is neither cpp, c, fortran, console, sh nor mermaid, but '{language}'"
    headers = "".join(path.read_text() for path in sorted((root / "include").rglob("*.hpp")))
    points = re.search(r"^## Customisation$.*?^## ", text + "\n## ", re.M | re.S)
    for concept in re.findall(r"`(?:keel::\w+::)?([A-Z][a-z]+(?:[A-Z][a-z]+)*)`", points[0] if points else ""):
        if not re.search(rf"concept {concept}\b", headers):
            yield f"no header has a concept {concept}"
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        if not (guide.parent / link).exists():
            yield f"a link leads nowhere: {link}"


def main(root, *guides):
    failed = 0
    for guide in map(pathlib.Path, guides):
        found = list(complaints(pathlib.Path(root), guide))
        failed += bool(found)
        for one in found:
            print(f"FAIL: {guide}: {one}")
    print(f"{len(guides) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not guides else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
