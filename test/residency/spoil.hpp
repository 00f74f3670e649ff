// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Other bits in a region of an array, of which keel is not told: what later routines see of them depends on it.

#include <keel/layout/grid.hpp>
#include <keel/validity/transitions.hpp>

#include <cstddef>
#include <cstdint>

namespace test {

/// Changes each owned element and the copies of such that this rank has in its ghosts; or the elements on walls.
template <class View>
void spoil(View const& elements, keel::residency::share const& lies, keel::residency::region where) {
  bool const is_of_walls = where == keel::residency::region::walls;
  auto const inside = lies.inside();
  constexpr int rank = int(View::rank);
  for (std::size_t n = 0; n < elements.size(); ++n) {
    std::size_t left = n, at = 0;
    bool is_here = true, is_inside = true;
    for (int d = 0; d < rank; ++d) {
      auto const i = std::int64_t(left % elements.extent(unsigned(d)));
      left /= elements.extent(unsigned(d)), at += std::size_t(i) * elements.stride(unsigned(d));
      is_here = is_here && (d >= lies.rank || i < lies.extents[d]);
      is_inside = is_inside && (d >= lies.rank || (i >= inside.begin[d] && i < inside.end[d]));
    }
    using element = typename View::value_type;
    if (is_here && is_inside != is_of_walls)
      reinterpret_cast<unsigned char*>(elements.data() + at)[sizeof(element) - 2] ^= 0x48;
  }
}

} // namespace test
