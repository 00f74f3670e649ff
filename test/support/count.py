#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds what tests need, runs them by `meson test` and counts cases, not processes: count.py BUILD [--suite NAME ...] [TEST ...]

A doctest program, called test-…, counts as its summary says, and fails if it prints none. Any other test prints `N passed, N failed, N skipped` as
its last line, or counts as one. `SKIP: <case>: <reason>` turns a pass into a skip if the reason begins with a line of skip_reasons.txt, into a
failure if not. The last line is the sum, the exit code 1 where something failed.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

USUAL = "unit device mpi example lint fail".split()  # as the setup of test/meson.build
SUMMARY = re.compile(r"\[doctest\] test cases:.*\| *(\d+) passed *\| *(\d+) failed *\| *(\d+) skipped")
COUNT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*\Z", re.M)
SKIP = re.compile(r"^SKIP: (.+)$", re.M)


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text or "")  # mpiexec gives its ranks a terminal


def failed_checks(record):
    """The first checks that doctest found wrong, on any rank, each with its case."""
    case, found = "", []
    for line in plain(record.get("stdout")).splitlines() + plain(record.get("stderr")).splitlines():
        if begin := re.search(r"TEST CASE: +(.*)", line):
            case = begin[1]
        elif re.search(": (FATAL )?ERROR: ", line):
            found.append(f"{case}: {line.strip()}")
    return found[:3]


def count(record, reasons):
    """(passed, skips, complaints, failed cases) of one process. A complaint is a failure beside those of cases."""
    output, result = plain(record.get("stdout")), record["result"]
    said = dict.fromkeys(SKIP.findall(output))  # what is said twice counts once
    skips = [text for text in said if any(f": {reason}" in text for reason in reasons)]
    complaints = [f"skipped for a reason that skip_reasons.txt does not hold: {text}" for text in said if text not in skips]
    of_doctest = any(pathlib.Path(word).name.startswith("test-") for word in record["command"])
    numbers = (SUMMARY if of_doctest else COUNT).findall(output)
    passed, failed, left_out = map(int, numbers[-1]) if numbers else (int(result == "OK" and not (said or of_doctest)), 0, 0)
    if of_doctest:
        passed -= len(said)
        complaints += ["no case was counted"] * (not numbers or passed + failed + len(said) == 0)
    if left_out > (0 if of_doctest else len(said)):
        complaints.append(f"{left_out} cases left out without a word")
    if not failed and not complaints and (result not in ("OK", "SKIP") or (result == "SKIP" and not skips)):
        complaints.append(f"{result.lower()}, exit code {record['returncode']}, with no case failed")
    return passed, skips, complaints, failed


def main(build, suites, names):
    def introspect(what):
        return json.loads((build / f"meson-info/intro-{what}.json").read_text())

    known = {test["name"]: test for test in introspect("tests")}
    suite_of = {name: test["suite"][0].split(":")[-1] for name, test in known.items()}
    suites = suites or (sorted(set(suite_of.values())) if names else USUAL)
    chosen = [name for name in known if suite_of[name] in suites and (not names or name in names)]
    if wrong := [word for word in names if word not in chosen] + [word for word in suites if word not in suite_of.values()]:
        sys.exit(print(f"test/run: there is no {wrong[0]} (tests and suites are in `meson test -C {build} --list`). Take one of them.", file=sys.stderr) or 2)
    depends = {target for name in chosen for target in known[name]["depends"]}
    files = sorted({file for target in introspect("targets") if target["id"] in depends for file in target["filename"]})
    if files and subprocess.call(["ninja", "-C", build, *(str(pathlib.Path(file).relative_to(build)) for file in files)]):
        print("FAIL: keel does not build\n\n0 passed, 1 failed, 0 skipped")
        return 1
    log = build / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    try:
        subprocess.call(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", *(f"--suite={suite}" for suite in suites), *names])
    except KeyboardInterrupt:
        return 130

    reasons = tuple(line for line in (pathlib.Path(__file__).parent / "skip_reasons.txt").read_text().splitlines() if line and line[0] != "#")
    sums, left = collections.Counter(), set(chosen)
    for record in map(json.loads, log.read_text().splitlines() if log.exists() else []):
        # The log puts the suite before the name: `keel:unit / policy` or, since Meson 1.9, `unit - keel:policy`.
        name = max((name for name in chosen if f" {record['name']}".endswith((f" {name}", f":{name}"))), key=len)
        passed, skips, complaints, failed = count(record, reasons)
        sums.update(passed=passed, failed=failed + len(complaints), skipped=len(skips))
        if failed or complaints:
            complaints += failed_checks(record) or ["failed"] * (not complaints)
        print(*[f"SKIP: {text}" for text in skips], *[f"FAIL: {name}: {text}" for text in complaints], sep="\n", end="\n" * bool(skips or complaints))
        left.discard(name)
    sums["failed"] += len(left)
    print(*[f"FAIL: {name}: was not run" for name in sorted(left)], sep="\n")
    print(f"{sums['passed']} passed, {sums['failed']} failed, {sums['skipped']} skipped")
    return int(sums["failed"] > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    sys.exit(main(given.build, given.suite, given.names))
