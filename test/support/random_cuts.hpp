// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Shares of a dimension that differ in size.

#include <cstdint>
#include <vector>

namespace keel::test {

/// Into so many shares, some without cells, the others with `least` or more, as `cuts` takes them.
std::vector<std::int64_t> random_cuts(auto& random, std::int64_t cells, int shares, std::int64_t least) {
  std::vector<std::int64_t> at{0};
  for (int n = 1; n < shares; ++n) {
    std::int64_t const left = cells - at.back(), own = random() % 3 == 0 ? 0 : least + std::int64_t(random() % 5);
    at.push_back(at.back() + (own == left || own + least <= left ? own : 0));
  }
  at.push_back(cells);
  return at;
}

} // namespace keel::test
