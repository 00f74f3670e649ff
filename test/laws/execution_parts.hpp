// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for the parts into which `Kokkos::Experimental::partition_space` cuts an instance of an execution space.
/// Kokkos before 3.6 has no such function; a space may bring its own. See execution_space.hpp.

#include "execution_space.hpp"

#include <cstddef>
#include <thread>
#include <type_traits>
#include <vector>

namespace keel::laws {

namespace parts {

using namespace Kokkos::Experimental; // the function of the space or of Kokkos, whichever there is

template <class Space, class... Weights>
  requires requires(Space const& s, Weights const&... w) { partition_space(s, w...); }
auto of(Space const& space, Weights const&... weights) {
  return partition_space(space, weights...);
}

} // namespace parts

/// Marks its items, and adds up without atomics in a place that one thread has at a time.
template <class Space>
struct marks_and_adds {
  Kokkos::View<int*, Space> marked;
  Kokkos::View<long*, Space> sums;
  Kokkos::Experimental::UniqueToken<Space> token;
  KOKKOS_FUNCTION void operator()(int i) const {
    marked(i) += 1;
    auto const mine = token.acquire();
    sums(mine) += i;
    token.release(mine);
  }
};

/// Whether kernels of every pattern on a part do what they do on the whole space.
template <class Space>
bool is_whole(Space const& part, int n) {
  using range = Kokkos::RangePolicy<Space>;
  using teams = Kokkos::TeamPolicy<Space>;
  Kokkos::Experimental::UniqueToken<Space> const token(part);
  Kokkos::View<int*, Space> const marked("marked", std::size_t(n));
  Kokkos::View<long*, Space> const sums("sums", token.size());
  Kokkos::fence();
  Kokkos::parallel_for("mark", range(part, 0, n), marks_and_adds<Space>{marked, sums, token});
  Kokkos::parallel_for(
      "teams", teams(part, n, 1), KOKKOS_LAMBDA(typename teams::member_type const& team) {
        marked(team.league_rank()) += 2; // after the kernel before
      });
  long wrong = -1;
  Kokkos::parallel_reduce("wrong", range(part, 0, n), KOKKOS_LAMBDA(int i, long& w) { w += marked(i) != 3; }, wrong);
  long last = -1;
  Kokkos::parallel_scan("scan", range(part, 0, n), KOKKOS_LAMBDA(int i, long& s, bool) { s += i; }, last);
  part.fence();
  long const all = long{n} * (n - 1) / 2;
  return wrong == 0 && last == all && total(sums) == all;
}

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its parts", Space, execution_parts) {
  namespace laws = keel::laws;
  if constexpr (requires(Space const& s) { laws::parts::of(s, 1, 3); }) {
    SUBCASE("as many as weights, of the space's own type, with a thread at least, each of which runs kernels") {
      auto const two = laws::parts::of(Space(), 1, 3);
      auto const three = laws::parts::of(Space(), std::vector<double>{0.25, 0.5, 0.25});
      CHECK(two.size() == 2);
      CHECK(three.size() == 3);
      CHECK(std::is_same_v<typename std::remove_cvref_t<decltype(two)>::value_type, Space>);
      CHECK(std::is_same_v<std::remove_cvref_t<decltype(three)>, std::vector<Space>>);
      for (auto const& part : two) CHECK(laws::is_whole(part, 1000));
      for (auto const& part : three) CHECK(laws::is_whole(part, 1001));
#if KOKKOS_VERSION >= 40000 // before, Kokkos asks the type, not an instance
      for (auto const& part : laws::parts::of(Space(), 1, 1000)) {
        CHECK(part.concurrency() >= 1);
        CHECK(part.concurrency() <= Space().concurrency());
      }
#endif
    }
    SUBCASE("host threads use them at once, also parts of a part that has ended, and the whole beside them") {
      std::vector<Space> some;
      {
        auto const outer = laws::parts::of(Space(), 1, 1);
        auto const inner = laws::parts::of(outer[1], 1, 1);
        some = {Space(), outer[0], inner[0], inner[1]};
      }
      bool good[4] = {};
      auto const work = [&](int which) {
        good[which] = true;
        for (int turn = 0; turn < 20; ++turn)
          good[which] = good[which] && laws::is_whole(some[std::size_t(which)], 500 + turn);
      };
      std::vector<std::thread> others;
      for (int which = 1; which < 4; ++which) others.emplace_back(work, which);
      work(0);
      for (auto& other : others) other.join();
      for (bool const each : good) CHECK(each);
    }
  }
}
