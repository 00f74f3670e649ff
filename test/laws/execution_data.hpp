// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for the data that kernels of every execution space share: atomics and tokens. See execution_space.hpp.

#include "execution_space.hpp"

namespace keel::laws {

/// More than any machine swaps at once.
struct three_numbers {
  long a, b, c;
  KOKKOS_FUNCTION three_numbers& operator+=(three_numbers const& other) {
    a += other.a;
    b += other.b;
    c += other.c;
    return *this;
  }
  friend KOKKOS_FUNCTION three_numbers operator+(three_numbers x, three_numbers const& y) { return x += y; }
};

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its data", Space, execution_data) {
  namespace laws = keel::laws;
  using range = Kokkos::RangePolicy<Space>;

  SUBCASE("atomics lose nothing") {
    Kokkos::View<long*, Space> const v("v", 8);
    constexpr long n = 1'000'000; // long enough for threads to meet
    Kokkos::parallel_for(
        "atomics", range(0, n), KOKKOS_LAMBDA(long i) {
          Kokkos::atomic_add(&v(0), 1L);
          Kokkos::atomic_fetch_add(&v(1), i);
          Kokkos::atomic_fetch_max(&v(2), i);
          Kokkos::atomic_fetch_min(&v(3), -i);
          Kokkos::atomic_fetch_sub(&v(4), 2L);
          Kokkos::atomic_sub(&v(5), 1L);
          Kokkos::atomic_fetch_or(&v(6), 1L << (i % 32));
          long seen = 0; // adds 1 by comparing
          for (long was = -1; was != seen;) {
            if (was >= 0) seen = was;
            was = Kokkos::atomic_compare_exchange(&v(7), seen, seen + 1);
          }
        });
    long const found[] = {n, n * (n - 1) / 2, n - 1, -(n - 1), -2 * n, -n, 0xffffffffL, n};
    CHECK(laws::holds(v, [&](int i) { return found[i]; }));
  }
  SUBCASE("atomics work on numbers with a point, pairs of them, and types that no machine swaps at once") {
    Kokkos::View<double, Space> const d("d");
    Kokkos::View<Kokkos::complex<double>, Space> const z("z");
    Kokkos::parallel_for(
        "wide atomics", range(0, 200000), KOKKOS_LAMBDA(long) {
          Kokkos::atomic_add(&d(), 0.5);
          Kokkos::atomic_add(&z(), Kokkos::complex<double>(1, -1));
        });
    CHECK(laws::on_host(d)() == 100000);
    CHECK(laws::on_host(z)().real() == 200000);
    CHECK(laws::on_host(z)().imag() == -200000);
#if KOKKOS_VERSION >= 40000 // before, such a type needs members for volatile objects
    Kokkos::View<laws::three_numbers, Space> const t("t");
    Kokkos::parallel_for(
        "wider atomics", range(0, 20000),
        KOKKOS_LAMBDA(long i) { Kokkos::atomic_fetch_add(&t(), laws::three_numbers{1, i, 2}); });
    CHECK(laws::on_host(t)().a == 20000);
    CHECK(laws::on_host(t)().b == 199990000);
    CHECK(laws::on_host(t)().c == 40000);
#endif
  }
  SUBCASE("a token is held by one at a time, of the process by one thread twice") {
    Kokkos::Experimental::UniqueToken<Space> const token;
    Kokkos::Experimental::UniqueToken<Space, Kokkos::Experimental::UniqueTokenScope::Global> const global;
    CHECK(token.size() >= 1);
    Kokkos::View<long*, Space> const sums("sums", token.size());
    Kokkos::View<long*, Space> const more("more", global.size());
    Kokkos::parallel_for(
        "tokens", range(0, 10000), KOKKOS_LAMBDA(int i) {
          auto const mine = token.acquire();
          sums(mine) += i; // no atomic
          token.release(mine);
          auto const own = global.acquire();
          auto const second = global.acquire();
          more(own) += i;
          more(own) += i; // another access of the thread, by the same token
          global.release(second);
          global.release(own);
        });
    CHECK(laws::total(sums) == 9999L * 5000);
    CHECK(laws::total(more) == 9999L * 10000);
  }
  SUBCASE("a value is copied into a view as it was at the call, also where the instance is busy") {
    Space const space;
    Kokkos::View<long, Space> const v("v");
    Kokkos::View<long, Space> const busy("busy");
    Kokkos::parallel_for(
        "keeps the instance busy", range(space, 0, 2'000'000), KOKKOS_LAMBDA(int) { Kokkos::atomic_add(&busy(), 1L); });
    long value = 7;
    Kokkos::deep_copy(space, v, value);
    value = 8;
    space.fence();
    CHECK(laws::on_host(v)() == 7);
  }
}
