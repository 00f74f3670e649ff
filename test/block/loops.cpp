// SPDX-License-Identifier: MIT
// Lengths 1 to 64, sizes 0 to three lengths and one more, and random ones: every index once, padding never written,
// what lies in it never seen, the bits of the plain loop.
#include <keel/block/columns.hpp>
#include <keel/block/for_each_block.hpp>
#include <keel/block/pack.hpp>

#include "field.hpp"

#include <support/test.hpp>
#include <support/lanes.hpp>

#include <random>

namespace {

namespace kb = keel::block;
using keel::test::field;

double plain(double x, double y) { return std::sqrt(x * x + 0.3 * y) / (1 + x) - y; }
struct packed {
  template <std::size_t L>
  kb::pack<double, L> operator()(kb::pack<double, L> const& x, kb::pack<double, L> const& y) const {
    return (x * x + 0.3 * y).map([](double v) { return std::sqrt(v); }) / (1.0 + x) - y;
  }
};

double some(std::size_t i) { return 0.25 + double(i * 2654435761u % 1000) / 512; }

template <kb::tail Tail, class Place>
bool one_loop(Place const& place, std::size_t begin, std::size_t n, auto length) {
  constexpr std::size_t L = decltype(length)::value;
  field<1> const x({begin + n}, true, 70), y({begin + n}, true, 70), visits({begin + n}, true, 70);
  for (std::size_t i = 0; i < begin + n; ++i) x(i) = some(i), y(i) = some(i + 7);
  bool good = true;
  kb::for_each_block<L, Tail>(place, kb::indices<std::size_t>{begin, begin + n}, [&](auto block) {
    std::size_t const first = block.begin(), last = block.end();
    good = good && last > first;
    auto const a = block.load(x.data()), b = block.load(y.data());
    block.store(y.data(), packed{}(a, b));
    block.store(visits.data(), block.load(visits.data()) + 1.0);
  });
  good = good && x.padding_untouched() && y.padding_untouched() && visits.padding_untouched();
  for (std::size_t i = 0; i < begin + n; ++i) {
    double const wanted = i < begin ? some(i + 7) : plain(some(i), some(i + 7));
    good = good && std::memcmp(&y(i), &wanted, sizeof wanted) == 0 && visits(i) == (i < begin ? 0 : 1);
  }
  return good;
}

template <std::size_t Rank, kb::tail Tail>
bool columns_loop(std::array<std::size_t, Rank> extents, bool right, auto length) {
  constexpr std::size_t L = decltype(length)::value;
  field<Rank> const x(extents, right, 70), visits(extents, right, 70);
  std::size_t i = 0;
  x.each([&](double& value) { value = some(i++); });
  kb::for_each_block<L, Tail>(kb::columns_of(x), [&](auto block) {
    for (std::size_t k = 0; k < extents[Rank - 1]; ++k) {
      auto const a = block.load(x, k);
      block.store(x, packed{}(a, a), k);
      block.store(visits, block.load(visits, k) + 1.0, k);
    }
  });
  bool good = x.padding_untouched() && visits.padding_untouched();
  i = 0;
  x.each([&](double value) {
    double const from = some(i++), wanted = plain(from, from);
    good = good && std::memcmp(&value, &wanted, sizeof value) == 0;
  });
  visits.each([&](double value) { good = good && value == 1; });
  return good;
}

template <std::size_t L>
struct lengths {
  static void all_sizes() {
    std::integral_constant<std::size_t, L> const length;
    std::mt19937 random(L);
    for (std::size_t n = 0; n <= 3 * L + 1; ++n) {
      CAPTURE(L);
      CAPTURE(n);
      CHECK(one_loop<kb::tail::masked>(kb::caller{}, n % 5, n, length));
      CHECK(one_loop<kb::tail::scalar>(kb::caller{}, n % 3, n, length));
    }
    for (int turn = 0; turn < 143; ++turn) { // 1,000 with seven lengths
      std::size_t const n = random() % 2000, begin = random() % 100;
      CAPTURE(L);
      CAPTURE(n);
      CHECK(one_loop<kb::tail::masked>(kb::caller{}, begin, n, length));
    }
  }
  static void all_columns() {
    std::integral_constant<std::size_t, L> const length;
    for (std::size_t n : {std::size_t{0}, std::size_t{1}, L - 1, L, L + 1, 2 * L, 3 * L + 1})
      for (bool right : {false, true}) {
        CAPTURE(L);
        CAPTURE(n);
        CAPTURE(right);
        CHECK(columns_loop<2, kb::tail::masked>({n, 3}, right, length));
        CHECK(columns_loop<2, kb::tail::scalar>({n, 3}, right, length));
        CHECK(columns_loop<3, kb::tail::masked>({n, 3, 2}, right, length));
        CHECK(columns_loop<3, kb::tail::scalar>({3, n, 2}, right, length));
        CHECK(columns_loop<3, kb::tail::counted>({2, n, 1}, right, length));
      }
  }
};

/// Two values of each column change places, through memory of a thread where there is some.
struct turn {
  field<3> from, to;

  template <class Block>
  void operator()(Block const& b) const {
    b.store(to, b.load(from, 1), 0), b.store(to, b.load(from, 0), 1);
  }
  template <class Block>
  void operator()(Block const& b, kb::team_memory<double>& memory) const {
    for (std::size_t k : {0, 1}) memory[k] = b.load(from, k)[0];
    for (std::size_t k : {0, 1}) to(b.index(0, 0), b.index(1, 0), k) = memory[1 - k];
  }
};
/// Whether all columns are turned, if a thread may have so many values; counts loops of rows, and those with memory.
template <std::size_t Length>
bool turns(std::size_t most_values, bool right, int& rows, int& with_memory) {
  field<3> const from({5, 7, 2}, right, 70), to({5, 7, 2}, right, 70);
  std::size_t n = 0;
  from.each([&](double& value) { value = some(n++); });
  kb::for_each_block_with_memory<Length, kb::tail::scalar, double>(
      "turn", keel::test::lanes{&rows, &with_memory, most_values}, kb::columns_of(from), 2, turn{from, to});
  bool good = to.padding_untouched();
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 7; ++j) good = good && to(i, j, 0) == from(i, j, 1) && to(i, j, 1) == from(i, j, 0);
  return good;
}

} // namespace

TEST_CASE("block: loops of packs have the bits of the plain loop, for every length and size") {
  lengths<1>::all_sizes();
  lengths<2>::all_sizes();
  lengths<4>::all_sizes();
  lengths<8>::all_sizes();
  lengths<16>::all_sizes();
  lengths<32>::all_sizes();
  lengths<64>::all_sizes();
  lengths<7>::all_sizes();
  lengths<24>::all_sizes();
}

TEST_CASE("block: loops over columns have the bits of the plain loop, in either layout") {
  lengths<1>::all_columns();
  lengths<8>::all_columns();
  lengths<24>::all_columns();
  lengths<64>::all_columns();
}

TEST_CASE("block: a part of the columns leaves the others alone") {
  field<3> const x({9, 11, 3}, true, 8);
  std::size_t number = 0;
  x.each([&](double& value) { value = number++ % 3 == 2 ? double(number) : 0; });
  kb::for_each_block<4, kb::tail::masked>(kb::columns_of(x, {2, 3}, {8, 10}), [&](auto block) {
    auto const all = block.load(x, 2);
    for (std::size_t c = block.size(); c < 4; ++c) CHECK(all[c] == all[0]); // elements that are no column
    for (std::size_t c = 0; c < block.size(); ++c) x(block.index(0, c), block.index(1, c), 1) += 1;
    block.store(x, block.load(x, 0) + 2.0, 0);
  });
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 11; ++j) {
      bool const inside = i >= 2 && i < 8 && j >= 3 && j < 10;
      CHECK(x(i, j, 1) == (inside ? 1 : 0));
      CHECK(x(i, j, 0) == (inside ? 2 : 0));
    }
  CHECK_THROWS_WITH_AS(
      (void)kb::columns_of(x, {0, 0}, {9, 12}),
      "keel::block: the columns end at 12 in index 1 (the field has 11). Give the end of a part of it.", keel::error);
  int called = 0;
  kb::for_each_block<4>(kb::columns_of(x, {5, 5}, {2, 7}), [&](auto) { ++called; });
  CHECK(called == 0);
}

TEST_CASE("block: a place with lanes takes rows side by side, and blocks know their neighbours") {
  int rows = 0, with_memory = 0;
  keel::test::lanes const place{&rows, &with_memory, 0};
  for (bool right : {false, true}) {
    field<3> const from({9, 6, 2}, right, 70), to({9, 6, 2}, right, 70);
    std::size_t n = 0;
    from.each([&](double& value) { value = some(n++); });
    auto const around = [&](auto const& block) {
      block.store(to, block.shifted(0, -1).load(from, 1) - block.shifted(0, 1).load(from, 0), 0);
      block.store(to, block.shifted(1, -1).load(from, 1) - block.shifted(1, 1).load(from, 0), 1);
    };
    auto const inner = kb::columns_of(from, {1, 1}, {8, 5});
    auto const good = [&] {
      bool all = true;
      for (std::size_t i = 0; i < 9; ++i)
        for (std::size_t j = 0; j < 6; ++j) {
          bool const is_inner = i > 0 && i < 8 && j > 0 && j < 5;
          all = all && to(i, j, 0) == (is_inner ? from(i - 1, j, 1) - from(i + 1, j, 0) : 0) &&
                to(i, j, 1) == (is_inner ? from(i, j - 1, 1) - from(i, j + 1, 0) : 0);
        }
      return all;
    };
    kb::for_each_block<1, kb::tail::scalar>(place, inner, around);
    CHECK(good());
    to.each([](double& value) { value = 0; });
    kb::for_each_block<4, kb::tail::masked>(place, inner, around);
    CHECK(good());
  }
  CHECK(rows == 4);
  field<2> const line({7, 2}, true, 70); // no rows
  kb::for_each_block<1, kb::tail::scalar>(place, kb::columns_of(line), [](auto const&) {});
  CHECK(rows == 4);
}

TEST_CASE("block: columns one by one get memory where the place has enough, and have the same values without") {
  for (bool right : {false, true}) {
    int rows = 0, with_memory = 0;
    CHECK(turns<1>(2, right, rows, with_memory));
    CHECK((rows == 0 && with_memory == 1));
    CHECK(turns<1>(1, right, rows, with_memory));
    CHECK((rows == 1 && with_memory == 1));
    CHECK(turns<4>(2, right, rows, with_memory));
    CHECK(with_memory == 1);
  }
}
