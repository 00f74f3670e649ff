// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a folded grid has where, by coordinates alone: an element and its image, turned about the pole, are one.

#include <keel/layout/grid.hpp>

#include <cstdint>
#include <utility>

namespace {

struct pole {
  keel::residency::folding folds;
  keel::residency::indices cells; ///< of the whole
  std::uint8_t longer;            ///< of the variable

  /// Twice the distances from the origin of the grid along `folds.along` and `folds.at`, of a local element.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> place(keel::residency::share const& s,
                                                            keel::residency::indices const& at) const {
    auto const twice = [&](int d) {
      return 2 * (s.global_begin[d] + at[d] - s.owned().begin[d]) + ((longer >> d & 1) == 0 ? 1 : 0);
    };
    return {twice(folds.along), twice(folds.at)};
  }
  [[nodiscard]] bool is_wall(keel::residency::share const& s, keel::residency::indices const& at) const {
    return place(s, at).second < 0;
  }
  /// A number for the point there; with a sign that its image has not, and 0 where both are at one place.
  [[nodiscard]] double value(keel::residency::share const& s, keel::residency::indices const& at,
                             bool is_signed) const {
    std::int64_t const n = 2 * cells[folds.along];
    auto [x, y] = place(s, at);
    std::int64_t const px = (folds.longer >> folds.along & 1) == 0 ? 1 : 0,
                       py = 2 * cells[folds.at] - ((folds.longer >> folds.at & 1) == 0 ? 1 : 0);
    std::int64_t image_x = ((2 * px - x) % n + n) % n, image_y = 2 * py - y;
    x = (x % n + n) % n;
    bool const is_itself = x == image_x && y == image_y, is_image = std::pair(y, x) > std::pair(image_y, image_x);
    if (is_image) x = image_x, y = image_y;
    double const number = double(1000 * y + x + 1);
    return !is_signed ? number : is_itself ? 0 : is_image ? -number : number;
  }
};

} // namespace
