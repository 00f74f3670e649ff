// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A place that runs loops over blocks as a GPU does, on the calling thread: rows side by side, and teams of three
/// threads with memory of their own, which is not a number at first.

#include <keel/block/for_each_block.hpp>

#include <cstddef>
#include <limits>
#include <vector>

namespace keel::test {

struct lanes {
  int* rows;               ///< how often rows were asked for
  int* with_memory;        ///< how often memory was
  std::size_t most_values; ///< of a thread
};

} // namespace keel::test

template <>
struct keel::block::launcher<keel::test::lanes> {
  template <class F, class... Label>
  static void run(keel::test::lanes const&, std::size_t count, F const& f, Label const&...) {
    for (std::size_t i = 0; i < count; ++i) f(i);
  }
  template <class F, class... Label>
  static void run_rows(keel::test::lanes const& where, std::size_t count, std::size_t rows, F const& f,
                       Label const&...) {
    ++*where.rows;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t row = 0; row < rows; ++row) f(i, row);
  }
  template <class T, class F, class... Label>
  static bool run_with_memory(keel::test::lanes const& where, std::size_t count, std::size_t values, F const& f,
                              Label const&...) {
    if (values > where.most_values) return false;
    ++*where.with_memory;
    for (std::size_t first = 0; first < count; first += 3) {
      std::vector<T> memory(3 * values, std::numeric_limits<T>::quiet_NaN());
      for (std::size_t own = 0; own < 3 && first + own < count; ++own)
        in(f, first + own, team_memory<T>{memory.data() + own, 3});
    }
    return true;
  }

private:
  template <class F, class Memory>
  static void in(F const& f, std::size_t i, Memory memory) {
    f(i, memory);
  }
};
