# SPDX-License-Identifier: MIT
"""What clang-tidy, by .clang-tidy, finds in the headers that compile without Kokkos: tidy.py ROOT BUILD

A source with a mistake comes first, which it has to find.
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import compiler

HEADERS = "".join(f"#include <keel/{module}.hpp>\n" for module in ("policy", "block", "topology", "machine"))
MISTAKE = "#include <string>\ninline bool is_none(std::string const& s) { return s.size() == 0; }\n"


def found(root, build, name, text):
    """Findings and errors in `text`, which stands in a file of the build."""
    source = pathlib.Path(build, name)
    source.write_text(text)
    flags = [word for word in compiler.name_and_flags(build, "bare")[1] if not word.startswith("-W")]
    done = subprocess.run(["clang-tidy", "--quiet", f"--config-file={pathlib.Path(root).resolve()}/.clang-tidy", source.name, "--", *flags, "-w",
                           "-fno-color-diagnostics"], cwd=build, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = re.findall(r"^\S.*(?:error|warning): .*$", done.stdout, re.M)
    return lines or ([] if done.returncode == 0 else [f"clang-tidy ends with exit code {done.returncode}"])


def main(root, build):
    version = shutil.which("clang-tidy") and subprocess.run(["clang-tidy", "--version"], text=True, stdout=subprocess.PIPE).stdout
    if " version 14." not in (version or ""):
        print("SKIP: lint tidy: no clang-tidy 14 (each version finds other things)")
        return 0
    wrong = [] if found(root, build, "tidy_mistake.cpp", MISTAKE) else ["clang-tidy does not find the mistake of tidy.py"]
    wrong += found(root, build, "tidy_headers.cpp", HEADERS)
    print(*(f"FAIL: {line}" for line in wrong), f"{2 - min(2, len(wrong))} passed, {min(2, len(wrong))} failed, 0 skipped", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
