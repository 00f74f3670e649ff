// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Times and their median.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Microseconds of one call of `f`, of `calls` together.
template <class F>
double microseconds(int calls, F const& f) {
  auto const begun = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) f();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count() / calls;
}

} // namespace bench
