# SPDX-License-Identifier: MIT
"""A tree of one or two files for each way to break a rule; the rule must complain, and about the right file."""
import pathlib
import shutil
import subprocess
import tempfile

import rules

HEAD = "// SPDX-License-Identifier: MIT\n#pragma once\n\n/// @file\n/// A header.\n\n"
GOOD = {
    "include/keel/policy/macros.hpp": HEAD + "#define KEEL_FUNCTION\n#define KEEL_VERSION 100\n",
    "include/keel/policy/list.hpp": HEAD + "#include <keel/policy/macros.hpp>\n",
    "include/keel/space/view.hpp": HEAD + "#include <keel/policy/list.hpp>\n#include <keel/impl/space/view.hpp>\n",
    "impl/keel/impl/space/view.hpp": HEAD + "/// Not virtual. \"virtual\"\n",
    "test/policy/list.cpp": "// SPDX-License-Identifier: MIT\n#include <keel/policy/list.hpp>\n",
    "test/space/view.cpp": "// SPDX-License-Identifier: MIT\n#include <keel/space/view.hpp>\n",
    "test/policy/meson.build": "files('list.cpp')\n",
    "test/space/meson.build": "files('view.cpp')\n",
    "meson.build": "project('keel', 'cpp', version: '0.1.0')\n",
    "meson_options.txt": "option('tests', type: 'boolean', value: true)\n",
    ".github/CONTRIBUTING.md": "# Contributing\n",
    ".github/CHANGELOG.md": "# Changes\n\n## 0.1.0\n",
    "impl/package/keel.wrap": "revision = main\n",
    "impl/package/CMakeLists.txt": "-Dtests=false\n",
    "impl/package/spack/package.py": '# SPDX-License-Identifier: MIT\nversion("main", branch="main")\n',
    "test/run": "#!/bin/sh\n# SPDX-License-Identifier: MIT\n",
}
MESON_LOG = "meson-logs/meson-log.txt"  # a tree that has it is its own build folder
GIT = ".git"
LIST = "include/keel/policy/list.hpp"
GUIDE = ".github/CONTRIBUTING.md"
BAD = [
    ("arrows", {LIST: HEAD + "#include <keel/space/view.hpp>\n"}),
    ("arrows", {"include/keel/block/pack.hpp": HEAD + "#include <keel/topology/node.hpp>\n"}),
    ("arrows", {"include/keel/device/knobs.hpp": HEAD + "#include <keel/impl/space/view.hpp>\n"}),
    ("arrows", {"include/keel/layout/grid.hpp": HEAD + "#include <keel/exchange/transport.hpp>\n"}),
    ("arrows", {"include/keel/schedule/plan.hpp": HEAD + "#include <keel/exchange/transport.hpp>\n"}),
    ("arrows", {"impl/keel/impl/validity/ledger.hpp": HEAD + "#include <keel/impl/machine/mpi.hpp>\n"}),
    ("arrows", {LIST: HEAD + '#include "macros.hpp"\n'}),
    ("arrows", {"include/keel/extra/thing.hpp": HEAD}),
    ("arrows", {"test/laws/list.hpp": HEAD + "#include <keel/impl/space/view.hpp>\n"}),
    ("arrows", {"test/laws/list.hpp": HEAD + "keel::space::detail::view seen();\n"}),
    ("foreign", {LIST: HEAD + "#include <mpi.h>\n"}),
    ("foreign", {"include/keel/residency/fields.hpp": HEAD + "#include <Kokkos_Core.hpp>\n"}),
    ("foreign", {"include/keel/machine/host.hpp": HEAD + "#  include <hwloc/helper.h>\n"}),
    ("foreign", {"include/keel/block/pack.hpp": HEAD + "#include <boost/hana/tuple.hpp>\n"}),
    ("alone", {LIST: HEAD + "std::size_t missing_include;\n"}),
    ("alone", {LIST: HEAD + "#include <Kokkos_Core.hpp>\n"}),
    ("top", {"notes.txt": ""}),
    ("top", {"package": ""}),
    ("length", {LIST: HEAD + "\n" * 250}),
    ("length", {LIST: HEAD + "\n" * 400, GUIDE: f"| `{LIST}` | it is |\n"}),
    ("alike", {"test/policy/meson.build": "files('list.cpp')\nmore = get_option('optimization') == '0' ? '1' : '2'\n"}),
    ("columns", {LIST: HEAD + "int " + "n" * 117 + ";\n"}),
    ("columns", {"test/policy/list.cpp": "// SPDX-License-Identifier: MIT\n  // " + "n" * 116 + "\n"}),
    ("macros", {LIST: HEAD + "#define KEEL_OTHER 1\n"}),
    ("macros", {"include/keel/policy/macros.hpp": HEAD + "# define OTHER 1\n"}),
    ("macros", {"include/keel/policy/macros.hpp": HEAD + "".join(f"#define KEEL_{n}\n" for n in range(20))}),
    ("names", {"include/keel/policy/utils.hpp": HEAD}),
    ("names", {"test/helpers/list.cpp": ""}),
    ("virtual", {LIST: HEAD + "struct base { virtual void f(); };\n"}),
    ("lists", {"test/policy/forgotten.cpp": ""}),
    ("lists", {"test/nowhere/list.cpp": ""}),
    ("tested", {"include/keel/policy/forgotten.hpp": HEAD}),
    ("tested", {"include/keel/policy.hpp": HEAD + "#include <keel/policy/forgotten.hpp>\n",
                "include/keel/policy/forgotten.hpp": HEAD,
                "test/policy/list.cpp": "#include <keel/policy.hpp>\n#include <keel/policy/list.hpp>\n"}),
    ("words", {"README.md": "see /wo" + "rk/shared\n"}),
    ("words", {".ci/run": "debootstrap sid tree http://deb.deb" + "ian.org\n"}),
    ("licence", {"test/policy/list.cpp": "int i;\n"}),
    ("licence", {"test/run": "#!/bin/sh\n"}),
    ("form", {LIST: HEAD.replace("#pragma once", "")}),
    ("form", {LIST: HEAD.replace("/// @file", "")}),
    ("form", {LIST: HEAD + "int a;\n/// The same of b.\nint b;\n"}),
    ("kinds", {LIST: HEAD + "case entry_kind::cycle: break;\n  default: break;\n"}),
    ("formatted", {"test/policy/list.cpp": "int  i;\n"}),
    ("version", {"impl/package/keel.wrap": "revision = v0.0.9\n"}),
    ("version", {"impl/package/spack/package.py": 'version("0.1.0", tag="v0.0.9")\n'}),
    ("version", {".github/CHANGELOG.md": "# Changes\n"}),
    ("version", {"include/keel/policy/macros.hpp": HEAD + "#define KEEL_VERSION 200\n"}),
    ("packaged", {"impl/package/CMakeLists.txt": "-Dtest=false\n"}),
    ("packaged", {"impl/package/spack/package.py": '*map(feature, ("mpy",))\n'}),
    ("recipes", {GIT: "knob", **{f"{name}.hpp": HEAD for name in "abcd"}}),
    ("quiet", {MESON_LOG: "meson.build:9: DEPRECATION: it is old\n"}),
]


def complaints(rule, files, build):
    with tempfile.TemporaryDirectory() as root:
        for name, content in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        if GIT in files:  # what follows the recipe of this kind is committed
            pathlib.Path(root, GIT).unlink()
            git = ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a"]
            for words in (["init", "-q"], ["add", "."], ["commit", "-qm", f"one\n\nRecipe: {files[GIT]}"]):
                subprocess.run([*git, *words], check=True)
        try:
            return list(rules.RULES[rule](rules.Tree(root, root if MESON_LOG in files else build)))
        except rules.Skip:
            return []


def main(build):
    wrong, absent = [], []
    for rule, program in (("formatted", "clang-format-19"), ("version", "git"), ("recipes", "git")):
        if not shutil.which(program):
            absent.append(rule)
            print(f"SKIP: lint {rule} can fail: no {program}")
    for rule in set(rules.RULES) - set(absent):
        found = complaints(rule, GOOD | ({MESON_LOG: ""} if rule == "quiet" else {}), build)
        if found:
            wrong.append(f"{rule} complains about a good tree: {found}")
        if rule not in {name for name, _ in BAD}:
            wrong.append(f"{rule}: no bad tree shows that it can fail")
    bad = [(rule, files) for rule, files in BAD if rule not in absent]
    for rule, files in bad:
        found = complaints(rule, GOOD | files, build)
        if not any(pathlib.PurePath(name).name in line or "20 macros" in line for line in found for name in files):
            wrong.append(f"{rule} does not see {files}: {found}")
    for line in wrong:
        print(f"FAIL: {line}")
    print(f"{2 * (len(rules.RULES) - len(absent)) + len(bad) - len(wrong)} passed, {len(wrong)} failed, {len(absent)} skipped")
    return 1 if wrong else 0
