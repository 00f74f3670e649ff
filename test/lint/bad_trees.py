#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows each rule of rules.py files that break it, and wants a complaint that it does not make without them: bad_trees.py BUILD."""
import pathlib
import subprocess
import sys
import tempfile

import rules

SOURCE = "// SPDX-License-Identifier: MIT\n"
HEAD = SOURCE + "#pragma once\n\n/// @file\n/// A header.\n\n"
LIST, PRIVATE = "include/keel/policy/list.hpp", "impl/keel/impl/space/page"
GOOD = {"README.md": "", "bench/RESULTS.md": "", "CITATION.cff": "\nversion: 0.1.0\n", "meson_options.txt": "option('tests')\n", ".github/CONTRIBUTING.md": "", ".github/CHANGELOG.md": "\n## 0.1.0\n",
        "include/keel/policy/macros.hpp": HEAD + "#define KEEL_VERSION 100\n", "impl/package/keel.wrap": "", "impl/package/CMakeLists.txt": "", "impl/package/spack/package.py": "",
        "meson-logs/meson-log.txt": ""}
BAD = {
    "arrows": [{LIST: HEAD + "#include <keel/space/view.hpp>\n"}, {"include/keel/device/knobs.hpp": HEAD + "#include <keel/impl/space/view.hpp>\n"}, {"test/laws/list.hpp": "detail::view seen();\n"},
               {"include/keel/schedule/plan.hpp": HEAD + "#include <keel/exchange/transport.hpp>\n"}, {LIST: HEAD + '#include "macros.hpp"\n'}, {"include/keel/extra/thing.hpp": HEAD}],
    "foreign": [{LIST: HEAD + "#include <mpi.h>\n"}],
    "alone": [{LIST: HEAD + "std::size_t missing_include;\n"}],
    "top": [{"notes.txt": ""}],
    "length": [{LIST: HEAD + "\n" * 250}, {LIST: HEAD + "\n" * 400, ".github/CONTRIBUTING.md": f"| `{LIST}` |"}, {f"{PRIVATE}{n}.hpp": HEAD for n in range(41)}],
    "columns": [{LIST: HEAD + "int " + "n" * 117 + ";\n"}],
    "macros": [{LIST: HEAD + "#define KEEL_OTHER 1\n"}, {"include/keel/policy/macros.hpp": HEAD + "# define OTHER 1\n"}, {"include/keel/policy/macros.hpp": HEAD + "".join(f"#define KEEL_{n}\n" for n in range(20))}],
    "names": [{"include/keel/policy/utils.hpp": HEAD}],
    "virtual": [{LIST: HEAD + "struct base { virtual void f(); };\n"}],
    "lists": [{"test/policy/forgotten.cpp": ""}],
    "tested": [{LIST: HEAD}],
    "words": [{"README.md": "see /wo" + "rk/shared\n"}],
    "licence": [{"test/list.cpp": "int i;\n"}, {"test/run": "#!/bin/sh\n"}],
    "form": [{LIST: HEAD.replace("#pragma once", "")}, {LIST: HEAD.replace("/// @file", "")}, {LIST: HEAD + "int a;\n/// The same of b.\nint b;\n"}, {LIST: HEAD + "KEEL_INLINE int f() { return 1; }\n"}, {PRIVATE + ".ipp": SOURCE}],
    "kinds": [{LIST: HEAD + "case entry_kind::cycle: break;\n  default: break;\n"}],
    "concepts": [{LIST: HEAD + "template <class X>\nstruct item {};\ntemplate <Variable X>\nstruct item<X> {};\ntemplate <class X>\nconcept Part = Variable<typename item<X>::variable>;\n"}],
    "formatted": [{"test/list.cpp": "int  i;\n"}],
    "alike": [{"test/meson.build": "get_option('optimization')\n"}],
    "version": [{"impl/package/keel.wrap": "revision = v0.0.9\n"}, {".github/CHANGELOG.md": ""}, {"CITATION.cff": ""}],
    "cells": [{"bench/RESULTS.md": "| " + "n" * 301 + " |\n"}],
    "packaged": [{"README.md": "url = https://a.b\n"}, {"impl/package/CMakeLists.txt": "-Dtest=false\n"}, {"impl/package/spack/package.py": '*map(feature, ("mpy",))\n'}],
    "numbers": [{LIST: HEAD + 'auto const* n = attribute_of<std::vector<std::int64_t>>(all, "level");\n'}],
    "quiet": [{"meson-logs/meson-log.txt": "meson.build:9: DEPRECATION: it is old\n"}],
    "recipes": [{".git/knob": "", **{f"{name}.hpp": HEAD for name in "abcd"}}],
}


def complaints(rule, files, build):
    with tempfile.TemporaryDirectory() as root:
        for name, content in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        if rule == "recipes":  # a commit that says that it followed one
            for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "one\n\nRecipe: knob"]):
                subprocess.run(["git", "-C", root, *words], check=True)
        return {line.replace(root, "") for line in rules.RULES[rule](rules.Tree(root, root if rule == "quiet" else build))}


def main(build):
    wrong = [f"no files show that {rule} can fail" for rule in rules.RULES.keys() - BAD.keys()]
    for rule, trees in BAD.items():
        try:
            good = complaints(rule, GOOD, build)
            wrong += [f"{rule} does not see {files}" for files in trees if not complaints(rule, GOOD | files, build) - good]
        except rules.Skip as reason:
            print(f"SKIP: lint {rule} can fail: {reason}")
    for line in wrong:
        print(f"FAIL: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
