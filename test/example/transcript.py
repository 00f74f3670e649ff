#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands of a transcript and compares what they print: transcript.py TRANSCRIPT PROGRAM HOST_DEVICE [LAUNCHER ...]

A line `$ NAME=value mpiexec -n 4 program --option` is a command, the lines below it are its output; `...` stands for
any text within a line. All commands have one folder. `HOST` is a host device that Kokkos was built with. `mpiexec` is the launcher of this build. Where there is none, its commands are skipped.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def matches(expected, said):
    pattern = "\n".join(re.escape(line).replace(re.escape("..."), ".*") for line in expected)
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in said.splitlines())) is not None


def run_all(folder, transcript, program, host_device, *launcher):
    path, count = pathlib.Path(program).resolve(), {"passed": 0, "failed": 0, "skipped": 0}
    sections = re.split(r"^\$ ", pathlib.Path(transcript).read_text().replace("HOST", host_device), flags=re.M)[1:]
    for section in sections:
        command, *expected = section.rstrip("\n").splitlines()
        words = shlex.split(command)
        environment = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        words = words[len(environment):]
        if words[0] == "mpiexec" and not launcher:
            print(f"SKIP: {command}: no MPI")
            count["skipped"] += 1
            continue
        if words[0] == "mpiexec":
            words = [*launcher, *words[1:]]
        words = [str(path) if word == path.name.removeprefix("example-") else word for word in words]
        done = subprocess.run(words, cwd=folder, env=os.environ | environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode or not matches([line.rstrip() for line in expected], done.stdout):
            count["failed"] += 1
            print(f"FAIL: {command}: exit code {done.returncode}; it says\n{done.stdout}{done.stderr}--- and not")
            print("\n".join(expected))
        else:
            count["passed"] += 1
    if not sections:
        count["failed"] += 1
        print(f"FAIL: {transcript} has no command")
    print(", ".join(f"{number} {what}" for what, number in count.items()))
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(run_all(folder, *sys.argv[1:]))
