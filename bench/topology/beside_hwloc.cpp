// SPDX-License-Identifier: MIT
/// @file
/// What keel's node of this machine costs beside hwloc asked directly, both in turns, in one run.
#include "../medians.hpp"

#include <keel/topology.hpp>

#include <hwloc.h>

#include <cstdio>

int main() {
  long volatile cores = 0;
  auto const raw = [] {
    hwloc_topology_t all = nullptr;
    hwloc_topology_init(&all);
    hwloc_topology_set_io_types_filter(all, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_load(all);
    hwloc_topology_destroy(all);
  };
  auto const keel = [&] { cores = long(keel::topology::node::here().cores().size()); };
  auto const [of_raw, of_keel, quotient] =
      bench::in_turns(41, [&] { return bench::microseconds(1, raw); }, [&] { return bench::microseconds(1, keel); });
  std::printf("%-46s %14s %14s %14s\n%-46s %14.1f %14.1f %14.3f   at most 1.02\n", "", "hwloc", "keel", "quotient",
              "start on this machine, us", of_raw, of_keel, quotient);
}
