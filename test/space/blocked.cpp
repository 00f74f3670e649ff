// SPDX-License-Identifier: MIT
#include <keel/space/blocked.hpp>

#include <keel/space/simulated.hpp>

#include <doctest/doctest.h>

#include <cstddef>

namespace {

/// Adds one to every index of a block, and sums what was there.
template <class Space>
struct visit {
  Kokkos::View<int*, Space> v;
  template <class Block>
  KOKKOS_FUNCTION void operator()(Block const& b) const {
    for (auto i = b.begin(); i != b.end(); ++i) v(i) += 1;
  }
  template <class Block>
  KOKKOS_FUNCTION void operator()(Block const& b, long& sum) const {
    for (auto i = b.begin(); i != b.end(); ++i) sum += i * v(i);
  }
};

template <class Space, std::size_t Length>
void check_all_lengths() {
  namespace ks = keel::space;
  for (int n : {0, 1, 7, 8, 9, 64, 1000}) {
    visit<Space> const f{Kokkos::View<int*, Space>("v", n)};
    ks::for_each_block<Length>("visit", Space(), 0, n, f);
    long sum = -1;
    ks::reduce_blocks<Length>("sum", Space(), 0, n, f, sum);
    CHECK(sum == long(n) * (n - 1) / 2);
    long again = -1;
    ks::reduce_blocks<Length>("sum", Space(), 0, n, f, Kokkos::Sum<long>(again));
    CHECK(again == sum);
  }
}

} // namespace

TEST_CASE("space: a kernel over blocks visits every index once, for every length") {
  check_all_lengths<Kokkos::DefaultHostExecutionSpace, 1>();
  check_all_lengths<Kokkos::DefaultHostExecutionSpace, 8>();
  check_all_lengths<keel::space::simulated, 8>();
  check_all_lengths<keel::space::simulated, 1024>();
}
