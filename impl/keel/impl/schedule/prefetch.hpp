// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Copies that are certain to be needed later in the group of their writer, so that they can begin right after it.

#include <keel/impl/schedule/schedule_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Calls `f(request, reader)` for the copies to memory `to` that can begin right after node `i`, if either end is the
/// host: of what the node writes, all that a later node of its group reads there before it is written again. `reader`
/// is the first such node. The very next node is left out, because it asks itself. Of what goes to the host nothing is
/// begun once any of the level is written, because what arrives then counts as old. `where`: the memory of each node.
constexpr void find_prefetches(schedule_nodes const& table, memory const* where, std::size_t i, memory to, auto&& f) {
  schedule_node const& writer = table.nodes[i];
  if (!has_place(writer.what()) || where[i] == to || (where[i] != host && to != host)) return;
  for (std::uint32_t w = writer.first; w < writer.last; ++w) {
    request const& written = table.requests[w];
    region left = written.writes, wanted = region::none;
    std::uint32_t reader = 0;
    std::uint8_t layers = 0;
    for (std::size_t j = writer.end; j < writer.group_end && left != region::none; j = table.nodes[j].end) {
      schedule_node const& next = table.nodes[j];
      region read = region::none;
      if (has_place(next.what()) && where[j] == to)
        for (std::uint32_t r = next.first; r < next.last; ++r)
          if (table.requests[r].variable == written.variable && table.requests[r].level == written.level)
            read = table.requests[r].reads & left, layers = std::max(layers, table.requests[r].read_layers);
      if (j != writer.end) {
        if (wanted == region::none) reader = std::uint32_t(j);
        wanted = wanted | read;
      }
      region const stale = table.invalidated_in(j, written);
      left = to == host && stale != region::none ? region::none : without(left, stale | read);
    }
    if (wanted != region::none) f(request{written.variable, written.level, wanted, region::none, layers}, reader);
  }
}

/// Requests of one reader, to be copied to one memory: so many of the table's, from `first` on.
struct prefetch {
  memory to = host;
  std::string_view reader;
  std::size_t first = 0, size = 0;
};

/// All copies that begin after the nodes of a schedule. None after an exchange that another node finishes.
struct prefetch_table {
  std::vector<request> requests;
  std::vector<prefetch> runs;
  std::vector<std::uint32_t> first_run; ///< of each node, and of the one after the last

  prefetch_table(schedule_nodes const& table, memory const* where);
  [[nodiscard]] std::span<prefetch const> of(std::size_t node) const {
    return {runs.data() + first_run[node], first_run[node + 1] - first_run[node]};
  }
};

inline prefetch_table::prefetch_table(schedule_nodes const& table, memory const* where) : first_run{0} {
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
