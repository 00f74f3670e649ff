// SPDX-License-Identifier: MIT
#include <keel/block/pack.hpp>

#include <support/test.hpp>

#if __has_include(<xsimd/xsimd.hpp>)
#include <xsimd/xsimd.hpp>
#endif

#include <sys/mman.h>

using four = keel::block::pack<double, 4>;

TEST_CASE("block: a pack computes element by element") {
  std::array<double, 4> const in{1, 2, 3, 4};
  four const a = four::load(in.data());
  four const b = four::filled(2);
  CHECK((a + b) == four{{3, 4, 5, 6}});
  CHECK((a - b) == four{{-1, 0, 1, 2}});
  CHECK((a * b) == four{{2, 4, 6, 8}});
  CHECK((a / b) == four{{0.5, 1, 1.5, 2}});
  CHECK((-a) == four{{-1, -2, -3, -4}});
  CHECK(min(a, b) == four{{1, 2, 2, 2}});
  CHECK(max(a, b) == four{{2, 2, 3, 4}});
  CHECK(sum(a) == 10);
  CHECK(sum(four{{1e16, 1, -1e16, 1}}) == ((1e16 + 1) + -1e16) + 1); // from the first to the last
  CHECK(four::counted(3) == four{{3, 4, 5, 6}});
  CHECK(four::load_strided(in.data() + 3, -1) == four{{4, 3, 2, 1}});
  std::array<double, 4> back{};
  a.store_strided(back.data() + 3, -1);
  CHECK(back == std::array<double, 4>{4, 3, 2, 1});
  four c = a;
  c += b, c -= a, c *= a, c /= four::filled(4);
  CHECK(c == 0.5 * a);
  c.assign(2.0 + a);
  CHECK(c == four{{3, 4, 5, 6}});
  CHECK(1.0 - a == four{{0, -1, -2, -3}});
  CHECK(6.0 / b + (a - 1.0) / 1.0 == a + 2.0);
  CHECK_FALSE(a == b);
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

TEST_CASE("block: a partial load or store reaches no element after the last, not in other memory either") {
  none_reach_further<1, 2, 3, 4, 8, 16, 24, 64>();
  static_assert(keel::block::pack<int, 8>::load(std::array{1, 2, 3}.data(), 3, 5)[3] == 5);
}

namespace {

/// As batches of other libraries are.
struct batch {
  double v[4];
  static batch load_unaligned(double const* from) { return {from[0], from[1], from[2], from[3]}; }
  void store_unaligned(double* to) const { std::copy_n(v, 4, to); }
};

template <class Batch, std::size_t L>
void maps_alike(auto const& f, auto const& of_one) {
  auto const x = keel::block::pack<double, L>::counted(0.25);
  auto const y = x.template map<Batch>(f);
  CAPTURE(L);
  for (std::size_t i = 0; i < L; ++i) CHECK(y[i] == of_one(x[i]));
}

} // namespace

TEST_CASE("block: a function of each element, one by one or by batches, does not depend on place or length") {
  static_assert(four{{1, 4, 9, 16}}.map([](double x) { return x + 1; }) == four{{2, 5, 10, 17}});
  auto const root = [](batch b) {
    for (double& v : b.v) v = std::sqrt(v);
    return b;
  };
  auto const of_one = [](double x) { return std::sqrt(x); };
  maps_alike<batch, 1>(root, of_one), maps_alike<batch, 4>(root, of_one), maps_alike<batch, 7>(root, of_one);
  maps_alike<batch, 16>(root, of_one);
#if __has_include(<xsimd/xsimd.hpp>)
  using simd = xsimd::batch<double>;
  auto const power = [](simd const& b) { return exp(b); };
  auto const alone = [&](double x) { return keel::block::pack<double, 1>::filled(x).map<simd>(power)[0]; };
  maps_alike<simd, 3>(power, alone), maps_alike<simd, 8>(power, alone), maps_alike<simd, 17>(power, alone);
#else
  keel::test::skip("no xsimd");
#endif
}

TEST_CASE("block: a pack is aligned like a register and narrow types stay narrow") {
  CHECK(alignof(four) == 32);
  CHECK(alignof(keel::block::pack<double, 3>) == alignof(double));
  CHECK(alignof(keel::block::pack<double, 64>) == 64);
  using bytes = keel::block::pack<std::uint8_t, 2>;
  CHECK((bytes{{250, 1}} + bytes{{10, 1}}) == bytes{{4, 2}});
  constexpr four known = four::filled(1) + four::filled(2);
  static_assert(known[3] == 3);
}
