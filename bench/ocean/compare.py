#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ocean against plain, in one run: the ratio of their times per step, and whether their bits agree.

usage: compare.py OCEAN PLAIN [--launcher 'mpiexec -n 2'] [--repeat N] [--limit RATIO] [--keel-device NAME]
                  [options of both]

The programs take turns, and the fastest run of each counts, because whatever disturbs a machine only ever adds.
Unless told otherwise ocean runs where plain does: on the device that Kokkos was built for. Ends with 1 where the bits
differ or the ratio is above the limit. With --output-every N, time includes output: that of plain is gathered on one
rank, which writes it by fwrite.
"""
import argparse
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"compare: {shlex.join(command)} ended with {done.returncode}.")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(usage=__doc__, allow_abbrev=False)
    parser.add_argument("ocean")
    parser.add_argument("plain")
    parser.add_argument("--launcher", default="")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--limit", type=float, default=1.02)
    parser.add_argument("--keel-device")
    known, options = parser.parse_known_args()
    writes = any(option.startswith("--output-every") for option in options)
    there = tempfile.TemporaryDirectory(dir=".")
    options += ["--output", there.name] if writes else ["--no-output"]
    programs = {name: shlex.split(known.launcher) + [str(pathlib.Path(getattr(known, name)).resolve())] + options
                for name in ("plain", "ocean")}

    with tempfile.TemporaryDirectory() as folder:
        dumps = {name: pathlib.Path(folder, name) for name in programs}
        text = run(programs["plain"] + ["--dump", str(dumps["plain"])])
        device = known.keel_device or re.search(r"^program .* device (\w+)$", text, re.M)[1].lower()
        programs["ocean"] += ["--keel-device", device]
        run(programs["ocean"] + ["--dump", str(dumps["ocean"])])
        same = dumps["ocean"].read_bytes() == dumps["plain"].read_bytes()

    times, shares = {name: [] for name in programs}, {name: [] for name in programs}
    for turn in range(known.repeat):
        for name in sorted(programs, reverse=turn % 2 == 1):
            text = run(programs[name])
            times[name].append(float(re.search(rf"^{'with output' if writes else 'time per step'} +(\S+) ms$", text, re.M)[1]))
            shares[name].append(float(re.search(r"^bandwidth .* (\S+) of this run's triad$", text, re.M)[1]))
    for name in programs:
        print(f"{name:16}  {min(times[name]):.4f} ms per step (median {statistics.median(times[name]):.4f}), "
              f"{statistics.median(shares[name]):.2f} of its triad, on {device}")
    ratio = min(times["ocean"]) / min(times["plain"])
    print(f"ocean / plain     {ratio:.4f} (the fastest of {known.repeat} each; at most {known.limit})")
    print(f"bits              {'the same' if same else 'DIFFERENT'}")
    return 0 if same and ratio <= known.limit else 1


if __name__ == "__main__":
    sys.exit(main())
