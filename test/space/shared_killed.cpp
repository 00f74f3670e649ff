// SPDX-License-Identifier: MIT
/// @file
/// Ranks that share 256 MiB until the last of them is killed; shared_killed.py looks at what is left.

#include <keel/machine/session.hpp>
#include <keel/space/shared.hpp>

#include <csignal>
#include <iostream>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize();
  using shared = keel::space::shared<keel::machine::mpi>;
  Kokkos::View<double*, shared> const table("table", 1 << 25);
  auto const node = shared().resource();
  node.barrier();
  if (node.rank() == 0) std::cout << "shared by " << node.size() << std::endl;
  if (node.rank() == 0) std::cin.peek(); // until the test has looked
  node.barrier();
  if (node.rank() == node.size() - 1) std::raise(SIGKILL);
  node.barrier(); // never ends
}
