// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Arguments of collective calls, which all ranks have to give alike.

#include <keel/impl/layout/id_table.hpp>
#include <keel/layout/grid.hpp>
#include <keel/machine/agreement.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace keel::residency::detail {

/// Arguments of a collective call, as a number that is another one if they are.
struct argument {
  std::string_view what; ///< as words of a message, in the plural
  std::uint64_t digest = 0;

  void add(std::int64_t n) { digest = digest_of({&n, 1}, digest); }
  /// How a variable lies on its grid or mesh, but for the element of `with_none`, which is the application's own.
  void add(lattice const& on);
};

/// Throws the same `keel::error` on every rank unless each argument is the same on all: *place: wrong (the whats differ
/// between ranks).* Collective.
void require_alike(machine::agreement const& ranks, std::string_view place, std::string_view wrong,
                   std::span<argument const> all);
/// What grids say, all together.
struct grid_arguments {
  std::array<argument, 6> all{
      {{"extents of the grid"}, {"ghost widths"}, {"periodic dimensions"}, {"ranks_in"}, {"blocks"}, {"folds"}}};

  void add(grid const& g);
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/arguments.ipp>
#endif
