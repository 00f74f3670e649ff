#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What bench/run --all reads from the tables of the benchmarks, and the picture that it draws."""
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as tree

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
import all as bench  # noqa: E402

LINES = {
    "  triad, keel, length 64                                        0.902    0.828    1.003     82.433": ("triad, keel, length 64", 0.902, 0.828, 1.003),
    "subset: first half                4.781      4.858    1.016": ("subset: first half", 1.016, 1.016, 1.016),
    "sum of 65536 numbers: tbb::parallel_reduce                      118.244       84.453    0.918     1.05": ("sum of 65536 numbers: tbb::parallel_reduce", 0.918, 0.918, 0.918),
    "64 B: aligned_alloc, keel's pool                                  0.083        0.110    1.434": ("64 B: aligned_alloc, keel's pool", 1.434, 1.434, 1.434),
    "start from XML / from what keel kept, us                 50.0           25.0   ": ("start from XML / from what keel kept, us", 0.5, 0.5, 0.5),
    "| a transition of 64 B   | 16.0 ns  | raw copy 2.0 ns | raw + 10 ns | no |": ("a transition of 64 B", 8.0, 8.0, 8.0),
    "20 arguments read, 10 of them knobs        1.025": None,
    "threads: keel 2, Serial 1": None,
    "microseconds                                                      other         keel quotient   wanted": None,
    "|---|---|---|---|---|": None,
    "": None,
}
passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL: {what}")


for line, wanted in LINES.items():
    got = bench.row(line)
    check(got == wanted, f"{line!r}: {got} in place of {wanted}")

rows = [r for r in map(bench.row, LINES) if r]
drawn = tree.fromstring(bench.picture("a < b & c", rows))
space = "{http://www.w3.org/2000/svg}"
texts = [t.text for t in drawn.iter(space + "text")]
check(len(list(drawn.iter(space + "rect"))) == len(rows) + 1, "a bar for each row")
check(texts[0].startswith("a < b & c"), "the title is escaped")
check("0.902" in texts and "triad, keel, length 64" in texts, "label and number stand there")
check(all(float(r.get("width")) <= bench.WIDTH for r in drawn.iter(space + "rect")), "nothing is wider than the picture")

run = subprocess.run([sys.executable, ROOT / "bench/all.py"], capture_output=True, text=True)
check(run.returncode == 2 and "all.py BUILD FOLDER" in run.stderr, "without arguments it says its usage")
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)
