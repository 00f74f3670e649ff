# SPDX-License-Identifier: MIT
"""Host and device pass of nvcc over keel: passes.py ROOT BUILD NVCC, with an empty NVCC where there is none.

Three cases: a source that includes every public header, the README's program, and one that exchanges ghosts with the
option that Kokkos_ENABLE_CUDA_CONSTEXPR adds.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import compiler


def flags(build):
    """What Meson gives its own compiler, as far as it concerns what the source means."""
    words, kept = compiler.command(build, "kokkos"), []
    for word, after in zip(words, words[1:] + [""]):
        if word.startswith(("-I", "-D")):
            kept.append(word)
        elif word == "-isystem":
            kept += [word, after]
        elif word == "-fopenmp":
            kept += ["-Xcompiler", word]
    return kept


def passes(nvcc, build, source, *options):
    with tempfile.TemporaryDirectory() as folder:
        words = [nvcc, "-x", "cu", "-std=c++20", "--extended-lambda", "-O0", "-w", *options, *flags(build), "-c", source, "-o", f"{folder}/o.o"]
        return subprocess.run(words, cwd=build, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main(root, build, nvcc):
    headers = sorted(path.relative_to(f"{root}/include").as_posix() for path in pathlib.Path(root, "include").rglob("*.hpp"))
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as every:
        every.write("".join(f"#include <{header}>\n" for header in headers) + "int main() {}\n")
        every.flush()
        cases = {"nvcc: every public header": every.name, "nvcc: the README's program": f"{root}/test/consumer/app.cpp",
                 "nvcc: a stencil on ranks, with --expt-relaxed-constexpr": f"{root}/test/example/03_stencil.cpp"}
        if not nvcc:
            for name in cases:
                print(f"SKIP: {name}: no nvcc")
            print(f"0 passed, 0 failed, {len(cases)} skipped")
            return 0
        failed = 0
        for name, done in zip(cases, compiler.at_once(
                lambda name: passes(nvcc, build, cases[name], *(["--expt-relaxed-constexpr"] if "relaxed" in name else [])), cases)):
            print(f"{'FAIL' if done.returncode else 'ok'}: {name}")
            if done.returncode:
                print(done.stdout[:4000])
                failed += 1
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
