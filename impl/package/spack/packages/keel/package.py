# SPDX-License-Identifier: MIT
"""keel for Spack; the folder of repo.yaml is the repository. The variable KEEL_ADDRESS says where keel is cloned from."""
import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.meson import MesonPackage
except ImportError:
    pass  # Spack before 1.0, which has it in spack.package


class Keel(MesonPackage):
    """Devices, residency, topology and ranks of a parallel code on Kokkos and MPI, as types. C++20."""

    git = homepage = os.environ.get("KEEL_ADDRESS", "")

    license("MIT")

    version("main", branch="main")

    variant("mpi", default=True, description="Ranks beyond one")
    variant("tbb", default=False, description="The device keel::tbb")
    variant("memkind", default=False, description="Memory spaces of memkind's kinds")
    variant("umpire", default=False, description="Memory spaces of Umpire's allocators")
    variant("hdf5", default=False, description="Files of residency, such as checkpoints")
    variant("compiled", default=True, description="A small library, so that sources compile faster; else only headers")
    variant("info", default=True, description="The program keel-info")
    variant("nway", default=True, description="The library keel_nway, for C")
    variant("c", default=False, description="The library keel_c, keel for C and Fortran")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("kokkos@3.4:5")
    depends_on("boost@1.66:")
    depends_on("hwloc@2:")
    depends_on("mpi", when="+mpi")
    depends_on("tbb", when="+tbb")
    depends_on("memkind", when="+memkind")
    depends_on("umpire", when="+umpire")
    depends_on("hdf5", when="+hdf5")
    depends_on("nlohmann-json", when="+info", type="build")

    def meson_args(self):
        def feature(name):
            return f"-D{name}={'enabled' if self.spec.satisfies('+' + name) else 'disabled'}"

        def boolean(name):
            return f"-D{name}={'true' if self.spec.satisfies('+' + name) else 'false'}"

        return [
            f"-Dkokkos={self.spec['kokkos'].prefix}",
            "-Dtests=false",
            "-Dbenchmarks=false",
            *map(feature, ("mpi", "tbb", "memkind", "umpire", "hdf5", "c")),
            *map(boolean, ("compiled", "info", "nway")),
        ]
