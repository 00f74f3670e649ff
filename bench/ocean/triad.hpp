// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The rate at which an execution space streams its memory: STREAM's triad, a = b + s c.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>

namespace ocean {

/// Three arrays as large together as the model's, so that what fits a cache for one does for the
/// other. Allocates them; `run` streams them once and waits.
template <class Space>
class triad {
public:
  /// `doubles`: how many the model holds in this rank's part.
  triad(Space const& space, std::size_t doubles)
      : space_(space), count_(std::max<std::size_t>(doubles / 3, std::size_t{1} << 16)), a_("triad a", count_),
        b_("triad b", count_), c_("triad c", count_) {}

  void run() const {
    auto const a = a_;
    auto const b = b_, c = c_;
    Kokkos::parallel_for(
        "triad", Kokkos::RangePolicy<Space>(space_, 0, count_),
        KOKKOS_LAMBDA(std::size_t i) { a(i) = b(i) + 3.0 * c(i); });
    space_.fence();
  }

  /// Counted as STREAM does: what is read and what is written, once each.
  [[nodiscard]] double bytes() const { return 3.0 * double(count_) * sizeof(double); }

  /// The best of some runs, in seconds. `longest` takes this rank's time and returns the longest
  /// of all ranks; it is also what makes them start together.
  template <class Longest>
  [[nodiscard]] double seconds(Longest longest) const {
    double best = 1e300;
    for (int n = 0; n < 6; ++n) { // the first touches the pages
      longest(0);
      Kokkos::Timer clock;
      run();
      double const passed = longest(clock.seconds());
      if (n > 0) best = std::min(best, passed);
    }
    return best;
  }

private:
  using array = Kokkos::View<double*, Kokkos::LayoutRight, typename Space::memory_space>;
  Space space_;
  std::size_t count_;
  array a_, b_, c_;
};

} // namespace ocean
