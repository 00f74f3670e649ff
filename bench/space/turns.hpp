// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Two things that take turns in one run: the median of each, and the median of the quotients of neighbouring turns.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

namespace keel::bench {

using clock = std::chrono::steady_clock;

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// Threads that spin after a kernel, as those of OpenMP, have stopped before the next turn; the first call wakes the others.
template <class F>
double measured(int calls, F const& f) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  f();
  auto const begun = clock::now();
  for (int i = 0; i != calls; ++i) f();
  return std::chrono::duration<double, std::micro>(clock::now() - begun).count() / calls;
}

inline void print_head() {
  std::printf("%-58s %12s %12s %8s %8s\n", "microseconds", "other", "keel", "quotient", "wanted");
}

/// Prints a line; `wanted` is the quotient that is not to be exceeded, 0 where none is wanted.
template <class Other, class Keel>
void compare(char const* what, int calls, Other const& other, Keel const& keel, double wanted = 0) {
  std::vector<double> others;
  std::vector<double> keels;
  std::vector<double> quotients;
  for (int turn = 0; turn != 51; ++turn) {
    double first = 0;
    double second = 0;
    if (turn % 2 == 0) first = measured(calls, other), second = measured(calls, keel);
    else second = measured(calls, keel), first = measured(calls, other);
    others.push_back(first);
    keels.push_back(second);
    quotients.push_back(second / first);
  }
  std::printf("%-58s %12.3f %12.3f %8.3f", what, median(others), median(keels), median(quotients));
  if (wanted > 0) std::printf(" %8.2f", wanted);
  std::printf("\n");
  std::fflush(stdout);
}

/// Calls `f` with each of Kokkos' own host spaces that it was built with.
template <class F>
void for_own_spaces(F const& f) {
#ifdef KOKKOS_ENABLE_SERIAL
  f(Kokkos::Serial());
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  f(Kokkos::OpenMP());
#endif
}

inline void print_threads(int keels) {
  std::printf("threads: keel %d", keels);
  for_own_spaces(
      []<class Space>(Space const& space) { std::printf(", %s %d", Space::name(), int(space.concurrency())); });
  std::printf("\n");
}

} // namespace keel::bench
