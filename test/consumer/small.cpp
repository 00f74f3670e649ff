// SPDX-License-Identifier: MIT
/// @file
/// Links MPI, hwloc and Kokkos, and starts plug-ins. The compiler takes half as long as for app.cpp.
#include <keel/machine.hpp>
#include <keel/space.hpp>
#include <keel/topology.hpp>

#include <iostream>

int main(int argc, char** argv) {
  keel::machine::session<keel::machine::mpi> const session{argc, argv};
  keel::machine::environment const world;
  keel::space::start<keel::where_supported<keel::list<keel::serial, keel::openmp>>>();
  if (world.is_master() && !keel::topology::node::here().cores().empty())
    std::cout << keel::policy::counted(world.size(), "rank") << " on " << Kokkos::DefaultHostExecutionSpace::name()
              << '\n';
  keel::space::stop();
}
