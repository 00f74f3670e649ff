// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The one place where lengths are multiplied that users give. Products of parts of what passed here fit, too.

#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace keel::residency::detail {

/// No machine addresses more.
inline constexpr std::int64_t most_bytes = std::int64_t{1} << 56;
/// Components of fields, blocks among them: each has arrays of its own.
inline constexpr int most_components = 1 << 20;

/// Throws `keel::error` unless arrays of these lengths can be: none is negative, and all their bytes can be addressed.
/// Takes no memory else.
inline void check_lengths(std::string_view who, std::string_view whose, std::string_view name,
                          std::span<std::int64_t const> lengths, std::int64_t bytes_of_each) {
  auto const wrong = [&] { return std::string(whose) + std::string(name); };
  std::int64_t left = most_bytes / std::max<std::int64_t>(bytes_of_each, 1);
  bool fits = true;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    if (lengths[d] < 0)
      throw error(
          who, "dimension " + std::to_string(d) + " of " + wrong() + " has " + std::to_string(lengths[d]) + " elements",
          "an array has none or more", "Give a length that is not negative");
    fits = fits && lengths[d] <= left;
    left /= std::max<std::int64_t>(lengths[d], 1);
  }
  if (fits) return;
  std::string text;
  for (std::int64_t const n : lengths) text += (text.empty() ? "" : " x ") + std::to_string(n);
  throw error(who, wrong() + " cannot have " + text + " elements", "memory has 2^56 bytes at most",
              "Give smaller lengths, or take more ranks");
}

} // namespace keel::residency::detail
