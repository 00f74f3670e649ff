// SPDX-License-Identifier: MIT
#include <keel/machine/threads.hpp>

#include <support/test.hpp>

namespace km = keel::machine;

TEST_CASE("machine: teams share the threads of a rank, each led by its first") {
  CHECK(km::teams(8, 2) == std::vector<km::team>{{0, 4}, {4, 4}});
  CHECK(km::teams(7, 3) == std::vector<km::team>{{0, 2}, {2, 2}, {4, 3}});
  CHECK(km::teams(1, 1) == std::vector<km::team>{{0, 1}});
  for (int threads = 1; threads != 20; ++threads)
    for (int count = 1; count <= threads; ++count) {
      int next = 0;
      for (auto const& team : km::teams(threads, count)) {
        CHECK(team.master == next);
        CHECK(team.size >= threads / count);
        CHECK(team.size <= (threads + count - 1) / count);
        CHECK(team.contains(team.master));
        CHECK_FALSE(team.contains(team.master + team.size));
        next += team.size;
      }
      CHECK(next == threads);
    }
  CHECK_THROWS_AS((void)km::teams(2, 3), keel::error);
  CHECK_THROWS_AS((void)km::teams(2, 0), keel::error);
}

TEST_CASE("machine: threads spread evenly over the cores of their place") {
  std::array const cores{4, 5, 8, 9};
  CHECK(km::thread_layout(4, cores) == std::vector{4, 5, 8, 9});
  CHECK(km::thread_layout(2, cores) == std::vector{4, 8});
  CHECK(km::thread_layout(8, cores) == std::vector{4, 4, 5, 5, 8, 8, 9, 9});
  CHECK(km::thread_layout(3, {}) == std::vector<int>{});
}
