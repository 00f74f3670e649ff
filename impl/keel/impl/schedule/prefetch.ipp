// SPDX-License-Identifier: MIT
#include <keel/impl/schedule/prefetch.hpp>

#include <utility>

namespace keel::residency::detail {

KEEL_INLINE prefetch_table::prefetch_table(schedule_nodes const& table, memory const* where) : first_run{0} {
  unsigned memories = 0;
  for (std::size_t i = 0; i < table.size; ++i)
    if (has_place(table.nodes[i].what())) memories |= 1U << unsigned(where[i]);
  for (std::size_t i = 0; i < table.size; ++i) {
    for (unsigned m = 0; m < unsigned(max_memories); ++m) {
      if ((memories >> m & 1U) == 0 || table.nodes[i].only_begins) continue;
      std::uint32_t last = no_node;
      find_prefetches(table, where, i, memory(m), [&](request const& r, std::uint32_t reader) {
        if (std::exchange(last, reader) != reader)
          runs.push_back({memory(m), table.nodes[reader].about->name, requests.size()});
        ++runs.back().size;
        requests.push_back(r);
      });
    }
    first_run.push_back(std::uint32_t(runs.size()));
  }
}

} // namespace keel::residency::detail
