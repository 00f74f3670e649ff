#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `meson test` and counts cases, not processes: count.py BUILD [--suite NAME ...] [TEST ...]

A program with a main of test/support counts as its doctest summary says, and fails if it prints none. Any other
test prints `N passed, N failed, N skipped` as its last line, or counts as one. `SKIP: <case>: <reason>` turns a
pass into a skip if the reason begins with a line of skip_reasons.txt, into a failure if not. A process that fails
without a failed case is one failure. What a failed test printed last stands before the table. The last line is the
sum, the exit code 1 where something failed.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = re.compile(r"\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped")
COUNT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
SKIP = re.compile(r"^SKIP: (.+)$", re.M)


def allowed_reasons():
    lines = (HERE / "skip_reasons.txt").read_text().splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def introspect(build, what):
    return json.loads((build / f"meson-info/intro-{what}.json").read_text())


def doctest_programs(targets):
    """Paths of the executables of doctest cases, which are called test-…"""
    return {path for target in targets if target["type"] == "executable" and target["name"].startswith("test-") for path in target["filename"]}


def plain_name(logged, tests):
    """The test's own name: the log puts its suite before it, `keel:unit / policy` or, since 1.9, `unit - keel:policy`."""
    return max((test for test in tests if logged == test or logged.endswith((f" / {test}", f":{test}"))), key=len)


def skips(output, reasons):
    """Allowed and refused skips of one process, each `case: reason`; a case that says it twice counts once."""
    said = dict.fromkeys(SKIP.findall(output))
    good = [text for text in said if any(f": {reason}" in text for reason in reasons)]
    return good, [text for text in said if text not in good]


def count(record, doctest, reasons):
    """(passed, failed, skips, complaints) of one process."""
    output = record.get("stdout") or ""
    good, bad = skips(output, reasons)
    complaints = [f"skipped for a reason that skip_reasons.txt does not hold: {text}" for text in bad]
    last = (output.strip().splitlines() or [""])[-1]
    summaries = SUMMARY.findall(output)

    if any(argument in doctest for argument in record["command"]):
        total, passed, failed, left_out = map(int, summaries[-1]) if summaries else (0, 0, 0, 0)
        passed -= len(good) + len(bad)
        failed += left_out + len(bad)
        if left_out:
            complaints.append(f"{left_out} cases left out by doctest")
        if not total:
            failed += 1
            complaints.append("no doctest summary" if not summaries else "no case in it")
    elif COUNT.match(last):
        passed, failed, left_out = map(int, COUNT.match(last).groups())
        failed += len(bad)
        if left_out > len(good) + len(bad):
            failed += left_out - len(good) - len(bad)
            complaints.append("more skipped than SKIP lines")
    elif good or bad:
        passed, failed = 0, len(bad)
    else:
        passed, failed = (1, 0) if record["result"] == "OK" else (0, 1)

    if record["result"] not in ("OK", "SKIP") and not failed:
        failed += 1
        complaints.append(f"{record['result'].lower()}, exit code {record['returncode']}, with no case failed")
    if record["result"] == "SKIP" and not good and not failed:
        failed += 1
        complaints.append("skipped without a reason")
    return passed, failed, good, complaints


def last_lines(name, record, lines=60):
    """What a test printed at its end, under a head of its own."""
    printed = [line for part in ("stdout", "stderr") for line in (record.get(part) or "").rstrip().splitlines()]
    head = f"last {lines} of {len(printed)} lines" if len(printed) > lines else f"{len(printed)} lines"
    return "\n".join([f"\n==== {name}: {record['result']}, exit code {record['returncode']}, {head}", *printed[-lines:],
                      f"==== end of {name}"])


def not_tested(built, reasons, selected):
    """At most five lines: what no case of this run has tried, and why. `reasons` of skipped cases, one for each."""
    here = set(built["devices"].split())
    others = [name for name in ("cuda", "hip", "sycl", "openmp", "threads") if name not in here]
    lines = [f"kernels on {', '.join(others)} (this Kokkos has {', '.join(sorted(here))})"] if others else []
    if built["absent"]:
        lines.append(f"{', '.join(built['absent'].split())} (not found, or switched off)")
    ranks = built["ranks"].split()
    lines.append(f"more than {ranks[-1]} ranks, and ranks on several hosts (all ran on this one)" if ranks else "ranks that talk (MPI is not in this build)")
    if built["sanitizers"] in ("", "none"):
        lines.append("memory errors and races as sanitizers see them (none in this build; test/sanitize runs them)")
    if selected:
        lines.append("what was not named on the command line")
    elif reasons:
        often = ", ".join(f"{reason} ({number})" for reason, number in collections.Counter(reasons).most_common(4))
        lines.append(f"{len(reasons)} skipped cases: {often}")
    return [f"not tested: {line}" for line in lines[:5]]


def main():
    build, selection = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    log = build / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    runner = subprocess.Popen(["meson", "test", "-C", str(build), "--no-rebuild", *selection])
    try:
        runner.wait()
    except KeyboardInterrupt:
        runner.wait()
        return 130

    records = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    doctest, reasons = doctest_programs(introspect(build, "targets")), allowed_reasons()
    suites = {test["name"]: test["suite"][0].split(":")[-1] for test in introspect(build, "tests")}
    said = []
    table, run = collections.defaultdict(lambda: [0, 0, 0, 0.0]), set()
    for record in records:
        name = plain_name(record["name"], suites)
        passed, failed, skipped, complaints = count(record, doctest, reasons)
        for column, number in enumerate((passed, failed, len(skipped), record["duration"] or 0)):
            table[suites[name]][column] += number
        for text in skipped:
            print(f"SKIP: {text}")
            said.append(next(reason for reason in reasons if f": {reason}" in text))
        if failed:
            print(last_lines(name, record))
        for text in complaints or (["failed"] if failed else []):
            print(f"FAIL: {name}: {text}")
        run.add(name)

    absent = [] if selection else sorted(name for name in set(suites) - run if suites[name] not in ("long", "nvcc"))
    for name in absent:
        table[suites[name]][1] += 1
        print(f"FAIL: {name}: was not run")

    print(f"\n{'suite':<12}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for suite, (passed, failed, skipped, seconds) in table.items():
        print(f"{suite:<12}{passed:>8}{failed:>8}{skipped:>9}{seconds:>9.1f}")
    passed, failed, skipped = (sum(row[column] for row in table.values()) for column in range(3))
    if not records and not absent:
        print("FAIL: no test was run")
        failed = 1
    built = json.loads((build / "test/support/tested.json").read_text())
    print("", *not_tested(built, said, bool(selection)), sep="\n")
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
