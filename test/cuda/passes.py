# SPDX-License-Identifier: MIT
"""nvcc's two front ends and its host compiler over keel's sources, without a card: passes.py ROOT BUILD NVCC

Each time: the README's program, of which alone code is made; a source that includes every public header, the examples, and of each benchmark
one source with kernels. Of all others in the build every fourth, from number $KEEL_NVCC_TURN on, or all of them. A case fails with
a warning of a file of keel, too, but of unused functions (177) and of ?? in the page of keel-info (1406). Kokkos is the
build's where that has CUDA, or else the headers of Debian sid's, told so.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import compiler

KERNELS = {f"bench/{name}.cpp" for name in ("mesh/trisk", "ministag/transport", "ocean/model", "particles/particles", "ways/ways")}
QUARTER = 4


def mirror():
    """Where apt has this machine's own release from."""
    words = ["apt-get", "indextargets", "--format", "$(COMPONENT) $(REPO_URI)", "Created-By: Packages"]
    for line in subprocess.run(words, text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines():
        if line.startswith("main ") and "security" not in line:
            return line.split()[1]
    raise OSError("no mirror")


def debian_headers(folder):
    """Kokkos' headers of Debian sid in `folder`, kept for thirty days, as if it had been built for CUDA; None where there are none."""
    if folder.exists() and time.time() - folder.stat().st_mtime > 30 * 86400:
        shutil.rmtree(folder)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as new:
            new = pathlib.Path(new)
            (new / "lists/partial").mkdir(parents=True)
            try:
                source = mirror()
            except (OSError, subprocess.SubprocessError):
                return None
            (new / "sources.list").write_text(f"deb [trusted=yes] {source} sid main\n")
            apt = ["apt-get", "-qq", f"-oDir::Etc::SourceList={new}/sources.list", "-oDir::Etc::SourceParts=-", f"-oDir::State::Lists={new}/lists",
                   "-oDir::Cache::pkgcache=", "-oDir::Cache::srcpkgcache=", "-oAPT::Sandbox::User=root", "-oAcquire::Check-Valid-Until=false", "-oAcquire::Languages=none"]
            quiet = dict(cwd=new, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                for words in ([*apt, "update"], [*apt, "download", "libkokkos-dev"]):
                    subprocess.run(words, check=True, timeout=300, **quiet)
                subprocess.run(["sh", "-c", "dpkg -x libkokkos-dev_*.deb got"], check=True, **quiet)
                enable_cuda(new / "got/usr/include/kokkos")
            except (OSError, subprocess.SubprocessError):
                return None
            (new / "got/usr/include/kokkos").rename(folder)
            os.utime(folder)  # the package's is the day that it was made
    return folder


def enable_cuda(headers):
    """Says in the configuration of installed headers what CMake would have said with Kokkos_ENABLE_SERIAL and _CUDA alone."""
    def change(file, pattern, text):
        path = headers / file
        path.write_text(re.sub(pattern, text, path.read_text(), flags=re.M))
    change("KokkosCore_config.h", r"^#define KOKKOS_ENABLE_OPENMP$", "".join(
        f"#define KOKKOS_{name}\n" for name in ("ENABLE_SERIAL", "ENABLE_CUDA", "ARCH_HOPPER", "ARCH_HOPPER90")))
    for what in ("Declare", "Fwd"):
        change(f"KokkosCore_Config_{what}Backend.hpp", r"^(#include <.*)OPENMP.hpp>$", r"\1SERIAL.hpp>\n\1CUDA.hpp>")
    change("KokkosCore_Config_SetupBackend.hpp", r"^(#define KOKKOS_SETUP_HPP_)$", r"\1\n#include <setup/Kokkos_Setup_Cuda.hpp>")
    change("desul/atomics/Config.hpp", r"^/\* #undef DESUL_ATOMICS_ENABLE_CUDA \*/$", "#define DESUL_ATOMICS_ENABLE_CUDA")


def kokkos_of(words):
    """Where a compiler's words have the build's Kokkos."""
    for at in range(len(words) - 1):
        if words[at] == "-isystem" and (pathlib.Path(words[at + 1]) / "KokkosCore_config.h").exists():
            return words[at + 1]
    return "/usr/include"


def meaning(words, kokkos):
    """What of a host compiler's words says what the source means to nvcc, with this Kokkos."""
    own, kept = kokkos_of(words), []
    for word, after in zip(words, words[1:] + [""]):
        if word.startswith(("-I", "-D", "-U")) and word != "-DKOKKOS_ENABLE_GNU_ATOMICS":
            kept.append(word)
        elif word == "-isystem" and after != own:
            kept += [word, after]
        elif word.startswith("-isystem/"):
            kept += ["-isystem", word.removeprefix("-isystem")]
        elif word == "-fopenmp":
            kept += ["-Xcompiler", word]
    return ["-isystem", str(kokkos), *(word.replace(",", "\\,") for word in kept)] # a comma ends a word of nvcc's


def check(nvcc, root, build, source, words, only=("-fdevice-syntax-only", "-Xcompiler=-fsyntax-only")):
    """What is wrong with a source: nvcc's output, or the warnings of files of keel."""
    done = subprocess.run([nvcc, "-x", "cu", "-std=c++20", "--extended-lambda", "-arch=sm_90", "-O0", "-diag-suppress=177,1406", *only,
                           "-Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas", *words, "-c", source, "-o", "/dev/null"],
                          cwd=build, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        return "\n".join(line for line in done.stdout.splitlines() if "error" in line)[:4000] or done.stdout[-2000:]
    of_keel = []
    for line in done.stdout.splitlines():
        found = re.match(r"([^\s:(]+)(?:\(\d+\)|:\d+(?::\d+)?): warning", line)
        if found and root in (build / found[1]).resolve().parents:
            of_keel.append(line)
    return "\n".join(of_keel)[:4000]


def main(root, build, nvcc):
    turn = os.environ.get("KEEL_NVCC_TURN", "")
    root, build = pathlib.Path(root).resolve(), pathlib.Path(build).resolve()
    like = compiler.command(build, "kokkos")
    config = pathlib.Path(build, kokkos_of(like), "KokkosCore_config.h")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    kokkos = config.parent if config.exists() and "#define KOKKOS_ENABLE_CUDA\n" in config.read_text() else None
    reason = "" if nvcc else "no nvcc"
    if not reason and not kokkos:
        kokkos = debian_headers(cache / "keel/kokkos-cuda")
        reason = "" if kokkos else "no Kokkos with CUDA"
    if reason:
        print(f"SKIP: nvcc over all sources: {reason}", "0 passed, 0 failed, 1 skipped", sep="\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        every = pathlib.Path(folder, "every.cpp")
        every.write_text("".join(f"#include <{path.relative_to(root / 'include')}>\n" for path in sorted(root.glob("include/**/*.hpp"))) + "int main() {}\n")
        cases = {"the README's program, compiled": (root / "test/consumer/app.cpp", like), "every public header": (every, like),
                 "a stencil on ranks, with --expt-relaxed-constexpr": (root / "test/example/03_stencil.cpp", like)}
        others = {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            source, name = pathlib.Path(build, entry["file"]), os.path.normpath(entry["output"])
            if source.suffix != ".cpp":
                continue
            if not source.exists(): # a script writes it
                subprocess.run(["ninja", "-C", build, os.path.relpath(source, build)], stdout=subprocess.DEVNULL)
            is_usual = source.resolve().is_relative_to(root / "test/example") or os.path.relpath(source.resolve(), root) in KERNELS
            (cases if is_usual else others)[name] = (source, shlex.split(entry["command"]))
        cases.update(sorted(others.items())[int(turn) % QUARTER::QUARTER] if turn else others)
        extra = lambda name: ["--expt-relaxed-constexpr"] if "relaxed" in name else []
        wrong = compiler.at_once(lambda name: check(nvcc, root, build, cases[name][0], extra(name) + meaning(cases[name][1], kokkos),
                                                           *([("-DKEEL_COMPILED=1",)] if name.endswith(", compiled") else [])), cases)
    for name, text in zip(cases, wrong):
        print(f"{'FAIL' if text else 'ok'}: nvcc: {name}" + (f"\n{text}" if text else ""))
    failed = sum(map(bool, wrong))
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
