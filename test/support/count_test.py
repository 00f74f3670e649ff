# SPDX-License-Identifier: MIT
"""That count.py counts what it must: a case lost is a failure, a skip needs an allowed reason."""
import count
import needed

REASONS = ("no nvcc", "no GPU")


def record(stdout, result="OK", returncode=0, command="./test-it"):
    return {"name": "it", "stdout": stdout, "result": result, "returncode": returncode, "command": ["mpiexec", command]}


def summary(total, passed, failed, skipped=0):
    return f"[doctest] test cases: {total:2} | {passed:2} passed | {failed} failed | {skipped} skipped\n"


CASES = {
    "a summary is counted": (record(summary(5, 5, 0)), (5, 0, 0)),
    "a failed case is one failure": (record(summary(5, 4, 1), "FAIL", 1), (4, 1, 0)),
    "no summary is a failure, whatever the exit code": (record("[doctest] doctest version\n"), (0, 1, 0)),
    "no case is a failure": (record(summary(0, 0, 0)), (0, 1, 0)),
    "a case left out by doctest is a failure": (record(summary(4, 4, 0, 1)), (4, 1, 0)),
    "a process that fails without a failed case is one failure": (record(summary(5, 5, 0), "FAIL", 139), (5, 1, 0)),
    "a time-out is one failure": (record("", "TIMEOUT", -15), (0, 1, 0)),
    "a skip takes the place of a pass": (record("SKIP: m: a: no GPU here\n" + summary(5, 5, 0)), (4, 0, 1)),
    "a skip said twice is one": (record("SKIP: m: a: no GPU\n" * 2 + summary(5, 5, 0)), (4, 0, 1)),
    "a skip for another reason is a failure": (record("SKIP: m: a: tired\n" + summary(5, 5, 0)), (4, 1, 0)),
    "a program without doctest is one": (record("all well\n", command="./other"), (1, 0, 0)),
    "its own count is taken": (record("SKIP: a: no GPU\n3 passed, 0 failed, 1 skipped\n", command="./other"), (3, 0, 1)),
    "its own count must name its skips": (record("3 passed, 0 failed, 1 skipped\n", command="./other"), (3, 1, 0)),
    "its own count with a failure fails": (record("3 passed, 2 failed, 0 skipped\n", "FAIL", 1, "./other"), (3, 2, 0)),
    "it may be skipped": (record("SKIP: it: no nvcc\n", "SKIP", 77, "./other"), (0, 0, 1)),
    "it may not be skipped in silence": (record("", "SKIP", 77, "./other"), (0, 1, 0)),
}

if __name__ == "__main__":
    wrong = 0
    for name, (given, wanted) in CASES.items():
        passed, failed, skipped, _ = count.count(given, {"./test-it"}, REASONS)
        if (passed, failed, len(skipped)) != wanted:
            print(f"FAIL: {name}: {(passed, failed, len(skipped))}, not {wanted}")
            wrong += 1
    words = count.last_lines("it", record("".join(f"line {i}\n" for i in range(99)), "FAIL", 3) | {"stderr": "died\n"}).splitlines()
    if words[1:3] != ["==== it: FAIL, exit code 3, last 60 of 100 lines", "line 40"] or words[-2:] != ["died", "==== end of it"]:
        print(f"FAIL: a failed test's last lines stand under its name: {words[:3]} ... {words[-2:]}")
        wrong += 1
    bare = {"devices": "serial", "absent": "memkind", "ranks": "1 2", "sanitizers": "none"}
    lines = count.not_tested(bare, ["no GPU", "no nvcc", "no GPU"], False)
    if lines != ["not tested: kernels on cuda, hip, sycl, openmp, threads (this Kokkos has serial)",
                 "not tested: memkind (not found, or switched off)",
                 "not tested: more than 2 ranks, and ranks on several hosts (all ran on this one)",
                 "not tested: memory errors and races as sanitizers see them (none in this build; test/sanitize runs them)",
                 "not tested: 3 skipped cases: no GPU (2), no nvcc (1)"]:
        print("FAIL: what was not tested is told in five lines", *lines, sep="\n")
        wrong += 1
    all_there = {"devices": "serial cuda hip sycl openmp threads", "absent": "", "ranks": "", "sanitizers": "address"}
    if count.not_tested(all_there, [], True) != ["not tested: ranks that talk (MPI is not in this build)",
                                                 "not tested: what was not named on the command line"]:
        print("FAIL: what was tested is not told")
        wrong += 1
    tests = [{"name": "it", "suite": ["keel:unit"], "depends": ["a"]}, {"name": "it on 2 ranks", "suite": ["keel:mpi"], "depends": ["b", "c"]},
             {"name": "form", "suite": ["keel:lint"], "depends": []}]
    targets = [{"id": id, "filename": [f"/build/{id}"]} for id in "abcd"]
    for words, wanted in ((["--suite", "mpi"], ["/build/b", "/build/c"]), (["it"], ["/build/a"]), (["it", "--suite", "mpi"], ["/build/a", "/build/b", "/build/c"]),
                          (["it*"], None), (["form"], []), (["--suite", "lint"], []), (["--suite", "units"], "there is no suite 'units' (this build has unit and more)."),
                          (["--suite", "unit", "other"], "there is no test 'other' (this build has ")):
        try: files = needed.needed(tests, targets, words)
        except LookupError as wrong_word: files = str(wrong_word)[:len(wanted)]
        if files != wanted:
            print(f"FAIL: for {words} is built: {files}, not {wanted}")
            wrong += 1
    print(f"{len(CASES) + 8 - wrong} passed, {wrong} failed, 0 skipped")
    raise SystemExit(1 if wrong else 0)
