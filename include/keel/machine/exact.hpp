// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Sums of floating-point numbers without rounding, so that their order does not matter. Depends only on the
/// standard library.

#include <array>
#include <bit>
#include <cmath>
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

inline double exact_sum::value() const {
  if (special_ != 0) return special_; // true of what is no number, too
  exact_sum whole = *this;
  whole.carry();
  bool const is_negative = whole.digits_.back() < 0;
  if (is_negative) {
    for (auto& d : whole.digits_) d = -d;
    whole.carry();
  }
  auto const& digits = whole.digits_;
  std::size_t top = digits.size();
  while (top > 0 && digits[top - 1] == 0) --top;
  if (top == 0) return 0.0;
  auto const digit = [&](std::size_t from_top) {
    return top > from_top ? std::uint64_t(digits[top - 1 - from_top]) : std::uint64_t{0};
  };
  // The upper 64 bits of the three highest digits, the highest bit set, and whether anything is left below them.
  int const zeros = std::countl_zero(digit(0)) - 32;
  std::uint64_t head = digit(0) << 32 | digit(1);
  if (zeros > 0) head = head << zeros | digit(2) >> (32 - zeros);
  bool rest = zeros > 0 ? (digit(2) << zeros & digit_mask) != 0 : digit(2) != 0;
  for (std::size_t i = 3; i < top; ++i) rest = rest || digit(i) != 0;
  int const lowest = int(digit_bits) * (int(top) - 2) - zeros + least_exponent; // of the last bit of head
  // Nothing lies below the smallest double, so only numbers of more than 53 bits are rounded.
  constexpr int dropped = 11;
  std::uint64_t mantissa = head >> dropped;
  std::uint64_t const below = head & ((std::uint64_t{1} << dropped) - 1), half = std::uint64_t{1} << (dropped - 1);
  if (below > half || (below == half && (rest || mantissa % 2 == 1))) ++mantissa;
  double const result = std::ldexp(double(mantissa), lowest + dropped);
  return is_negative ? -result : result;
}

} // namespace keel::machine
