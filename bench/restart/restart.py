#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills jobs at random moments and restarts them: the last state has to have the bits of a run that was not broken.

A job begins in an empty folder, on 1, 3 or 4 ranks and a device. At a random moment all of its ranks are killed, or one of
them; it is restarted from its last checkpoint on other ranks and another device, again and again, until it comes to its end.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KNOB = "--keel-checkpoint-every={}"
PROGRAMS = {  # where each is, its arguments, and what asks for a checkpoint every so many steps
    "ocean": ("bench/ocean/ocean", "--grid 40x36 --layers 3 --steps 80 --case jet --no-output --dump last", KNOB),
    "ministag": ("bench/ministag/ministag", "--problem blast --grid 40x40 --steps 60 --dump last", KNOB),
    "trisk": ("bench/mesh/trisk", "--mesh ico:3 --case 5 --steps 50 --dump last", KNOB),
    "particles": ("bench/particles/particles", "--cells 6 --steps 90 --newton off", KNOB),
    "registry": ("bench/restart/registry", "100", "{}"),
}
RANKS, DEVICES = (1, 3, 4), ("serial", "openmp", "tbb", "simulated")
LIMIT = 120  # seconds after which a job hangs


class Job:
    """A program on some ranks, whose processes have a variable in their environment."""

    def __init__(self, launcher, program, ranks, arguments, folder):
        self.program, self.folder, self.begin = program, folder, time.monotonic()
        self.command = (launcher + [str(ranks)] if launcher else []) + [program] + arguments
        self.mark = str(folder) + str(self.begin)
        with open(folder / "said", "w") as said:
            self.process = subprocess.Popen(self.command, cwd=folder, stdout=said, stderr=said, env=os.environ | {"RESTART_JOB": self.mark})

    def ends_in(self, seconds):
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def ranks(self):
        mine = f"RESTART_JOB={self.mark}".encode()
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(process / "exe") == self.program and mine in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
            except OSError:
                pass  # it is another user's, or has ended
        return found

    def kill(self):
        """All ranks, or one, which ends the others; whether the job did not come to its end before."""
        while not (victims := self.ranks()) and not self.ends_in(0.01):
            pass
        for one in victims if random.random() < 0.7 else random.sample(victims, min(1, len(victims))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        until = time.monotonic() + LIMIT
        while not self.ends_in(5):
            if not self.ranks():
                self.process.kill()  # Open MPI's launcher may wait for ever for ranks that are killed as they connect to it
            elif time.monotonic() > until:
                sys.exit(f"restart: {shlex.join(self.command)} in {self.folder} does not end when its ranks are killed.")
        return bool(victims) and self.process.returncode != 0

    def bits(self):
        """Of the last state; None if the job failed."""
        is_over = self.ends_in(LIMIT)
        text, dump = (self.folder / "said").read_text(errors="replace"), self.folder / "last"
        if not is_over or self.process.returncode != 0:
            print(f"restart: {shlex.join(self.command)} in {self.folder} {'failed' if is_over else 'hangs'}:\n{text}", file=sys.stderr)
            return None
        return dump.read_bytes() if dump.exists() else re.search(r"^digest +(\S+)", text, re.M)[1]


def kill_again_and_again(name, options, folder):
    """Returns what is told of a program, and whether all is well."""
    path, arguments, every = PROGRAMS[name]
    launcher, program = shlex.split(options.launcher), str((pathlib.Path(options.build) / path).resolve())
    all_ranks = RANKS if launcher else (1,)
    told, counted = collections.Counter(), collections.Counter()

    def start(where, ranks, device, *more):
        return Job(launcher, program, ranks, shlex.split(arguments) + [f"--keel-device={device}", *more], where)

    lasts, results = {}, []  # seconds, by the number of ranks; the last state
    for n, ranks in enumerate(all_ranks):  # without a break
        (where := folder / f"{name}-on-{ranks}").mkdir()
        job = start(where, ranks, options.devices[n % len(options.devices)], every.format(2))
        results.append(job.bits())
        lasts[ranks] = time.monotonic() - job.begin
    told["failed"] = results.count(None)
    told["differ"] = sum(one != results[0] for one in results)
    while told["kills"] < options.kills and not told["failed"]:
        told["jobs"] += 1
        (where := folder / f"{name}-{told['jobs']}").mkdir()
        runs, was_killed = 0, True
        while was_killed:
            ranks, device, goes_on = random.choice(all_ranks), random.choice(options.devices), (where / "checkpoint.h5").exists()
            counted.update([ranks, device] if goes_on else ["anew"] if runs else [])
            job = start(where, ranks, device, every.format(random.choice((1, 2, 5))), *(["--keel-restart=checkpoint"] if goes_on else []))
            is_enough = told["kills"] >= options.kills
            was_killed = not is_enough and not job.ends_in(random.uniform(0.25, 1) * lasts[ranks]) and job.kill()
            told["kills"] += was_killed
            runs += 1
        last = job.bits()
        told["failed"] += last is None
        told["differ"] += last is not None and last != results[0]
    return told, counted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("build")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS) + " (all)")
    parser.add_argument("--kills", type=int, default=40, help="of each program (40)")
    parser.add_argument("--launcher", default="", help="what starts ranks; their number is put after it")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    random.seed(options.seed)
    some = pathlib.Path(options.build, PROGRAMS["registry"][0])
    options.devices = [d for d in DEVICES if subprocess.run([some, "0", f"--keel-device={d}"], capture_output=True).returncode == 0]
    row = "{:10} {:>5} {:>5}  {:24} {:34} {:>5}  {:>6}  {}".format
    print(row("program", "jobs", "kills", "restarts on 1, 3, 4 ranks", "on " + ", ".join(options.devices), "anew", "failed", "bits"), flush=True)
    failed, folder = 0, pathlib.Path(tempfile.mkdtemp(prefix="keel-restart-"))
    for name in options.programs or PROGRAMS:
        told, counted = kill_again_and_again(name, options, folder)
        bad = told["failed"] + told["differ"]
        print(row(name, told["jobs"], told["kills"], ", ".join(str(counted[n]) for n in RANKS), ", ".join(str(counted[d]) for d in options.devices),
                  counted["anew"], told["failed"], f"{told['differ']} DIFFERENT" if told["differ"] else "the same"), flush=True)
        failed += bad != 0
    print(f"anew: killed before the first checkpoint. Random numbers: --seed {options.seed}."
          + (f" Files are in {folder}." if failed else ""))
    if not failed:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
