// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a run is cut into stretches: a stretch ends where output is due. The first step, of a run that goes on from a
/// checkpoint the one after `first` steps, is one of its own, and no time counts for it where there are others, because
/// the data come to the device in it.

#include <algorithm>

namespace ocean {

/// Whether there is output after step `n`, counted from 1, every `every` steps; after the last one always.
constexpr bool is_output_due(long n, long steps, long every) { return n == steps || (every > 0 && n % every == 0); }

/// The last step of the stretch after step `n`.
constexpr long end_of_stretch(long n, long steps, long every, long first = 0) {
  if (n == first) return std::min(steps, first + 1);
  return every > 0 ? std::min(steps, (n / every + 1) * every) : steps;
}

/// How many steps of a run count for its time, and whether one that ends with step `n` is among them.
constexpr long timed_steps(long steps, long first = 0) { return std::max(steps - first - 1, 1L); }
constexpr bool is_timed(long n, long steps, long first = 0) { return n > first + 1 || steps == first + 1; }

} // namespace ocean
