# SPDX-License-Identifier: MIT
"""That test/mutate/run finds the mutants of a tiny header, and knows which of them its test kills: run_test.py KEEL."""
import json, pathlib, shutil, subprocess, sys, tempfile

HEADER = """// 1 == 1 in a comment is no mutant; this line becomes an include
#pragma once
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
template <int N> struct fixed { static constexpr int value = N; };
inline int one_more_than_four() { return fixed<4 + 1>::value; }
constexpr int twice(int n) { return n * 2; }
inline int never_called(int n) { return n - 1; }
inline bool is_negative(int n) {
  return n < 0;
}
inline bool never_asked(int n) {
  return n < 0;
}
inline bool is_neither(char c) { return "zero"[0] - c && "five"[1] - c; }
#if TINY_IS_ABSENT
inline int one_behind(int n) { return n + 1; }
#endif
"""
TEST = """#include <keel/topology/tiny.hpp>
int main() {
  bool good = at_most_three(2) == 2 && at_most_three(9) == 3 && both(true, false) && !both(true, true) && !both(false, false);
  good = good && name_of(7) == 0 && name_of(8) == 8 && name_of(1) == 2 && from_five(2) == 3;
  good = good && is_negative(-1) && !is_negative(0) && is_neither('a') && !is_neither('z') && !is_neither('i');
  return good && one_more_than_four() == 5 ? 0 : 1;
}
static_assert(twice(4) == 8);
"""
MESON = """project('tiny', 'cpp', default_options: ['cpp_std=c++20'])
tiny_includes = include_directories('include')
subdir('test/topology')
"""
TESTS = """tiny = executable('test-tiny', 'tiny.cpp', include_directories: tiny_includes)
test('topology', find_program('env'), args: tiny) # a launcher before it, as mpiexec: Meson 1.0 tells its name without the folder
"""
# Line, kind and what stands there afterwards: whether the test kills it.
WANTED = {(4, "relation", "<="): "survived", (4, "condition", "if (!(n < 3))"): "killed", (4, "constant", "4"): "survived", (5, "constant", "4"): "killed",
          (7, "and, or", "||"): "killed", (7, "negation", ""): "killed", (10, "constant", "8"): "compiler", (10, "constant", "1"): "killed",
          (11, "constant", "9"): "killed", (13, "one more", "+ 2"): "killed", (13, "one less", "+ 0"): "killed", (13, "constant", "2"): "killed",
          (17, "constant", "6"): "killed", (18, "arguments", "(b, five)"): "killed", (18, "statement", ";"): "killed",
          (22, "one more", "+ 2"): "killed", (22, "one less", "+ 0"): "killed", (23, "constant", "3"): "killed",
          (24, "one more", "- 2"): "survived", (24, "one less", "- 0"): "survived", (24, "constant", "2"): "survived",
          (26, "relation", "<="): "killed", (26, "constant", "1"): "killed", (29, "relation", "<="): "survived", (29, "constant", "1"): "survived",
          (31, "and, or", "||"): "killed",
          (33, "one more", "+ 2"): "absent", (33, "one less", "+ 0"): "absent", (33, "constant", "2"): "absent"}


def run_and_edit(runner, path):
    """What the runner says where a file is changed to something that does not compile, before the second stage begins."""
    text = path.read_text()
    child = subprocess.Popen(runner, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = ""
    for line in child.stderr:
        said += line
        if "waits for the second stage" in line: path.write_text("#error edited\n" + text)
    out = child.stdout.read()
    path.write_text(text)
    return subprocess.CompletedProcess(runner, child.wait(), out, said)


def verdicts_in(kept):
    return {e["id"]: e["verdict"] for e in map(json.loads, kept.read_text().splitlines())} if kept.is_file() else {}


def main():
    found, wrong = {}, []
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve()
        for path, text in {"include/keel/topology/tiny.hpp": HEADER, "test/topology/tiny.cpp": TEST, "test/topology/meson.build": TESTS, "meson.build": MESON,
                           "impl/keel/impl/topology/none.txt": "", "test/mutate/equivalent.txt": ""}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        for file in ("run", "schemata.py", "switched.hpp"): shutil.copy(pathlib.Path(sys.argv[1]) / "test/mutate" / file, root / "test/mutate" / file)
        runner = [str(root / "test/mutate/run"), "--part", "topology", "--mutants", "100", "--jobs", "2"]
        first = run_and_edit(runner, root / "include/keel/topology/tiny.hpp")
        verdicts = verdicts_in(root / "build-mutants/mutants.jsonl")
        for line in subprocess.run([*runner, "--dry"], capture_output=True, text=True).stdout.splitlines():
            at, rest = line.split(" ", 1)
            kind, rest = rest.split(": ", 1)
            found[int(at.split(":")[1]), kind, rest.split("' -> '")[1].split("' [")[0]] = verdicts.get(rest.split("' [")[1][:12])
        again = subprocess.run([*runner, "--least", "0.95"], capture_output=True, text=True)
        counted = subprocess.run([*runner, "--count", "--least", "0.5"], capture_output=True, text=True)
        broken = run_and_edit([*runner, "--list", str(root / "broken.jsonl")], root / "test/topology/tiny.cpp")
        for name, verdict in verdicts_in(root / "broken.jsonl").items():
            if verdict not in ("untested", verdicts.get(name)):
                wrong.append(f"a test that does not compile: {verdict}, not {verdicts.get(name)}")
        if "not used, because it fails without a mutant" not in broken.stderr: wrong.append(f"a test that does not compile is used: {broken.stderr[-800:]}")
        if "not used" in first.stdout: wrong.append(f"the switches change what the header does: {first.stdout}")
    wrong += [f"{key}: {found.get(key, 'not found')}, not {WANTED.get(key, 'wanted')}" for key in found.keys() | WANTED.keys()
             if found.get(key) != WANTED.get(key)]
    count = list(WANTED.values()).count
    last = f"topology: {count('killed')} killed, {count('survived')} survived, {count('compiler')} by the compiler, {count('absent')} not compiled here, rate {count('killed') / (count('killed') + count('survived')):.2f}"
    if not counted.stdout.endswith(f"\n{count('killed') + count('compiler')} passed, 0 failed, {count('survived') + count('absent')} skipped\n"): wrong.append(f"--count: {counted.stdout}")
    for what, said, code in (("the first run", first, 0), ("the second, which takes what the first found, and wants more", again, 1)):
        if said.returncode != code or not said.stdout.strip().endswith(last) or "survived: include/keel/topology/tiny.hpp:4" not in said.stdout:
            wrong.append(f"{what}: exit code {said.returncode}, {said.stdout}{said.stderr[-800:]}")
    print(*(f"FAIL: {text}" for text in wrong), f"{0 if wrong else 1} passed, {1 if wrong else 0} failed, 0 skipped", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
