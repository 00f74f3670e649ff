// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What fills walls: boxes of ghosts, and where their values come from.

#include <keel/impl/exchange/packing.hpp>
#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/schedule/schedule_node.hpp>
#include <keel/policy/macros.hpp>
#include <keel/schedule/walls.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Throws if a variable cannot have this condition on the grid.
void check_condition(arrays const& on, wall_condition const& one, int variable);

class wall_filler {
public:
  explicit wall_filler(arrays& of) : arrays_(of) {}
  /// Fills walls in memory `m` as these entries say, which are conditions, by one kernel.
  void fill(std::span<schedule_node const> entries, std::span<request const> asked, memory m, component_range range);
  /// To be called when arrays have changed.
  void forget() { packing_.forget(); }

private:
  [[nodiscard]] void const* constant_in(memory m, void const* value, std::int64_t bytes);

  arrays& arrays_;
  packing packing_;
  std::vector<job> moves_;
  std::vector<std::pair<void const*, std::shared_ptr<std::byte>>> constants_; // on the device, by that of the host
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/walls.ipp>
#endif
