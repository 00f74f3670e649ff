# SPDX-License-Identifier: MIT
"""That count.py counts what it must: a case lost is a failure, a skip needs an allowed reason."""
import count

SUMMARY = "[doctest] test cases: {:2} | {:2} passed | {} failed | {} skipped\n"
# What a process printed, its result and program; what is counted.
CASES = {
    "a summary is counted": ((SUMMARY.format(5, 5, 0, 0),), (5, 0, 0)),
    "colours do not hide it": (("\x1b[0;36m[doctest] \x1b[0mtest cases:  5 | \x1b[0;32m 5 passed\x1b[0m | \x1b[0m0 failed\x1b[0m | \x1b[0m0 skipped\x1b[0m\n",), (5, 0, 0)),
    "a failed case is one failure": ((SUMMARY.format(5, 4, 1, 0), "FAIL"), (4, 1, 0)),
    "no summary is a failure, whatever the exit code": (("[doctest] doctest version\n",), (0, 1, 0)),
    "no case is a failure": ((SUMMARY.format(0, 0, 0, 0),), (0, 1, 0)),
    "a case left out by doctest is a failure": ((SUMMARY.format(4, 4, 0, 1),), (4, 1, 0)),
    "a process that fails without a failed case is one failure": ((SUMMARY.format(5, 5, 0, 0), "FAIL"), (5, 1, 0)),
    "a time-out is one failure": (("", "TIMEOUT"), (0, 1, 0)),
    "a skip takes the place of a pass": (("SKIP: m: a: no GPU here\n" + SUMMARY.format(5, 5, 0, 0),), (4, 0, 1)),
    "a skip said twice is one": (("SKIP: m: a: no GPU\n" * 2 + SUMMARY.format(5, 5, 0, 0),), (4, 0, 1)),
    "a skip for another reason is a failure": (("SKIP: m: a: tired\n" + SUMMARY.format(5, 5, 0, 0),), (4, 1, 0)),
    "a program without doctest is one": (("all well\n", "OK", "other"), (1, 0, 0)),
    "its own count is taken": (("SKIP: a: no GPU\n3 passed, 0 failed, 1 skipped\n", "OK", "other"), (3, 0, 1)),
    "its own count must name its skips": (("3 passed, 0 failed, 1 skipped\n", "OK", "other"), (3, 1, 0)),
    "its own count with a failure fails": (("3 passed, 2 failed, 0 skipped\n", "FAIL", "other"), (3, 2, 0)),
    "it may be skipped": (("SKIP: it: no nvcc\n", "SKIP", "other"), (0, 0, 1)),
    "it may not be skipped in silence": (("", "SKIP", "other"), (0, 1, 0)),
}

ON_A_RANK = "on rank 1:\n\x1b[0;33m===\n\x1b[0mTEST CASE:  m: a\n\nf.cpp:3: \x1b[0;31mFATAL ERROR: \x1b[0mREQUIRE( x == 1 ) is NOT correct!\n  values: REQUIRE( 2 == 1 )\n"
wrong = int(count.failed_checks({"stdout": SUMMARY.format(5, 5, 0, 0), "stderr": ON_A_RANK}) != ["m: a: f.cpp:3: FATAL ERROR: REQUIRE( x == 1 ) is NOT correct!"])
for name, ((printed, *rest), wanted) in CASES.items():
    result, program = (rest + ["OK", "test-it"][len(rest):])[:2]
    passed, skips, complaints, failed = count.count({"stdout": printed, "result": result, "returncode": 0, "command": ["mpiexec", f"./{program}"]}, ("no nvcc", "no GPU"))
    if (got := (passed, failed + len(complaints), len(skips))) != wanted:
        print(f"FAIL: {name}: {got}, not {wanted}")
        wrong += 1
print(f"{len(CASES) + 1 - wrong} passed, {wrong} failed, 0 skipped")
raise SystemExit(wrong > 0)
