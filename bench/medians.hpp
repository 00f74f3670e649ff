// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Times, their medians, and two things that take turns in one run.

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

/// Medians, the last one of the quotients of neighbouring turns, keel's time by the other's.
struct medians {
  double other, keel, quotient;
};
/// Both measure once and return their time. Who goes first takes turns too.
template <class Other, class Keel>
medians in_turns(int turns, Other const& other, Keel const& keel) {
  std::vector<double> others, keels, quotients;
  for (int t = 0; t < turns; ++t) {
    double first = 0, second = 0;
    if (t % 2 == 0) first = other(), second = keel();
    else second = keel(), first = other();
    others.push_back(first);
    keels.push_back(second);
    quotients.push_back(second / first);
  }
  return {median(others), median(keels), median(quotients)};
}

} // namespace bench
