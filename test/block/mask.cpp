// SPDX-License-Identifier: MIT
#include <keel/block/mask.hpp>

#include <keel/block/pack.hpp>

#include <doctest/doctest.h>

#include <array>
#include <limits>

namespace {

namespace kb = keel::block;

template <class T, std::size_t Length>
void compares() {
  kb::pack<T, Length> const a = kb::pack<T, Length>::counted();
  kb::pack<T, Length> const b = kb::pack<T, Length>::filled(T(Length / 2));
  for (std::size_t i = 0; i < Length; ++i) {
    CAPTURE(i);
    CHECK((a < b)[i] == (a[i] < b[i]));
    CHECK((a <= b)[i] == (a[i] <= b[i]));
    CHECK((a > b)[i] == (a[i] > b[i]));
    CHECK((a >= b)[i] == (a[i] >= b[i]));
    CHECK((a == b)[i] == (a[i] == b[i]));
    CHECK((a != b)[i] == (a[i] != b[i]));
    CHECK(select(a < b, a, -b)[i] == (a[i] < b[i] ? a[i] : static_cast<T>(-b[i])));
  }
  CHECK(count(a < b) == Length / 2);
  CHECK(sum(a, a < b) == T((Length / 2) * (Length / 2 - 1) / 2));
}

} // namespace

TEST_CASE("block: comparisons and selections agree with those of elements") {
  compares<double, 8>();
  compares<double, 64>();
  compares<double, 24>();
  compares<double, 7>();
  compares<float, 16>();
  compares<int, 12>();
  compares<signed char, 16>();
}

TEST_CASE("block: nothing compares with what is not a number") {
  auto const nan = kb::pack<double, 8>::filled(std::numeric_limits<double>::quiet_NaN());
  CHECK(none(nan == nan));
  CHECK(all(nan != nan));
  CHECK(none((nan < nan) | (nan >= nan)));
}

TEST_CASE("block: masks count, combine and serve packs of another element") {
  using eight = kb::mask<8>;
  static_assert(count(eight::first(3)) == 3);
  eight const three = eight::first(3);
  CHECK(any(three));
  CHECK_FALSE(all(three));
  CHECK(none(eight::filled(false)));
  CHECK(all(eight::filled(true)));
  CHECK((three & eight::first(2)) == eight::first(2));
  CHECK((three | eight::first(2)) == three);
  CHECK(count(three ^ eight::first(1)) == 2);
  CHECK(count(!three) == 5);
  CHECK_FALSE(three == eight::first(4));
  auto const chosen = select(three, kb::pack<float, 8>::filled(1), kb::pack<float, 8>::filled(2));
  CHECK(sum(chosen) == 13);
}

TEST_CASE("block: masked and gathered accesses touch what they name and nothing else") {
  using pack = kb::pack<double, 8>;
  std::array<double, 3> const source{1, 2, 3}; // anything behind it would be found by the sanitizer
  auto const which = kb::mask<8>::first(3);
  auto const read = pack::load(source.data(), which, -1);
  CHECK(all(read == pack{{1, 2, 3, -1, -1, -1, -1, -1}}));
  std::array<double, 8> target{9, 9, 9, 9, 9, 9, 9, 9};
  read.store(target.data(), kb::mask<8>::first(2));
  CHECK(target == std::array<double, 8>{1, 2, 9, 9, 9, 9, 9, 9});

  kb::pack<int, 8> const index{{2, 0, 1, 1, 99, -99, 99, 99}};
  auto const gathered = pack::gather(source.data(), index, kb::mask<8>::first(4), 7);
  CHECK(all(gathered == pack{{3, 1, 2, 2, 7, 7, 7, 7}}));
  CHECK(all(pack::gather(target.data(), kb::pack<int, 8>{{1, 0, 2, 1, 0, 0, 0, 0}}) == pack{{2, 1, 9, 2, 1, 1, 1, 1}}));
  pack::counted().scatter(target.data(), index, kb::mask<8>::first(4));
  CHECK(target == std::array<double, 8>{1, 3, 0, 9, 9, 9, 9, 9}); // of equal indices the last stays
  pack::counted(1).scatter(target.data(), kb::pack<int, 8>{{7, 6, 5, 4, 3, 2, 1, 0}});
  CHECK(target == std::array<double, 8>{8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(all(pack::load_strided(target.data() + 7, -1) == pack::counted(1)));
  pack::counted().store_strided(target.data() + 7, -1);
  CHECK(target[7] == 0);
  CHECK(target[0] == 7);
}

TEST_CASE("block: reductions go from the first element to the last") {
  kb::pack<double, 4> const p{{1e16, 1, -1e16, 1}};
  CHECK(sum(p) == ((1e16 + 1) + -1e16) + 1);
  CHECK(sum(p) != (1e16 + -1e16) + (1 + 1));
  CHECK(product(kb::pack<int, 3>{{2, 3, 4}}) == 24);
  CHECK(smallest(p) == -1e16);
  CHECK(largest(p) == 1e16);
}
