// SPDX-License-Identifier: MIT
#include <keel/block/math.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

namespace {

namespace kb = keel::block;

/// How many numbers of `T` lie between two; 0 for two that are not numbers.
template <class T>
std::int64_t apart(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<std::int64_t>::max();
  auto const place = [](T x) {
    kb::detail::lane<T> bits;
    std::memcpy(&bits, &x, sizeof x);
    return std::int64_t{bits < 0 ? std::numeric_limits<kb::detail::lane<T>>::min() - bits : bits};
  };
  return std::abs(place(a) - place(b));
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Numbers of every size between the two, and the special ones.
template <class T, std::size_t Length>
kb::pack<T, Length> random_pack(std::mt19937_64& random, double least, double most) {
  T const special[] = {0,
                       -T{0},
                       1,
                       std::numeric_limits<T>::infinity(),
                       -std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN(),
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max(),
                       T(-1),
                       T(710),
                       T(-745.5),
                       T(709.7)};
  kb::pack<T, Length> p{};
  for (std::size_t i = 0; i < Length; ++i)
    p[i] = random() % 97 == 0 ? special[random() % std::size(special)]
                              : static_cast<T>(std::uniform_real_distribution<double>(least, most)(random));
  return p;
}

template <class T, std::size_t Length>
void agrees_with_std(int rounds) {
  std::mt19937_64 random(Length);
  std::int64_t exp_off = 0, log_off = 0;
  bool exact = true, same_for_one = true;
  for (int round = 0; round < rounds; ++round) {
    auto const x = random_pack<T, Length>(random, round % 2 ? -750 : -2, round % 2 ? 720 : 2);
    auto y = random_pack<T, Length>(random, -700, 700);
    for (std::size_t i = 0; i < Length; ++i)
      y[i] = round % 3 ? std::exp(y[i] * (sizeof(T) == 8 ? T(1) : T(0.12))) : T(1) + y[i] * T(1e-4);
    auto const z = random_pack<T, Length>(random, -3, 3);
    auto const e = exp(x), l = log(y), r = sqrt(y), f = fma(x, y, z), a = abs(x), w = pow(y, z);
    for (std::size_t i = 0; i < Length; ++i) {
      exp_off = std::max(exp_off, apart(e[i], std::exp(x[i])));
      log_off = std::max(log_off, apart(l[i], std::log(y[i])));
      exact = exact && apart(r[i], std::sqrt(y[i])) == 0 && apart(f[i], std::fma(x[i], y[i], z[i])) == 0 &&
              same_bits(a[i], std::abs(x[i])) && apart(w[i], std::pow(y[i], z[i])) == 0;
      same_for_one = same_for_one && apart(e[i], exp(kb::pack<T, 1>{{x[i]}})[0]) == 0 &&
                     apart(l[i], log(kb::pack<T, 1>{{y[i]}})[0]) == 0;
    }
  }
  CHECK(exp_off <= 1);
  CHECK(log_off <= 1);
  CHECK(exact);
  CHECK(same_for_one);
}

} // namespace

TEST_CASE("block: functions of packs are those of std, or the number beside") {
  agrees_with_std<double, 1>(5000);
  agrees_with_std<double, 3>(2000);
  agrees_with_std<double, 8>(20000);
  agrees_with_std<double, 64>(500);
  agrees_with_std<float, 16>(2000);
  agrees_with_std<float, 5>(1000);
}

TEST_CASE("block: the absolute value of integers and in constants") {
  CHECK(all(abs(kb::pack<int, 4>{{-1, 2, -3, 0}}) == kb::pack<int, 4>{{1, 2, 3, 0}}));
  static_assert(abs(kb::pack<double, 2>{{-1.5, 2}})[0] == 1.5);
}
