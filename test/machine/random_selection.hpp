// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Selections drawn at random, and what they select, written out the plain way.

#include <keel/machine/selection.hpp>

#include <algorithm>
#include <random>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace keel::test {

namespace km = keel::machine;

using selection = std::variant<km::first, km::strided, km::chosen>;

/// The ranks of the parent that a selection names, written out the plain way.
inline std::vector<int> written_out(selection const& s) {
  if (auto const* list = std::get_if<km::chosen>(&s)) return {list->ranks().begin(), list->ranks().end()};
  auto const* range = std::get_if<km::strided>(&s);
  int const begin = range ? range->begin : 0;
  int const stride = range ? range->stride : 1;
  std::vector<int> ranks(std::size_t(range ? range->size : std::get<km::first>(s).size));
  for (std::size_t i = 0; i != ranks.size(); ++i) ranks[i] = begin + int(i) * stride;
  return ranks;
}

/// A selection of at most `most` ranks that a parent of `extent` ranks can give.
inline selection draw(std::mt19937& random, int extent, int most) {
  auto const below = [&](int n) { return int(random() % unsigned(n)); };
  switch (below(3)) {
  case 0: return km::first{1 + below(std::min(extent, most))};
  case 1: {
    int const begin = below(extent);
    bool const up = below(2) == 0;
    int const room = up ? extent - 1 - begin : begin;
    int const stride = 1 + below(3);
    return km::strided{1 + below(std::min(room / stride + 1, most)), begin, up ? stride : -stride};
  }
  default: {
    std::unordered_set<int> picked;
    std::vector<int> ranks;
    for (int wanted = 1 + below(std::min(extent, most)); wanted != 0; --wanted)
      if (int const r = below(extent); picked.insert(r).second) ranks.push_back(r);
    return km::chosen(std::move(ranks));
  }
  }
}

/// A selection made wrong, in a way that every rank can see.
inline selection spoilt(std::mt19937& random, int extent) {
  switch (random() % 5) {
  case 0: return km::first{extent + 1};
  case 1: return km::strided{2, extent - 1, 1};
  case 2: return km::strided{1, 0, 0};
  case 3: return km::chosen{0, extent - 1, 0};
  default: return km::chosen{-1};
  }
}

} // namespace keel::test
