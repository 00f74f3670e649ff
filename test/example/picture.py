#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what a program saves, and compares the picture with that of the README: picture.py PROGRAM SCRIPT PICTURE [made]

The picture is made anew with `made`."""
import os
import pathlib
import subprocess
import sys
import tempfile

FRAMES = [f"movie.{step:06}.vtkhdf" for step in (20, 60, 120, 180)]


def finds(python, *modules):
    return subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode == 0


def main(*arguments):
    program, script, picture, *made = [str(pathlib.Path(one).resolve()) for one in arguments]
    python = next((one for one in (sys.executable, "/usr/bin/python3") if finds(one, "h5py", "matplotlib")), None)
    if python is None:
        print("SKIP: picture: no h5py with matplotlib\n0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        drawn = picture if made else str(pathlib.Path(folder, "drawn.png"))
        environment = os.environ | {"MPLBACKEND": "Agg", "MPLCONFIGDIR": folder}
        subprocess.run([program, "180"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([python, script, drawn, *FRAMES], cwd=folder, check=True, env=environment)
        compare = ("import sys, matplotlib.image as image, numpy\na, b = map(image.imread, sys.argv[1:])\n"
                   "sys.exit(a.shape != b.shape or float(numpy.abs(a - b).mean()) > 0.005)")
        differs = subprocess.run([python, "-c", compare, drawn, picture], env=environment).returncode
    print(f"{'FAIL: ' + picture + ' is another picture' if differs else 'the same picture'}\n{1 - differs} passed, {differs} failed, 0 skipped")
    return differs


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
