# SPDX-License-Identifier: MIT
"""What a program consists of, by `nm -C`:
symbols.py HOST PROGRAM_FOR_HOST PROGRAM_FOR_HOST_AND_SIMULATED PROGRAM_THAT_TRACKS"""
import pathlib
import re
import subprocess
import sys

TAGS = pathlib.Path(__file__).resolve().parents[2] / "include/keel/policy/tags.hpp"
DEVICES = set(re.search(r"using all_devices = list<(.*)>;", TAGS.read_text())[1].split(", "))


def symbols(program):
    return subprocess.run(["nm", "-C", program], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()


def of_other_devices(host, program):
    """Symbols that name a tag of keel's, or a type of its folder space, of a device that is not `host`."""
    others = "|".join(sorted(DEVICES - {host}))
    return [line for line in symbols(program) if re.search(rf"keel::(?:space::)?(?:{others})(?:_\w+)?\b(?!::)|keel::space::(?:{others})", line)]


def vtables(program):
    """Vtables of keel's types. The one exception has to have one, and what fields call a few times a step may."""
    return [line for line in symbols(program) if re.search(r"vtable for keel::(?!(out_of_memory_)?error$|residency::detail::)", line)]


def trackers(program):
    """Symbols of what says which devices may run, which a program that never asks has none of."""
    return [line for line in symbols(program) if re.search(r"keel::device::(?:scoped_)?tracker|keel::device::try_execute", line)]


def main(host, lean, rich, tracking):
    wrong = []
    if of_other_devices(host, lean):
        wrong.append(f"{lean} has symbols of devices that are not in its list: {of_other_devices(host, lean)[:5]}")
    if vtables(lean):
        wrong.append(f"{lean} has vtables: {vtables(lean)[:5]}")
    if not any("simulated" in line for line in of_other_devices(host, rich)):
        wrong.append(f"{rich} shows no symbol of the simulated device, so the first test proves nothing")
    if trackers(lean):
        wrong.append(f"{lean} has a tracker: {trackers(lean)[:5]}")
    if not trackers(tracking):
        wrong.append(f"{tracking} shows no tracker, so the test before proves nothing")
    if not symbols(lean):
        wrong.append(f"{lean} has no symbols at all")
    for line in wrong:
        print(f"FAIL: {line}")
    print(f"{6 - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
