#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every benchmark of a build, one after another, and writes a table and a picture (SVG) a module.

    all.py BUILD FOLDER [MODULE ...]

FOLDER/MODULE.txt holds what the programs print, FOLDER/MODULE.svg how keel compares in each row. Without modules all.
"""
import html
import json
import os
import pathlib
import re
import subprocess
import sys

NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
WIDTH, LABEL, ROW, MOST = 1060, 560, 17, 2.0  # pixels; the widest bar is a quotient of MOST


def numbers(text):
    return [float(n) for n in re.findall(rf"(?<![\w.]){NUMBER}(?![\w.])", text)]


def row(line):
    """(label, median, least, most) of a line of a table that compares; None for any other line.

    A row of a markdown table compares its second with its third column, one with three numbers or more after a name has
    a quotient: the median with minimum and maximum and a rate, or one way, the other way and their quotient.
    """
    if line.startswith("|"):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) < 3 or not numbers(cells[1]) or not numbers(cells[2]) or numbers(cells[2])[0] == 0:
            return None
        value = numbers(cells[1])[0] / numbers(cells[2])[0]
        return cells[0], value, value, value
    parts = re.split(r" {2,}", line.strip())
    found = re.match(rf"(.*?\S)( {{2,}}{NUMBER}(?:\s+{NUMBER})*)\s*(?:at most .*)?$", line.rstrip())
    if not found or not re.search(r"[a-z]", found[1]):
        return None
    values = [float(n) for n in found[2].split()]
    if len(values) == 4 and values[1] <= values[0] <= values[2]:
        return found[1].strip(), *values[:3]
    if len(values) >= 3 and values[0] > 0:
        return found[1].strip(), values[2], values[2], values[2]
    if len(values) == 2 and values[0] > 0 and len(parts) > 2:
        quotient = values[1] / values[0]
        return found[1].strip(), quotient, quotient, quotient
    return None


def picture(title, rows):
    """An SVG with a bar for each row, a line at 1, and minimum and maximum where they differ."""
    height = ROW * (len(rows) + 3)
    at = lambda value: LABEL + min(value, MOST) / MOST * (WIDTH - LABEL - 70)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="8" y="{ROW}" font-weight="bold">{html.escape(title)}: quotients, as its table says; the line is 1</text>']
    for n, (label, median, least, most) in enumerate(rows):
        y = ROW * (n + 2)
        out.append(f'<text x="{LABEL - 8}" y="{y + 4}" text-anchor="end">{html.escape(label[:90])}</text>')
        out.append(f'<rect x="{LABEL}" y="{y - 5}" width="{max(at(median) - LABEL, 0):.1f}" height="10" fill="#4477aa"/>')
        if least != most:
            out.append(f'<line x1="{at(least):.1f}" x2="{at(most):.1f}" y1="{y}" y2="{y}" stroke="#222"/>')
        out.append(f'<text x="{WIDTH - 62}" y="{y + 4}">{median:.3f}</text>')
    out.append(f'<line x1="{at(1):.1f}" x2="{at(1):.1f}" y1="{1.4 * ROW}" y2="{height - ROW}" stroke="#cc3311"/></svg>')
    return "\n".join(out) + "\n"


def main(arguments):
    if len(arguments) < 2 or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build, folder, wanted = pathlib.Path(arguments[0]), pathlib.Path(arguments[1]), arguments[2:]
    listed = json.loads(subprocess.run(["meson", "introspect", "--benchmarks", str(build)], check=True, capture_output=True, text=True).stdout)
    modules = {}
    for one in listed:
        modules.setdefault(re.split(r"[ ,]", one["name"])[0], []).append(one)
    for name in wanted:
        if name not in modules:
            print(f"bench/run: {name} has no benchmark ({', '.join(modules)} have). Name one of those.", file=sys.stderr)
            return 2
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for module in wanted or modules:
        texts = []
        for one in modules[module]:
            print(f"bench/run: {one['name']}", file=sys.stderr, flush=True)
            try:
                run = subprocess.run(one["cmd"], cwd=one["workdir"] or build, env={**os.environ, **one["env"]}, timeout=one["timeout"],
                                     capture_output=True, text=True)
                told, code = run.stdout, run.returncode
            except subprocess.TimeoutExpired:
                told, code = "", f"no end in {one['timeout']} s"
            failed += code != 0
            texts.append(f"{one['name']}\n{told}" + (f"failed: {code}\n" if code else ""))
        text = "\n".join(texts)
        rows = [r for r in map(row, text.splitlines()) if r]
        (folder / f"{module}.txt").write_text(text)
        (folder / f"{module}.svg").write_text(picture(module, rows))
        print(text)
    print(f"tables, pictures  {folder}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
