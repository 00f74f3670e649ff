#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rules that make the tree mean something: rules.py RULE ROOT [BUILD] prints what breaks RULE below ROOT."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import compiler

LEVEL = {"policy": 0, "block": 1, "topology": 1, "store": 1, "space": 2, "machine": 2, "validity": 3, "layout": 4, "exchange": 5, "schedule": 6, "residency": 7, "device": 8}
STRANGERS = {"exchange", "schedule"}  # neither includes the other
SHARED = {"store", "validity", "layout", "exchange", "schedule", "residency"}  # one namespace: their private headers are for all of them
BARE = ("policy", "block", "topology", "machine", "store")  # compile without Kokkos
FOREIGN = {"hwloc": "topology", "Kokkos_": "space", "impl/Kokkos_": "space", "mpi.h": "machine", "boost/": "policy",
           "oneapi/": "space", "tbb/": "space", "memkind": "space", "umpire/": "space", "hdf5": "store", "nlohmann": "store", "omp.h": "space"}


class Skip(Exception):
    """Why a rule cannot be tried here."""


class Tree:
    """The files of the project below `root`, without what is built, fetched or written by a run."""

    def __init__(self, root, build=None):
        self.root, self.build = pathlib.Path(root), build

    def files(self, *suffixes, below=("",)):
        found = []
        for folder, folders, names in os.walk(self.root):  # what other tests make and remove meanwhile is not entered
            here = pathlib.Path(folder)
            top = here == self.root
            folders[:] = [name for name in folders if name != "__pycache__" and not (top and (name.startswith("build") or name in (".git", "out")))
                          and not (here == self.root / "subprojects" and name != "packagefiles")]
            found += [here / name for name in names if not (top and name == ".git")]
        for path in sorted(found):
            parts = path.relative_to(self.root).parts
            if path.is_file() and (not suffixes or path.suffix in suffixes):
                if any("/".join(parts).startswith(start) for start in below):
                    yield path

    def headers(self, *suffixes):
        return list(self.files(*(suffixes or (".hpp", ".ipp")), below=("include/", "impl/keel/")))

    def name(self, path):
        return path.relative_to(self.root).as_posix()


def text(path):
    return path.read_text(errors="replace")


def code(path):
    """The text without comments and strings."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text(path), flags=re.S)


def includes(path):
    return re.findall(r'^\s*#\s*include\s*([<"][^>"]+)[>"]', text(path), re.M)


def leading(path):
    """The includes before the first namespace; bodies are included after the last one."""
    return re.findall(r'^\s*#\s*include\s*([<"][^>"]+)[>"]', re.split(r"^namespace ", text(path), flags=re.M)[0], re.M)


def spelled(tree, header):
    """The header as users include it."""
    return re.sub(r"^(include|impl)/", "", tree.name(header))


def folder_of(spelling):
    """The folder that `keel/x/y.hpp`, `keel/x.hpp` or `keel/impl/x/y.hpp` belongs to; None for keel.hpp."""
    first = re.sub(r"^keel/(impl/)?", "", spelling).split("/")[0].removesuffix(".hpp")
    return None if spelling == "keel/keel.hpp" else first


def arrows(tree):
    """A folder includes itself and lower numbers only; impl/ is for its own folder, or for those that share its namespace. Laws are for users: they name nothing private."""
    for law in tree.files(".hpp", below=("test/laws/",)):
        for word in re.findall(r"<keel/impl/[^>]*>|\bdetail::\w+", text(law)):
            yield f"{tree.name(law)}: {word} is private"
    for header in tree.headers():
        mine = folder_of(spelled(tree, header))
        if mine is not None and mine not in LEVEL:
            yield f"{tree.name(header)}: {mine} is not one of the folders {', '.join(LEVEL)}"
            continue
        for include in includes(header):
            if include[0] == '"':
                yield f"{tree.name(header)}: {include}\" is not spelled <keel/...>"
            if not include.startswith("<keel/") or mine is None:
                continue
            theirs = folder_of(include[1:])
            if theirs != mine and (theirs not in LEVEL or LEVEL[theirs] >= LEVEL[mine] or {mine, theirs} == STRANGERS):
                yield f"{tree.name(header)}: {mine} includes {include}> of {theirs}"
            if include.startswith("<keel/impl/") and theirs != mine and not {mine, theirs} <= SHARED:
                yield f"{tree.name(header)}: {include}> is for the folder {theirs} alone"


def foreign(tree):
    """Each foreign header appears under one folder only."""
    for header in tree.headers():
        for include in includes(header):
            for library, folder in FOREIGN.items():
                if include[1:].startswith(library) and folder_of(spelled(tree, header)) != folder:
                    yield f"{tree.name(header)}: {include}> (only {folder} includes it)"


def alone(tree):
    """Every header compiles alone; some without Kokkos."""
    headers = {spelled(tree, header): header for header in tree.headers(".hpp")}
    # Kokkos is precompiled for headers that include it before their first line of code, through those of keel's or not.
    kokkos = set()
    while more := {name for name, header in headers.items() if name not in kokkos and folder_of(name) not in BARE and
                   any(include[1:] in kokkos or include == "<Kokkos_Core.hpp" for include in leading(header))}:
        kokkos |= more

    def one(name):
        kind = "bare" if folder_of(name) in BARE else "kokkos"
        # Without the bodies that a library may hold: a header may not rely on what these include.
        status, output = compiler.check(tree.build, kind, f"#include <{name}>\n",
                                        first=[f"-I{tree.root}/include", f"-I{tree.root}/impl", "-DKEEL_COMPILED=1",
                                               *(shared if name in kokkos else [])])
        return f"{tree.name(headers[name])}: does not compile alone:\n{output}" if status else None
    with compiler.precompiled(tree.build, "Kokkos_Core.hpp") as shared:
        yield from filter(None, compiler.at_once(one, sorted(headers)))


def top(tree):
    """The top level holds what was agreed, and files that begin with a dot."""
    agreed = {"meson.build", "meson_options.txt", "include", "impl", "test", "bench", "subprojects", "README.md", "LICENSE", "CITATION.cff"}
    for name in sorted({path.relative_to(tree.root).parts[0] for path in tree.files()} - agreed):
        if not name.startswith("."):
            yield f"{name}: does not belong to the top level, which holds {', '.join(sorted(agreed))}"


def length(tree):
    """A header has at most 250 lines, with a reason in CONTRIBUTING.md 400; a folder of headers, 40 files."""
    for folder, count in collections.Counter(path.parent for path in tree.files(below=("include/", "impl/"))).items():
        if count > 40:
            yield f"{tree.name(folder)}: {count} files"
    reasons = text(tree.root / ".github/CONTRIBUTING.md")
    for header in tree.headers():
        lines = text(header).count("\n")
        if lines > 400 or lines > 250 and f"| `{tree.name(header)}` |" not in reasons:
            yield f"{tree.name(header)}: {lines} lines"


def columns(tree):
    """Lines have at most 120 columns, but for rows of a table and long texts."""
    for source in tree.files(".hpp", ".ipp", ".cpp", ".h", below=("include/keel/", "impl/keel/", "test/")):
        if tree.name(source).startswith("test/data/"):
            continue
        for number, line in enumerate(text(source).splitlines(), 1):
            if len(line) > 120 and not re.match(r'\s*("|R"|/// \|)', line):
                yield f"{tree.name(source)}:{number}: {len(line)} columns"


def macros(tree):
    """Fewer than 20 macros, all KEEL_..., all in policy/macros.hpp; what Kokkos wants set around its headers is not keel's."""
    names = set()
    for header in tree.headers():
        for name in re.findall(r"^\s*#\s*define\s+(\w+)", text(header), re.M):
            if name.startswith("KOKKOS_") and folder_of(spelled(tree, header)) == "space":
                continue
            names.add(name)
            if tree.name(header) != "include/keel/policy/macros.hpp":
                yield f"{tree.name(header)}: defines {name}"
            if not name.startswith("KEEL_"):
                yield f"{tree.name(header)}: {name} does not begin with KEEL_"
    if len(names) >= 20:
        yield f"{len(names)} macros"


def names(tree):
    """No utils, common, helpers."""
    for path in tree.files(below=("include/", "impl/", "test/", "bench/")):
        for part in path.relative_to(tree.root).with_suffix("").parts:
            if part in ("util", "utils", "utility", "common", "helper", "helpers", "misc"):
                yield f"{tree.name(path)}: {part} says nothing"


VIRTUAL = {f"impl/keel/impl/{name}.hpp" for name in ("exchange/any_transport", "exchange/array_exchanges", "exchange/copy_queue", "layout/geometry", "validity/observers")} | {"include/keel/exchange/transport.hpp"}


def virtual(tree):
    """Virtual functions are declared in the headers of VIRTUAL only: none is called in a kernel, or once a variable."""
    for header in tree.headers():
        if tree.name(header) not in VIRTUAL and re.search(r"\bvirtual\b", code(header)):
            yield f"{tree.name(header)}: virtual"


def lists(tree):
    """Every source of test/, bench/ and impl/info/ is built by a target or named in the meson.build above it."""
    built = {pathlib.Path(source).resolve()
             for target in json.loads((pathlib.Path(tree.build) / "meson-info/intro-targets.json").read_text())
             for group in target["target_sources"] for source in group.get("sources", [])} if tree.build else set()
    built |= {pathlib.Path(include[1:]).resolve() for path in pathlib.Path(tree.build).rglob("*-unity*.cpp") for include in includes(path)}
    sources = list(tree.files(".cpp", ".hpp", ".cu", below=("test/", "bench/", "impl/info/")))
    included = {pathlib.PurePath(include[1:]).name for source in sources for include in includes(source)}
    for source in sources:
        if tree.name(source).startswith("test/fail/"):
            continue  # found by test/fail/run, which counts them
        lists_above = [folder / "meson.build" for folder in source.parents if (folder / "meson.build").is_file()]
        listed = any(source.name in text(above) for above in lists_above)
        if source.resolve() not in built and not listed and source.name not in included:
            yield f"{tree.name(source)}: in no meson.build"


def tested(tree):
    """Every header has a test: one that includes it, by itself or through another header that does not include all."""
    headers = {spelled(tree, header): header for header in tree.headers()}
    reached = set()
    waiting = [include[1:] for test in tree.files(".cpp", ".hpp", ".cu", below=("test/",)) for include in includes(test)]
    while waiting:
        name = waiting.pop()
        if name in headers and name not in reached:
            reached.add(name)
            if name.count("/") > 1:  # keel/keel.hpp and keel/x.hpp only gather
                waiting += [include[1:] for include in includes(headers[name])]
    for name in sorted(set(headers) - reached):
        yield f"{tree.name(headers[name])}: no test reaches it"


def words(tree):
    """No path of a machine, no host of a package registry, nothing about who works on this how."""
    wrong = re.compile(r"/w[o]rk/|/f[a]rm|d[e]b[.]d[e]bian|r[e]gistry[.]npm|/r[o]ot/|/h[o]me/")
    for path in tree.files():
        for number, line in enumerate(text(path).splitlines(), 1):
            if wrong.search(line):
                yield f"{tree.name(path)}:{number}: {line.strip()}"


def licence(tree):
    """Every source and script names its licence in its first two lines."""
    for path in tree.files():
        script = path.suffix == "" and text(path).startswith("#!")
        if path.suffix in (".hpp", ".ipp", ".cpp", ".cu", ".h", ".c", ".py") or script:
            if "SPDX-License-Identifier: MIT" not in "".join(text(path).splitlines(True)[:2]):
                yield f"{tree.name(path)}: no licence line"


def form(tree):
    """A header has #pragma once and says in an @file comment what it is; a body stands in an .ipp with the stem of a header of its module. A comment is understood without the one before it."""
    for header in tree.headers():
        if header.suffix == ".ipp":
            if not header.with_suffix(".hpp").is_file() and not (tree.root / "include/keel" / header.parent.name / f"{header.stem}.hpp").is_file():
                yield f"{tree.name(header)}: no header has its stem"
        else:
            for needed in ("#pragma once", "/// @file"):
                if not re.search(rf"^{needed}\b", text(header), re.M):
                    yield f"{tree.name(header)}: no {needed}"
            if re.search(r"^\s*KEEL_INLINE\b", text(header), re.M):
                yield f"{tree.name(header)}: holds a body of {header.stem}.ipp"
        for begin in re.findall(r"^(?!\s*///).*\n\s*/// ((?:The same|Of)\b.*)", text(header), re.M):
            yield f"{tree.name(header)}: a comment begins with '{begin}'"


def concepts(tree):
    """A concept that is asked of a member of a class template constrains no specialisation of it: g++ 12 then refuses right code by chance."""
    texts = {header: code(header) for header in tree.headers()}
    asked = {pair for words in texts.values() for pair in re.findall(r"\b([A-Z]\w*)<typename (?:\w+::)*(\w+)<[^;{}]*?>::", words)}
    for concept, template in sorted(asked):
        for header, words in texts.items():
            for found in re.finditer(rf"\b(?:struct|class) {template}<", words):
                if re.search(rf"\b{concept}\b", words[words.rindex("\ntemplate", 0, found.start()):found.start()]):
                    yield f"{tree.name(header)}: a specialisation of {template} is constrained by {concept}"


def formatted(tree):
    """clang-format 19 would change no source."""
    if not shutil.which("clang-format-19"):
        raise Skip("no clang-format-19")
    sources = [str(path) for path in tree.files(".hpp", ".ipp", ".cpp", ".h", ".c", ".cu")]
    done = subprocess.run(["clang-format-19", "--dry-run", f"--style=file:{HERE.parents[1]}/.clang-format", *sources], stderr=subprocess.PIPE, text=True)
    wrong = re.findall(r"^(.*?:\d+):\d+: .*\[-Wclang-format-violations\]$", done.stderr, re.M)
    yield from (f"{line}: clang-format-19 -i changes it" for line in wrong)
    if done.returncode and not wrong:
        yield done.stderr


def quiet(tree):
    """Meson configures without a word of warning."""
    for line in text(pathlib.Path(tree.build, "meson-logs/meson-log.txt")).splitlines():
        if re.match(r"(\S*meson[._]\S+:\d+:\d*:? )?(WARNING|DEPRECATION|NOTICE):", line):
            yield f"meson-log.txt: {line}"


def version(tree):
    """KEEL_VERSION is the one place of the version; the change log has a section for it, CITATION.cff names it. What names a tag, keel.wrap and Spack, names one of git."""
    number = int(re.search(r"#define KEEL_VERSION (\d+)\n", text(tree.root / "include/keel/policy/macros.hpp"))[1])
    dotted = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    for name, wanted in {".github/CHANGELOG.md": f"\n## {dotted}", "CITATION.cff": f"\nversion: {dotted}\n"}.items():
        if wanted not in text(tree.root / name):
            yield f"{name}: does not have '{wanted.strip()}', the version of macros.hpp"
    for name in ("impl/package/keel.wrap", "impl/package/spack/packages/keel/package.py"):
        for tag in re.findall(r'\b(?:revision = |tag=")(?!main\b)([^"\s]+)', text(tree.root / name)):
            if subprocess.run(["git", "-C", tree.root, "rev-parse", "-q", "--verify", tag], capture_output=True).returncode:
                yield f"{name}: there is no tag {tag}"


def packaged(tree):
    """Options that the packages give to Meson are options of keel. The address of the project is the variable KEEL_ADDRESS wherever it is needed."""
    options = set(re.findall(r"^option\('(\w+)'", text(tree.root / "meson_options.txt"), re.M)) | {"buildtype", "cpp_args"}
    for name in ("impl/package/spack/packages/keel/package.py", "impl/package/CMakeLists.txt"):
        given = set(re.findall(r"-D(\w+)=", text(tree.root / name)))
        for group in re.findall(r"map\(\w+, \(([^)]*)\)", text(tree.root / name)):
            given |= set(re.findall(r"\w+", group))
        for option in sorted(given - options):
            yield f"{name}: keel has no option {option}"
    for name in ("README.md", "impl/package/keel.wrap", "impl/package/spack/packages/keel/package.py", "impl/package/CMakeLists.txt"):
        for line in text(tree.root / name).splitlines():
            if re.match(r"url = (?!KEEL_ADDRESS$)", line) or re.search(r"example[.]org|GIT_REPOSITORY (?!\$ENV\{KEEL_ADDRESS\})", line):
                yield f"{name}: {line.strip()} does not have KEEL_ADDRESS"


def numbers(tree):
    """Whole numbers of a file's attributes are taken by checked_numbers, which has a range for each."""
    for path in tree.headers():
        if path.stem != "checked_numbers" and "attribute_of<std::vector<std::int64_t>>" in code(path):
            yield f"{tree.name(path)}: takes numbers of a file by itself"


RULES = {rule.__name__: rule for rule in
         (arrows, foreign, alone, top, length, columns, macros, names, virtual, lists, tested, words, licence,
          form, concepts, formatted, version, packaged, numbers, quiet)}


def main(arguments):
    try:
        complaints = list(RULES[arguments[0]](Tree(*arguments[1:])))
    except Skip as reason:
        print(f"SKIP: lint {arguments[0]}: {reason}\n0 passed, 0 failed, 1 skipped")
        return 0
    print(f"{arguments[0]}: {RULES[arguments[0]].__doc__}")
    for complaint in complaints:
        print(f"FAIL: {complaint}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
