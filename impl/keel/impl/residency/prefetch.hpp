// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Copies that are certain to be needed later in the group of their writer, so that they can begin behind it.

#include <keel/impl/residency/schedule_table.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace keel::residency::detail {

/// Requests to copy, and for each the first node that reads it. `Most` is an upper bound.
template <std::size_t Most>
struct prefetch_list {
  request list[Most + 1]{};
  std::uint32_t reader[Most + 1]{};
  std::size_t size = 0;

  /// Calls `f(part, reader)` for each run of requests of one reader.
  template <class F>
  constexpr void for_each_reader(F&& f) const {
    for (std::size_t first = 0, last = 0; first < size; first = last) {
      while (last < size && reader[last] == reader[first]) ++last;
      f(std::span<request const>{list + first, last - first}, reader[first]);
    }
  }
};

/// Copies to memory `to` that can begin behind node `i`, where either end is the host: of what the node writes, all
/// that a later node of its group reads there before it is written again. The very next node is left out, because it
/// asks itself. Of what goes to the host nothing is begun once any of the level is written, because what arrives then
/// counts as old. `where`: the memory of each node.
template <std::size_t Most, class Table>
constexpr prefetch_list<Most> prefetched(Table const& table, memory const* where, std::size_t i, memory to) {
  prefetch_list<Most> found;
  schedule_node const& writer = table.nodes[i];
  if (!has_place(writer.what()) || where[i] == to || (where[i] != host && to != host)) return found;
  for (std::uint32_t w = writer.first; w < writer.last; ++w) {
    request const& written = table.requests[w];
    region left = written.writes, wanted = region::none;
    std::uint32_t reader = 0;
    for (std::size_t j = writer.end; j < writer.group_end && left != region::none; j = table.nodes[j].end) {
      schedule_node const& next = table.nodes[j];
      region read = region::none;
      if (has_place(next.what()) && where[j] == to)
        for (std::uint32_t r = next.first; r < next.last; ++r)
          if (table.requests[r].variable == written.variable && table.requests[r].level == written.level)
            read = table.requests[r].reads & left;
      if (j != writer.end) {
        if (wanted == region::none) reader = std::uint32_t(j);
        wanted = wanted | read;
      }
      region const spoiled = table.spoiled_in(j, written);
      left = to == host && spoiled != region::none ? region::none : without(left, spoiled | read);
    }
    if (wanted == region::none) continue;
    found.reader[found.size] = reader;
    found.list[found.size++] = {written.variable, written.level, wanted, region::none};
  }
  return found;
}

/// Requests of one reader, to be copied to one memory: so many of the table's, from `first` on.
struct prefetch {
  memory to = host;
  std::string_view reader;
  std::size_t first = 0, size = 0;
};

/// All copies that begin behind the nodes of a schedule. None behind an exchange that another node finishes.
template <std::size_t Nodes, std::size_t Most>
struct prefetch_table {
  request requests[Most + 1]{};
  prefetch runs[Most + 1]{};
  std::uint32_t first_run[Nodes + 1]{};
  std::size_t size = 0;

  template <class Table>
  constexpr prefetch_table(Table const& table, memory const* where) {
    unsigned memories = 0;
    for (std::size_t i = 0; i < table.size; ++i)
      if (has_place(table.nodes[i].what())) memories |= 1U << unsigned(where[i]);
    std::uint32_t run = 0;
    for (std::size_t i = 0; i < table.size; ++i) {
      for (unsigned m = 0; m < unsigned(max_memories); ++m) {
        if ((memories >> m & 1U) == 0 || table.nodes[i].only_begins) continue;
        prefetched<Table::max_requests>(table, where, i, memory(m))
            .for_each_reader([&](std::span<request const> part, std::uint32_t reader) {
              runs[run++] = {memory(m), table.nodes[reader].about->name, size, part.size()};
              for (request const& r : part) requests[size++] = r;
            });
      }
      first_run[i + 1] = run;
    }
  }
  [[nodiscard]] constexpr std::span<prefetch const> of(std::size_t node) const {
    return {runs + first_run[node], first_run[node + 1] - first_run[node]};
  }
};

} // namespace keel::residency::detail
