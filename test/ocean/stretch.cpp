// SPDX-License-Identifier: MIT
#include <ocean/stretch.hpp>

#include <support/test.hpp>

TEST_CASE("ocean: stretches cover every step once, and end where output is due") {
  for (long const more : {1, 2, 3, 10, 25})
    for (long const every : {0, 1, 3, 10, 40, 107}) {
      long const first = every / 100 * 7, steps = first + more; // some go on from a checkpoint
      std::vector<long> ends;
      long timed = 0;
      for (long n = first; n < steps;) {
        long const last = ocean::end_of_stretch(n, steps, every, first);
        REQUIRE(last > n);
        if (ocean::is_timed(last, steps, first)) timed += last - n;
        for (long k = n + 1; k < last; ++k) CHECK_FALSE(ocean::is_output_due(k, steps, every));
        ends.push_back(n = last);
      }
      CHECK(ends.front() == first + 1);
      CHECK(ends.back() == steps);
      CHECK(ocean::is_output_due(steps, steps, every));
      CHECK(timed == ocean::timed_steps(steps, first));
    }
  CHECK(ocean::is_output_due(20, 25, 10));
}
