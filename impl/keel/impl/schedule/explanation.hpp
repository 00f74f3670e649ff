// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The facts of a plan, whatever the schedule's type. The compiled part finds them, so this header includes nothing of
/// Kokkos.

#include <keel/impl/schedule/steady.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// One access of an entry. `reads` and `writes` hold the regions that the row stands for.
struct explained_access {
  std::string variable; ///< with its level
  region reads = region::none, writes = region::none;
  read_sources seen;
  int layers = all_layers; ///< of the halo, if that is among the regions
};

/// One entry, `depth` groups below the schedule. Groups come before what they hold.
struct explained_entry {
  entry_kind what;
  std::string name, where; ///< the memory; empty for groups and cycles
  int depth = 0;
  std::vector<explained_access> accesses;
  std::string begins_within; ///< of an exchange: the routine in pieces, if any
  std::string reduced;       ///< of a reduction: from which routine, and who waits for it
};

/// Data that `writer` left and `reader` meets, entries both; `crosses` if a step ends in between.
struct told_flow {
  std::size_t writer, reader;
  std::string variable; ///< with its level
  region where;
  read_sources seen;
  bool crosses;
};

/// A copy that begins after `writer`, because `reader` is certain to want it further on in the same group.
struct told_early_copy {
  std::string writer, reader, variable; ///< with its level
  region where;
  memory to;
};

/// What all texts are made of.
struct explanation {
  std::string device;
  std::vector<std::string> memories;
  std::vector<explained_entry> entries;
  std::vector<told_flow> flows;
  std::vector<told_early_copy> early;
  std::int64_t transient = 0, period = 0;
  tally copies;
  std::vector<std::string> scratches; ///< those that share memory
};

/// What is known of a schedule while compiling, for routines `on_device` on one device.
struct explained_schedule {
  schedule_nodes table;
  std::uint16_t const* first_state; ///< of each variable
  std::size_t states;               ///< levels of all variables
  memory const* where;              ///< of each node
  std::string_view device;
  std::vector<std::string> memories;
  steady_state const& steady;
  read_sources const (*seen)[region_count]; ///< what the reads of each request meet
};
[[nodiscard]] explanation explain_schedule(explained_schedule const& of);
[[nodiscard]] std::string name_of(entry const& e);
/// The type T in the signature of a function template, without the names of unnamed namespaces.
[[nodiscard]] std::string type_in(std::string_view signature);

/// `never`, `always`, `depends`; `lost` if there is nothing to copy. Empty if the steady state does not reach it.
[[nodiscard]] inline char const* word_for(read_sources const& m) {
  if (!m.lost && !m.found && !m.lacked) return "";
  if (m.lost && !m.found && !m.lacked) return "lost";
  return !m.lacked ? "never" : m.found || m.lost ? "depends" : "always";
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/schedule/explanation.ipp>
#endif
