// SPDX-License-Identifier: MIT
#include <keel/machine/exact.hpp>

#include <support/test.hpp>

#include <bit>
#include <random>

using keel::machine::exact_sum;
using limits = std::numeric_limits<double>;

namespace {

double sum_of(std::vector<double> const& terms) {
  exact_sum s;
  for (double x : terms) s += x;
  return s.value();
}

} // namespace

TEST_CASE("machine: an exact sum loses nothing, however different its terms are") {
  CHECK(exact_sum{}.value() == 0);
  CHECK(sum_of({1e308, 1, -1e308}) == 1);
  CHECK(sum_of({limits::max(), limits::max(), -limits::max()}) == limits::max());
  CHECK(sum_of({limits::max(), limits::max()}) == limits::infinity());
  CHECK(sum_of({-limits::max(), -limits::max()}) == -limits::infinity());
  CHECK(sum_of({limits::denorm_min(), 1e300, limits::denorm_min(), -1e300}) == 2 * limits::denorm_min());
  CHECK(sum_of({limits::min(), -limits::denorm_min()}) == limits::min() - limits::denorm_min());
  CHECK(sum_of({-3, 2}) == -1);
  CHECK(sum_of({limits::infinity(), 1}) == limits::infinity());
  CHECK(std::isnan(sum_of({limits::infinity(), -limits::infinity()})));
  CHECK(std::isnan(sum_of({limits::quiet_NaN(), 1})));
  CHECK(std::isnan((exact_sum{limits::infinity()} + exact_sum{-limits::infinity()}).value()));
}

TEST_CASE("machine: an exact sum is rounded once, to the nearest, a tie to the even one") {
  double const ulp = limits::epsilon();
  CHECK(sum_of({1, ulp / 2}) == 1);                             // a tie: 1 is even
  CHECK(sum_of({1 + ulp, ulp / 2}) == 1 + 2 * ulp);             // a tie: up to the even one
  CHECK(sum_of({1, ulp / 2, limits::denorm_min()}) == 1 + ulp); // more than half, by the least there is
  CHECK(sum_of({1, ulp / 2, -limits::denorm_min()}) == 1);
  CHECK(sum_of({-1, -ulp / 2, -limits::denorm_min()}) == -1 - ulp);
  CHECK(sum_of({2 - ulp, ulp / 2}) == 2);  // into the next power of two
  for (int power = 0; power < 32; ++power) // wherever the highest bit lies in its digit
    for (int below = 54; below < 140; ++below) {
      double const x = std::ldexp(1, power), tie = x * ulp / 2, little = std::ldexp(x, -below);
      if (sum_of({x, tie, little}) != x * (1 + ulp)) FAIL("2^", power, " and 2^", power - below);
    }
}

TEST_CASE("machine: exact sums are equal where their values are, and where neither is a number") {
  exact_sum const one{1}, none{limits::quiet_NaN()};
  CHECK(one == exact_sum{3} + exact_sum{-2});
  CHECK_FALSE(one == exact_sum{2});
  CHECK(none == none);
  CHECK_FALSE(one == none);
}

TEST_CASE("machine: the lowest bits of two exact sums are added, too") {
  double const least = limits::denorm_min();
  CHECK((exact_sum{least} + exact_sum{least}).value() == 2 * least);
}

TEST_CASE("machine: an exact sum carries before its digits overflow, and counts again from there") {
  using words = std::array<std::uint64_t, sizeof(exact_sum) / sizeof(std::uint64_t)>;
  exact_sum s;
  for (int i = 0; i < 3; ++i) s += 1;
  auto all = std::bit_cast<words>(s);
  REQUIRE(all.back() == 3); // how many were added since the last carry
  all.back() = (std::uint64_t{1} << 30) - 1;
  s = std::bit_cast<exact_sum>(all);
  s += 1;
  CHECK(std::bit_cast<words>(s).back() == 0);
  CHECK(s.value() == 4);
}

TEST_CASE("machine: every double is its own exact sum, and pairs are what the processor adds") {
  std::mt19937_64 random{42};
  for (int i = 0; i < 200000; ++i) {
    double const a = std::bit_cast<double>(random()),
                 b = std::bit_cast<double>((random() & ~(std::uint64_t{0x3f} << 58)) | (random() & 1) << 62);
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    if (exact_sum{a}.value() != a) FAIL(a);
    if (double const both = a + b; sum_of({a, b}) != both) FAIL(a, " and ", b);
    double const near = a * (1 + double(random() % 1000) * 1e-16);
    if (double const both = a - near; std::isfinite(near) && sum_of({a, -near}) != both) FAIL(a, " less ", near);
  }
}

TEST_CASE("machine: an exact sum does not depend on the order, nor on how it was cut") {
  std::mt19937_64 random{7};
  std::uniform_real_distribution<double> scale{-300, 300};
  std::vector<double> terms(5000);
  for (auto& t : terms) t = (random() % 2 ? 1 : -1) * std::pow(10, scale(random));
  double const once = sum_of(terms);
  for (std::size_t parts : {1, 2, 3, 7, 100}) {
    std::shuffle(terms.begin(), terms.end(), random);
    std::vector<exact_sum> cut(parts);
    for (std::size_t i = 0; i < terms.size(); ++i) cut[i % parts] += terms[i];
    exact_sum whole;
    for (auto const& part : cut) whole = whole + part;
    CHECK(whole.value() == once);
  }
}
