// SPDX-License-Identifier: MIT
#include <keel/machine/host.hpp>

#include <keel/machine/collectives.hpp>
#include <keel/machine/reductions.hpp>

#include <support/test.hpp>

#include <sys/utsname.h>

namespace km = keel::machine;

namespace {
int container = -1; // whose name this process has, if it is not negative
} // namespace
extern "C" int gethostname(char* name, std::size_t size) noexcept {
  utsname about{};
  uname(&about);
  if (container < 0) return std::snprintf(name, size, "%s", about.nodename) < 0 ? -1 : 0;
  return std::snprintf(name, size, "pod%d", container) < 0 ? -1 : 0;
}

TEST_CASE("machine: all ranks of this node have its identity") {
  km::environment const world;
  auto const all = km::all_gather(world, km::node_identity());
  CHECK(std::count(all.begin(), all.end(), km::node_identity()) == world.node().size());
  CHECK(km::node_identity() == km::node_identity());
  CHECK_FALSE(km::host_name().empty());
}

#if KEEL_WITH_MPI
TEST_CASE("machine: ranks that share memory are on one node, also if each has a host name of its own") {
  km::environment const world;
  MPI_Comm sharing = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &sharing);
  km::environment const there{sharing};
  MPI_Comm_free(&sharing);
  auto const before = world.node().size();
  container = world.rank();
  CHECK(km::host_name() == "pod" + std::to_string(world.rank()));
  auto const node = world.node();
  CHECK(km::kernel_identity() == km::min(there, km::kernel_identity()));
  container = -1;
  CHECK(node.size() == there.size());
  CHECK(before >= there.size());
}
#endif
