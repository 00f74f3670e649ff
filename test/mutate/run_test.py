# SPDX-License-Identifier: MIT
"""That test/mutate/run finds the mutants of a tiny header, and knows which of them its test kills: run_test.py KEEL [--all].
It runs three of them, one of each verdict, or all."""
import json, pathlib, shutil, subprocess, sys, tempfile

HEADER = """#pragma once
// 1 == 1 in a comment is no mutant
inline int at_most_three(int n) {
  if (n < 3) return n;
  return 3;
}
inline bool both(bool a, bool b) { return a && !b; }
inline int name_of(int n) {
  switch (n) {
  case 7: return 0;
  case 8: return n;
  }
  return n + 1;
}
inline int subtract(int a, int b) { return a - b; }
inline int from_five(int b) {
  int five = 5;
  five = subtract(five, b);
  return five;
}
"""
TEST = """#include <keel/topology/tiny.hpp>
int main() {
  bool good = at_most_three(2) == 2 && at_most_three(9) == 3 && both(true, false) && !both(true, true) && !both(false, false);
  good = good && name_of(7) == 0 && name_of(8) == 8 && name_of(1) == 2 && from_five(2) == 3;
  return good ? 0 : 1;
}
"""
MESON = """project('tiny', 'cpp', default_options: ['cpp_std=c++20'])
tiny = executable('test-tiny', 'test/topology/tiny.cpp', include_directories: include_directories('include'))
test('topology', find_program('env'), args: tiny) # a launcher before it, as mpiexec: Meson 1.0 tells its name without the folder
"""
# Line, kind and what stands there afterwards: whether the test kills it.
WANTED = {(4, "relation", "<="): "survived", (4, "condition", "if (!(n < 3))"): "killed", (4, "constant", "4"): "killed", (5, "constant", "4"): "killed",
          (7, "and, or", "||"): "killed", (7, "negation", ""): "killed", (10, "constant", "8"): "compiler", (10, "constant", "1"): "killed",
          (11, "constant", "9"): "killed", (13, "one more", "+ 2"): "killed", (13, "one less", "+ 0"): "killed", (13, "constant", "2"): "killed",
          (17, "constant", "6"): "killed", (18, "arguments", "(b, five)"): "killed", (18, "statement", ";"): "killed"}


def main():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve()
        for path, text in {"include/keel/topology/tiny.hpp": HEADER, "test/topology/tiny.cpp": TEST, "meson.build": MESON,
                           "impl/keel/impl/topology/none.txt": "", "test/mutate/equivalent.txt": ""}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        shutil.copy(pathlib.Path(sys.argv[1]) / "test/mutate/run", root / "test/mutate/run")
        for command in (["meson", "setup", "build"], ["ninja", "-C", "build"]):
            subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
        every = [str(root / "test/mutate/run"), "--part", "topology", "--mutants", "100"]
        runner = every if "--all" in sys.argv else [*every[:-1], "3", "--seed", "26", "--jobs", "2"]
        first = subprocess.run(runner, capture_output=True, text=True)
        verdicts = {e["id"]: e["verdict"] for e in map(json.loads, (root / "build/mutants.jsonl").read_text().splitlines())}
        found = {}
        for line in subprocess.run([*every, "--dry"], capture_output=True, text=True).stdout.splitlines():
            at, rest = line.split(" ", 1)
            kind, rest = rest.split(": ", 1)
            found[int(at.split(":")[1]), kind, rest.split("' -> '")[1].split("' [")[0]] = verdicts.get(rest.split("' [")[1][:12])
        again = subprocess.run(runner, capture_output=True, text=True)
    wrong = [f"{key}: {found.get(key, 'not found')}, not {WANTED.get(key, 'wanted')}" for key in found.keys() | WANTED.keys()
             if key not in found or found[key] not in (None, WANTED.get(key))]
    counts = [verdict for verdict in found.values() if verdict]
    last = f"topology: {counts.count('killed')} killed, 1 survived, 1 by the compiler, rate {counts.count('killed') / (len(counts) - 1):.2f}"
    for what, said in (("the first run", first), ("the second, which takes what the first found", again)):
        if said.returncode or not said.stdout.strip().endswith(last) or "survived: include/keel/topology/tiny.hpp:4" not in said.stdout:
            wrong.append(f"{what}: exit code {said.returncode}, {said.stdout}{said.stderr[-800:]}")
    print(*(f"FAIL: {text}" for text in wrong), f"{0 if wrong else 1} passed, {1 if wrong else 0} failed, 0 skipped", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
