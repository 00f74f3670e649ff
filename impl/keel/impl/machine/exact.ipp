// SPDX-License-Identifier: MIT
#include <keel/machine/exact.hpp>

#include <cmath>

namespace keel::machine {

KEEL_INLINE double exact_sum::value() const {
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
