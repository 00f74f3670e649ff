# SPDX-License-Identifier: MIT
"""Compiles single files as Meson compiles what stands on keel, without making targets of them."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

DROP = {"-MD", "-c", "-DKEEL_COMPILED=1"}
DROP_WITH_VALUE = {"-MQ", "-MT", "-MF", "-o"}


def command(build, kind):
    """Compiler and flags of keel_bare_dep (kind `bare`) or keel_dep (`kokkos`), with all bodies in the headers, also where
    the build has them in a library, and with what these include then; paths hold in the folder `build`."""
    of_bodies = []
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        if f"like-{kind}" in entry["output"]:
            words = shlex.split(entry["command"])
        if entry["file"].endswith("impl/library/store.cpp"):
            of_bodies = [part for path in re.findall(r"-isystem ?(\S*hdf5\S*)", entry["command"]) for part in ("-isystem", path)]
    kept, skip = [], False
    for word in words:
        if skip or word in DROP or word == entry["file"]:
            skip = False
        elif word in DROP_WITH_VALUE:
            skip = True
        else:
            kept.append(word)
    return kept + of_bodies


def name_and_flags(build, kind, by=None):
    """The words of `command`, in two parts. `by`: a compiler other than the build's; it gets the flags both know."""
    words = command(build, kind)
    flags = next(at for at, word in enumerate(words) if word.startswith("-"))
    if by:
        return [by], [flag for flag in words[flags:] if not flag.startswith(("-W", "--param", "ggc-min", "-fcolor"))]
    return words[:flags], words[flags:]


def other(build):
    """The other one of g++ and clang++ than the build's; None if it is not there."""
    name, _ = name_and_flags(build, "kokkos")
    version = subprocess.run([*name, "--version"], text=True, stdout=subprocess.PIPE).stdout
    name = "clang++" if "Free Software Foundation" in version else "g++"
    return name if shutil.which(name) else None


def check(build, kind, source, first=(), by=None):
    """Exit code and output of a compiler, `by` or the build's, that only checks `source`, a path or a text;
    `first` goes before the flags."""
    text = source if isinstance(source, str) else None
    name, flags = name_and_flags(build, kind, by)
    words = [*name, *first, *flags]
    words += ["-fdiagnostics-color=never", "-fsyntax-only", "-x", "c++", "-" if text else str(source)]
    done = subprocess.run(words, cwd=build, input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


@contextlib.contextmanager
def precompiled(build, header, flags=(), by=None):
    """Flags that give a source `<header>`, precompiled with `flags` by the build's compiler or `by`, and these; `flags`
    alone where that fails."""
    name, others = name_and_flags(build, "kokkos", by)
    with tempfile.TemporaryDirectory(prefix="precompiled-", dir=build) as folder:
        first = pathlib.Path(folder).resolve() / "first.hpp"
        first.write_text(f"#include <{header}>\n")
        done = subprocess.run([*name, *flags, *others, "-x", "c++-header", str(first), "-o", f"{first}.gch"], cwd=build,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        yield [*flags] if done.returncode else [*flags, "-include", str(first)]


def at_once(function, items):
    """function(item) for each, as many at a time as there are cores; answers in order."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(function, items))
