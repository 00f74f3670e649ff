# SPDX-License-Identifier: MIT
"""What keel makes of the compilers and wrappers of other MPIs: wrappers.py WRAPPER CXX ...

Imitations answer `-show` as the wrappers of Intel MPI, MVAPICH, conda's MPICH and others were recorded to do, with the folders and the
library of WRAPPER, an MPI that is here, in place of theirs. Meson reads impl/dependencies/mpi alone.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WRAPPER, CXX = sys.argv[1], shlex.join(sys.argv[2:])
# {i} and {l} are folders of headers and libraries, {real} what WRAPPER shows. Each with the place that it was seen at.
RECORDED = {
    "Intel MPI 2021": '''g++ -I"{i}" -L"{l}" -L"{l}" -Xlinker --enable-new-dtags -Xlinker -rpath -Xlinker "{l}" -Xlinker -rpath -Xlinker "{l}" \
-lmpicxx -lmpifort -lrt -lpthread -ldl {real}''',  # github.com/llnl/Elemental/pull/177, github.com/rsmpi/rsmpi/issues/150
    "Intel MPI 4": '''icc -ldl -ldl -I{i} -L{l} -Xlinker --enable-new-dtags -Xlinker -rpath -Xlinker {l} -Xlinker -rpath -Xlinker {l} \
-lmpigf -lmpigi -lpthread -lrt {real}''',  # github.com/easybuilders/easybuild-easyblocks/issues/100
    "MVAPICH2 2.1": '''c++ -I{i} -L{l} -lmpicxx -Wl,-rpath -Wl,{l} -Wl,--enable-new-dtags -lpmi {real}''',  # a build script for mvapich2/2.1-gnu-4.9.2
    "MPICH 4": '''/usr/bin/gcc -fPIC -Wall -g3 -I{i} -L{l} -Wl,-rpath -Wl,{l} -Wl,--enable-new-dtags {real}''',  # github.com/pmodels/mpich/issues/5952
    "conda's MPICH": '''x86_64-conda-linux-gnu-c++ -I{i} -L{l} -Wl,-rpath,{l} -lmpicxx -Wl,-rpath -Wl,{l} -Wl,--enable-new-dtags {real}''',
}
count = {"passed": 0, "failed": 0, "skipped": 0}


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text + "\n")
    path.chmod(0o755)
    return path


def case(name, wanted, *options, absent="\0", **environment):
    """`wanted`, words or a pattern, is in what Meson says of a project that reads only keel's file for MPI."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(ROOT / "impl/dependencies/mpi", folder / "mpi")
        shutil.copy(ROOT / "meson_options.txt", folder)
        (folder / "meson.build").write_text("project('x', 'cpp')\nfs = import('fs')\ncpp = meson.get_compiler('cpp')\nsubdir('mpi')\n"
                                            "message('MPI by', mpi_found ? mpi_from : 'nothing', ' '.join(mpi_cflags + mpi_libs))\n")
        said = subprocess.run(["meson", "setup", "build", *options], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={k: v for k, v in os.environ.items() if k != "MPI_HOME"} | {"CXX": CXX} | environment).stdout
    good = bool(wanted.search(said) if isinstance(wanted, re.Pattern) else wanted in said) and absent not in said
    count["passed" if good else "failed"] += 1
    print(f"{'ok' if good else 'FAIL'}: MPI: {name}" + ("" if good else f": '{wanted}' is not in:\n{said}"))


with tempfile.TemporaryDirectory() as below:
    below = pathlib.Path(below)
    real = subprocess.run([WRAPPER, "-show"], text=True, stdout=subprocess.PIPE, check=True).stdout
    headers = [word[2:] for word in shlex.split(real) if word.startswith("-I")]
    libraries = " ".join(shlex.quote(word) for word in shlex.split(real) if word.startswith(("-L", "-l", "-Wl")))
    launcher = pathlib.Path(shutil.which(WRAPPER.replace("mpicxx", "mpiexec")) or shutil.which("mpiexec"))
    for name, line in RECORDED.items():
        home = below / ("an MPI" if '"' in line else re.sub(r"\W", "", name))
        (home / "lib").mkdir(parents=True)
        (home / "include").symlink_to(next((folder for folder in headers if pathlib.Path(folder, "mpi.h").exists()), "/usr/include"))
        for stub in ("mpicxx", "mpifort", "mpigf", "mpigi", "pmi"):
            subprocess.run(["ar", "rcs", home / f"lib/lib{stub}.a"], check=True)
        shown = line.format(i=home / "include", l=home / "lib", real=libraries)
        wrapper = script(home / "bin/mpicxx", f"[ \"$1\" = -show ] && cat <<'X'\n{shown}\nX")
        script(home / "bin/mpiexec", f'exec {launcher} "$@"')
        case(name, f"MPI by {wrapper} -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -I{home}/include", f"-Dmpi_wrapper={wrapper}")
        if name == "MVAPICH2 2.1":
            case("two words of a path to look in are one", f"-Wl,-rpath,{home}/lib", f"-Dmpi_wrapper={wrapper}")
            case("MPI_HOME comes before the PATH", f"MPI by {wrapper} ", MPI_HOME=str(home))
            case("the launcher is the one beside the wrapper", re.compile(rf"launcher *: {home}/bin/mpiexec\n"), f"-Dmpi_wrapper={wrapper}")

    compiler = f'[ "$1" != -show ] || exit 1\nexec {WRAPPER} "$@"'
    cray, plain = script(below / "CC", compiler), script(below / "plain/mpicxx", f'exec {CXX} "$@"')
    by_itself = "MPI by the compiler itself -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX\n"
    case("Cray's CC knows no -show, and MPI by itself", by_itself, "-Dmpi_wrapper=none", CXX=str(cray))
    case("it is found out, too, beside an mpicxx", by_itself, CXX=str(cray))
    case("a compiler called mpicxx is none of MPI", f"no compiler knows MPI (the flags that {plain} shows do not link", f"-Dmpi_wrapper={plain}")
    case("the next wrapper is taken instead", f"MPI by {WRAPPER} ", f"-Dmpi_wrapper={plain},{WRAPPER}")
    case("an mpiexec without a wrapper is not passed over", "though there is /", "-Dmpi_wrapper=none", absent="MPI by nothing")
    case("none is taken where it is wished", "MPI by nothing", "-Dmpi=disabled")
print(", ".join(f"{number} {what}" for what, number in count.items()))
sys.exit(count["failed"] > 0)
