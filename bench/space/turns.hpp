// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A line of a table of two things that take turns, and the spaces that keel's stand beside.

#include "../medians.hpp"

#include <Kokkos_Core.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace bench {

/// Threads that spin after a kernel, as those of OpenMP, have stopped before the next turn; the first call wakes the others.
template <class F>
double measured(int calls, F const& f) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  f();
  return microseconds(calls, f);
}

inline void print_head() {
  std::printf("%-58s %12s %12s %8s %8s\n", "microseconds", "other", "keel", "quotient", "wanted");
}

/// Prints a line; `wanted` is the quotient that is not to be exceeded, 0 where none is wanted.
template <class Other, class Keel>
void compare(char const* what, int calls, Other const& other, Keel const& keel, double wanted = 0) {
  auto const [of_other, of_keel, quotient] =
      in_turns(51, [&] { return measured(calls, other); }, [&] { return measured(calls, keel); });
  std::printf("%-58s %12.3f %12.3f %8.3f", what, of_other, of_keel, quotient);
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

} // namespace bench
