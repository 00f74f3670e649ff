// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The laws of nearness, for any node. `ask` is one of the three questions:
/// `ask(core, type, min, max)` gives a set; `count` is how many there are in all.

#include <keel/topology/id_set.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace keel::laws {

/// More steps than any tree is high.
inline constexpr int far_enough = 12;

/// (0, -1) is everything; shells of one step are disjoint and make everything; [0, a] grows with a,
/// and splits at every border; any type is the union of the types.
template <class Type, class Ask>
void nearness(int cores, std::size_t count, std::vector<Type> const& types, Type any, Ask const& ask) {
  using topology::id_set;
  auto const everything = id_set::range(0, int(count));
  for (int core = 0; core < cores; ++core) {
    REQUIRE(ask(core, any, 0, -1) == everything);
    id_set inner;
    for (int steps = 0; steps < far_enough; ++steps) {
      auto const shell = ask(core, any, steps, steps);
      REQUIRE((inner & shell).empty());
      inner |= shell;
      REQUIRE(ask(core, any, 0, steps) == inner);
      REQUIRE((ask(core, any, steps + 1, -1) | inner) == everything);
      REQUIRE((ask(core, any, steps + 1, far_enough) & inner).empty());
      id_set of_types;
      for (auto const type : types) {
        auto const of_type = ask(core, type, 0, steps);
        REQUIRE((of_types & of_type).empty());
        of_types |= of_type;
      }
      REQUIRE(of_types == inner);
    }
    REQUIRE(inner == everything);
  }
}

} // namespace keel::laws
