// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Sums of floating-point numbers without rounding, so that their order does not matter. Depends only on the
/// standard library.

#include <keel/policy/macros.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace keel::machine {

/// A sum of doubles as a fixed-point number that is wide enough for all of them (U. Kulisch, 1971). Rounded once, to
/// the nearest, when it is read; the same terms give the same bits in any order and over any number of ranks. 600
/// bytes; no allocation.
class exact_sum {
public:
  constexpr exact_sum() = default;
  explicit exact_sum(double x) { add(x); }

  void add(double x) {
    auto const bits = std::bit_cast<std::uint64_t>(x);
    auto const exponent = unsigned(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff) {
      special_ += x; // an infinity or no number
      return;
    }
    std::uint64_t const fraction = bits & ((std::uint64_t{1} << 52) - 1);
    std::uint64_t const mantissa = exponent == 0 ? fraction : fraction | std::uint64_t{1} << 52;
    unsigned const shift = exponent == 0 ? 0 : exponent - 1, offset = shift % digit_bits;
    std::uint64_t const low = mantissa << offset, high = offset == 0 ? 0 : mantissa >> (64 - offset);
    std::int64_t const sign = bits >> 63 == 0 ? 1 : -1;
    std::size_t const at = shift / digit_bits;
    digits_[at] += sign * std::int64_t(low & digit_mask);
    digits_[at + 1] += sign * std::int64_t(low >> digit_bits);
    digits_[at + 2] += sign * std::int64_t(high);
    if (++added_ == adds_before_carry) carry();
  }
  exact_sum& operator+=(double x) { return add(x), *this; }

  exact_sum& operator+=(exact_sum other) {
    carry();
    other.carry();
    for (std::size_t i = 0; i < digits_.size(); ++i) digits_[i] += other.digits_[i];
    special_ += other.special_;
    carry();
    return *this;
  }
  friend exact_sum operator+(exact_sum a, exact_sum const& b) { return a += b; }

  /// The sum, rounded to the nearest double, a tie to the even one; infinite if it is beyond the largest.
  [[nodiscard]] double value() const;

  friend bool operator==(exact_sum const& a, exact_sum const& b) {
    double const x = a.value(), y = b.value();
    return x == y || (x != x && y != y); // equal, or both no number
  }

private:
  static constexpr unsigned digit_bits = 32;
  static constexpr std::uint64_t digit_mask = 0xffffffff;
  static constexpr int least_exponent =
      std::numeric_limits<double>::min_exponent - std::numeric_limits<double>::digits; // -1074
  static constexpr std::uint32_t adds_before_carry = std::uint32_t{1} << 30;

  /// Every digit but the last becomes one of 32 bits; the last has the sign.
  void carry() {
    std::int64_t over = 0;
    for (std::size_t i = 0; i + 1 < digits_.size(); ++i) {
      digits_[i] += over;
      over = digits_[i] >> digit_bits;
      digits_[i] &= std::int64_t(digit_mask);
    }
    digits_.back() += over;
    added_ = 0;
  }

  std::array<std::int64_t, 69> digits_{}; // 66 for the largest double; more for the sum of so many
  double special_ = 0;
  std::uint64_t added_ = 0;
};

} // namespace keel::machine

#if !KEEL_COMPILED
#include <keel/impl/machine/exact.ipp>
#endif
