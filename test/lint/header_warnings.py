# SPDX-License-Identifier: MIT
"""Headers of keel's that a user's warnings complain about, where they are not system headers: header_warnings.py ROOT BUILD

The source includes every public header and the programs of the course, so that templates are made; two tests of block are
sources too, because their fields count indices in `std::size_t`. The compiler of the build and clang++ compile them, with the sanitizer
of undefined behaviour, under which g++ takes fewer constant expressions.
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import compiler

WANTED = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-fsanitize=undefined"]
CLANG = ["-Wunused-lambda-capture"]


def source(root):
    """The programs stand in namespaces, because they name their structs alike."""
    headers = sorted(path.relative_to(root / "include").as_posix() for path in (root / "include").rglob("*.hpp"))
    programs = sorted((root / "test/example").glob("0*.cpp"))
    foreign = {line for path in programs for line in re.findall(r"^#include <(?!keel).*>$", path.read_text(), re.M)}
    lines = [*sorted(foreign), *(f"#include <{header}>" for header in headers)]
    for number, program in enumerate(programs):
        lines += [f"namespace program_{number} {{", "#define main started", f'#include "{program}"', "#undef main", "}"]
    return "\n".join(lines) + "\n"


def found(words, build, text):
    """The lines with a warning in keel's headers, and the errors."""
    done = subprocess.run([*words, "-fsyntax-only", "-fdiagnostics-color=never", "-x", "c++", "-"], cwd=build, input=text,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    own = re.findall(r"^\S*(?:include|impl)/keel/\S+: warning: .*$", done.stdout, re.M)
    return sorted(set(own)), "" if done.returncode == 0 else done.stdout


def main(root, build):
    own, flags = compiler.name_and_flags(build, "kokkos")
    count = {"passed": 0, "failed": 0, "skipped": 0}
    ways = {"the compiler of the build": own + flags + WANTED + (CLANG if "clang" in " ".join(own) else [])}
    if "clang" not in " ".join(own):
        ways["clang++"] = ["clang++"] + flags + WANTED + CLANG
    for name, command in ways.items():
        if not shutil.which(command[0]):
            print(f"SKIP: warnings: {name}: no clang++")
            count["skipped"] += 1
            continue
        folder = pathlib.Path(root)
        warnings, errors = found(command, build, source(folder))
        more, other_errors = found([*command, f"-I{folder / 'test'}"], build, f'#include "{folder / "test/block/loops.cpp"}"\n')
        warnings, errors = warnings + more, errors + other_errors
        count["failed" if warnings or errors else "passed"] += 1
        for line in [*warnings, *errors.splitlines()[:20]]:
            print(f"FAIL: {name}: {line}")
    print(", ".join(f"{number} {what}" for what, number in count.items()))
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
