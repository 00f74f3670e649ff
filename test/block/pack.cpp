// SPDX-License-Identifier: MIT
#include <keel/block/pack.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

using four = keel::block::pack<double, 4>;

TEST_CASE("block: a pack computes element by element") {
  std::array<double, 4> const in{1, 2, 3, 4};
  four const a = four::load(in.data());
  four const b = four::filled(2);
  CHECK(all((a + b) == four{{3, 4, 5, 6}}));
  CHECK(all((a - b) == four{{-1, 0, 1, 2}}));
  CHECK(all((a * b) == four{{2, 4, 6, 8}}));
  CHECK(all((a / b) == four{{0.5, 1, 1.5, 2}}));
  CHECK(all((-a) == four{{-1, -2, -3, -4}}));
  CHECK(all(min(a, b) == four{{1, 2, 2, 2}}));
  CHECK(all(max(a, b) == four{{2, 2, 3, 4}}));
  CHECK(sum(a) == 10);
  four c = a;
  c += b, c -= a, c *= a, c /= four::filled(4);
  CHECK(all(c == 0.5 * a));
  c.assign(2.0 + a);
  CHECK(all(c == four{{3, 4, 5, 6}}));
  CHECK(all(1.0 - a == four{{0, -1, -2, -3}}));
  CHECK(all(6.0 / b + (a - 1.0) / 1.0 == a + 2.0));
  CHECK_FALSE(all(a == b));
}

TEST_CASE("block: a partial load or store touches only what it is told") {
  std::array<double, 2> const in{1, 2};
  four const a = four::load(in.data(), 2, -1);
  CHECK(all(a == four{{1, 2, -1, -1}}));
  std::array<double, 4> out{9, 9, 9, 9};
  a.store(out.data(), 2);
  CHECK(out == std::array<double, 4>{1, 2, 9, 9});
  a.store(out.data());
  CHECK(out == std::array<double, 4>{1, 2, -1, -1});
}

TEST_CASE("block: a pack is aligned like a register and narrow types stay narrow") {
  CHECK(alignof(four) == 32);
  CHECK(alignof(keel::block::pack<double, 3>) == alignof(double));
  CHECK(alignof(keel::block::pack<double, 64>) == 64);
  using bytes = keel::block::pack<std::uint8_t, 2>;
  CHECK(all((bytes{{250, 1}} + bytes{{10, 1}}) == bytes{{4, 2}}));
  constexpr four known = four::filled(1) + four::filled(2);
  static_assert(known[3] == 3);
}
