// SPDX-License-Identifier: MIT
/// @file
/// Whether nodes are told apart by MPI, whatever the launcher's variables say: hosts.cpp HOSTS [lying|unset].
#include <keel/machine.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace km = keel::machine;

namespace {

void spoil_launcher_variables(std::string_view how) {
  for (char const* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_NODE_RANK",
                           "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID",
                           "SLURM_NODEID", "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "JSM_NAMESPACE_LOCAL_RANK"}) {
    if (how == "unset") unsetenv(name);
    if (how == "lying") setenv(name, "3", 1);
  }
}

} // namespace

int main(int argc, char** argv) {
  auto const hosts_wanted = argc > 1 ? std::size_t(std::atoi(argv[1])) : 1;
  spoil_launcher_variables(argc > 2 ? argv[2] : "");
  km::session<km::mpi> const session{argc, argv};
  km::environment const world;
  auto const hosts = km::all_gather(world, std::hash<std::string>{}(km::host_name()));
  auto const mine = hosts[std::size_t(world.rank())];
  auto const here = std::count(hosts.begin(), hosts.end(), mine);
  auto const before = std::count(hosts.begin(), hosts.begin() + world.rank(), mine);

  auto const node = world.node();
  auto const leaders = world.leaders(node);
  bool const right = std::set(hosts.begin(), hosts.end()).size() == hosts_wanted && node.size() == here &&
                     node.rank() == before && leaders.is_member() == (before == 0) &&
                     (!leaders.is_member() || leaders.size() == int(hosts_wanted));
  std::printf("%s: rank %d of %d on host %s is %d of %d there\n", right ? "right" : "wrong", world.rank(), world.size(),
              km::host_name().c_str(), node.rank(), node.size());
  return km::all_of(world, right) ? 0 : 1;
}
