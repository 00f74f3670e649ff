// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The known name nearest to one that is not known. Depends only on the standard library.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string_view>
#include <vector>

namespace keel::policy {

/// The number of letters to insert, delete or replace to make `b` of `a` (V. I. Levenshtein, 1966).
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// The name in `known` that is nearest to what was written, the first of equals; empty if there is none.
/// `name_of(element)` is a name.
template <class Known, class NameOf = std::identity>
[[nodiscard]] std::string_view nearest(std::string_view written, Known const& known, NameOf name_of = {}) {
  std::string_view best;
  std::size_t least = 0;
  for (auto const& k : known)
    if (std::size_t const far = edit_distance(written, name_of(k)); best.data() == nullptr || far < least)
      best = name_of(k), least = far;
  return best;
}

} // namespace keel::policy
