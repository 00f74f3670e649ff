// SPDX-License-Identifier: MIT
#include <keel/block/pack.hpp>

#include <doctest/doctest.h>

#include <sys/mman.h>

#include <array>
#include <cstddef>
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

namespace {

/// Elements in front of memory that nobody may touch.
template <class T>
class at_the_border {
public:
  at_the_border() {
    REQUIRE(pages_ != MAP_FAILED);
    REQUIRE(mprotect(static_cast<char*>(pages_) + page, page, PROT_NONE) == 0);
  }
  ~at_the_border() { munmap(pages_, 2 * page); }
  at_the_border(at_the_border const&) = delete;
  at_the_border& operator=(at_the_border const&) = delete;
  [[nodiscard]] T* last(std::size_t count) const {
    return reinterpret_cast<T*>(static_cast<char*>(pages_) + page) - count;
  }

private:
  static constexpr std::size_t page = 65536; // a multiple of every page
  void* pages_ = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

template <class T, std::size_t L>
void reaches_no_further() {
  using pack = keel::block::pack<T, L>;
  at_the_border<T> const from, to;
  CAPTURE(L);
  for (std::size_t count = 0; count <= L; ++count) {
    for (std::size_t i = 0; i < L; ++i) from.last(L)[i] = T(i + 1), to.last(L)[i] = T(77);
    pack const p = pack::load(from.last(count), count, T(9));
    (p + pack::filled(1)).store(to.last(count), count);
    bool good = true;
    for (std::size_t i = 0; i < L; ++i) {
      good = good && p[i] == (i < count ? T(L - count + i + 1) : T(9));
      good = good && to.last(L)[i] == (i < L - count ? T(77) : T(i + 2));
    }
    CAPTURE(count);
    CHECK(good);
  }
}

template <std::size_t... L>
void none_reach_further() {
  (reaches_no_further<double, L>(), ...);
  (reaches_no_further<float, L>(), ...);
  (reaches_no_further<std::int64_t, L>(), ...);
  (reaches_no_further<std::int32_t, L>(), ...);
  (reaches_no_further<std::uint8_t, L>(), ...);
}

} // namespace

TEST_CASE("block: a partial load or store reaches no element behind the last, not in other memory either") {
  none_reach_further<1, 2, 3, 4, 8, 16, 24, 64>();
  static_assert(keel::block::pack<int, 8>::load(std::array{1, 2, 3}.data(), 3, 5)[3] == 5);
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
