# SPDX-License-Identifier: MIT
"""What subprojects/setup does on machines that lack things: with root, without, with a network, without, interrupted.

A machine is a folder of programs that stands alone on the PATH. `apt-get` there writes down what it was asked for.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SETUP = pathlib.Path(sys.argv[1]) / "subprojects/setup"
SHELL = ["bash", "sh", "cat", "cut", "echo", "env", "grep", "sort", "tr", "touch", "xargs", "sleep", "ln", "sed"]
TOOLS = ["c++", "ninja", "cmake", "python3", "mpicxx", "mpiexec", "meson", "pkg-config", "gfortran", "chromium"]
HEADERS = "boost/hana/tuple.hpp\ndoctest/doctest.h\nnlohmann/json.hpp\ntbb/version.h\nxsimd/xsimd.hpp"


class Machine:
    """Everything is there but `lacks`; the user is root or not; apt-get is `works`, `fails`, `hangs` or absent."""

    def __init__(self, folder, lacks=(), root=True, apt="works"):
        self.programs, self.asked = folder / "programs", folder / "asked"
        self.clone = folder / "a clone with blanks"
        for each in (self.programs, self.clone / "subprojects", folder / "kokkos/include"):
            each.mkdir(parents=True)
        shutil.copy(SETUP, self.clone / "subprojects/setup")
        (folder / "kokkos/include/KokkosCore_config.h").touch()
        for name in SHELL:
            (self.programs / name).symlink_to(shutil.which(name))
        for name in TOOLS:
            if name not in lacks:
                self.add(name, f"cat >/dev/null; echo '{HEADERS}'" if name == "c++" else "exit 0")
        self.add("id", f"echo {0 if root else 1000}")
        installs = "\n".join(f"ln -s {self.programs}/ninja {self.programs}/{name}" for name in lacks)
        if apt:
            self.add("apt-get", f'echo "$@" >>{self.asked}\n[ "$1" = install ] || exit 0\n' +
                     {"works": installs, "fails": "exit 100", "hangs": "sleep 60"}[apt])
        self.environment = {"PATH": str(self.programs), "Kokkos_ROOT": str(folder / "kokkos"), "CXX": "c++"}

    def add(self, name, text):
        (self.programs / name).write_text(f"#!{shutil.which('sh')}\n{text}\n")
        (self.programs / name).chmod(0o755)

    def start(self, *arguments):
        # A shell cannot trap a signal that is ignored when it starts, as it is below a job in the background.
        heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        return subprocess.Popen([self.clone / "subprojects/setup", *arguments], env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True, preexec_fn=heard)

    def run(self, *arguments):
        setup = self.start(*arguments)
        out, err = setup.communicate(timeout=60)
        return setup.returncode, out, err

    def was_asked(self):
        return self.asked.read_text() if self.asked.exists() else ""


def main():
    wrong = []

    def check(what, outcome, code, *parts):
        text = outcome[1] + outcome[2]
        if outcome[0] != code or any(part not in text for part in parts):
            wrong.append(f"{what}: {outcome}, not {code} with {parts}")

    def machine(**how):
        return Machine(pathlib.Path(tempfile.mkdtemp(dir=below)), **how)

    with tempfile.TemporaryDirectory() as below:
        whole = machine()
        if whole.run() != (0, "", "") or whole.was_asked():
            wrong.append(f"where all is there: {whole.run()}, {whole.was_asked()}")
        if whole.run("--print") != (0, "", "keel: nothing is missing\n"):
            wrong.append(f"--print where all is there: {whole.run('--print')}")
        check("an argument", whole.run("--all"), 2, "subprojects/setup: '--all' cannot be used")

        bare = machine(lacks=["meson", "cmake"])
        if bare.run("--print") != (0, "cmake\nmeson\n", "") or bare.was_asked():
            wrong.append(f"--print: {bare.run('--print')}, {bare.was_asked()}")
        check("root", bare.run(), 0, "keel: installing cmake meson")
        if "install" not in bare.was_asked() or not bare.was_asked().rstrip().endswith("cmake meson"):
            wrong.append(f"root: apt-get was asked for {bare.was_asked()}")
        if bare.run() != (0, "", ""):
            wrong.append(f"the second time: {bare.run()}")

        check("no network", machine(lacks=["meson"], apt="fails").run(), 2, "could not be had (no network",
              "not there: meson", "Try again with a network.")
        user = machine(lacks=["meson"], root=False)
        check("neither root nor sudo", user.run(), 2, "not there: meson", "Run this as root", "sudo sh -c 'apt-get")
        if user.was_asked():
            wrong.append("neither root nor sudo: apt-get was called")
        for installer, line in {"dnf": "sudo sh -c 'dnf install -y mpich-devel ninja-build'", "pacman": "sudo sh -c 'pacman -S ninja openmpi'",
                                "zypper": "sudo sh -c 'zypper install -y mpich-devel ninja'", "brew": "  brew install ninja open-mpi"}.items():
            there = machine(lacks=["ninja", "mpicxx", "mpiexec"], apt="")
            there.add(installer, "exit 1")
            check(f"only {installer}", there.run(), 2, "not there: ninja (", line)
        there = machine(lacks=["ninja"], root=False)
        there.environment["CONDA_PREFIX"] = "/somewhere"
        check("an environment of conda", there.run(), 2, "  conda install -c conda-forge ninja")
        for system, names in {"dnf": "mpich-devel\n", "conda": "mpich\nmpich-mpicxx\n", "brew": "open-mpi\n"}.items():
            check(f"--print {system}", machine(lacks=["mpicxx"]).run("--print", system), 0, names)
        check("a system that is not known", whole.run("--print", "emerge"), 2, "'--print emerge' cannot be used")
        check("a user without MPI builds without it", machine(lacks=["mpicxx", "mpiexec"], root=False).run(), 0, "taken from its wrap or left out: MPI. To have it: sudo sh -c 'apt-get")
        check("a user without Fortran", machine(lacks=["gfortran"], root=False).run(), 0, "left out: gfortran. To have it: sudo sh -c 'apt-get")
        unbuilt = machine(root=False)
        unbuilt.environment["Kokkos_ROOT"] = "/nowhere"
        if not any(pathlib.Path("/usr", sub, "KokkosCore_config.h").exists() for sub in ("include", "include/kokkos", "include/trilinos")):
            check("a wrap builds Kokkos", unbuilt.run(), 0, "left out: Kokkos.")
        for name, below_it in {"Kokkos_DIR": "lib/cmake/Kokkos", "PKG_CONFIG_PATH": "lib/pkgconfig", "CMAKE_PREFIX_PATH": ""}.items():
            moduled = machine()
            moduled.environment[name] = f"{moduled.environment.pop('Kokkos_ROOT')}/{below_it}"
            check(f"a module that sets {name}", moduled.run(), 0)

        slow = machine(lacks=["meson"], apt="hangs")
        setup = slow.start()
        for _ in range(200):
            if "install" not in slow.was_asked():
                time.sleep(0.05)
        if setup.poll() is None:
            os.killpg(setup.pid, signal.SIGINT)
        out, err = setup.communicate(timeout=60)
        check("interrupted", (setup.returncode, out, err), 130, "keel::setup: interrupted")
        if "could not be had" in err:
            wrong.append(f"interrupted: {err}")
    for each in wrong:
        print(f"FAIL: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
