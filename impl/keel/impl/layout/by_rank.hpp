// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What goes to ranks, in their order. Depends only on the standard library.

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// The places of `ranks` in ascending order of rank, equal ones as they stand: a radix sort, whose memory does not
/// depend on the number of ranks.
[[nodiscard]] inline std::vector<std::int32_t> order_by_rank(std::vector<int> const& ranks, int end) {
  constexpr int bits = 11;
  std::vector<std::int32_t> order(ranks.size()), next(end > 1 ? ranks.size() : 0);
  std::iota(order.begin(), order.end(), 0);
  for (int shift = 0; shift < 31 && (end - 1) >> shift != 0; shift += bits) {
    auto const digit = [&](std::int32_t place) {
      return std::size_t(ranks[std::size_t(place)] >> shift) % (std::size_t{1} << bits);
    };
    std::array<std::int32_t, std::size_t{1} << bits> begins{};
    for (std::int32_t const place : order) ++begins[digit(place)];
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), 0);
    for (std::int32_t const place : order) next[std::size_t(begins[digit(place)]++)] = place;
    order.swap(next);
  }
  return order;
}

/// Calls f(rank, places) for each rank, in ascending order.
void for_each_rank(std::vector<int> const& ranks, std::span<std::int32_t const> order, auto const& f) {
  for (std::size_t begin = 0, end = 0; begin != order.size(); begin = end) {
    int const rank = ranks[std::size_t(order[begin])];
    while (end != order.size() && ranks[std::size_t(order[end])] == rank) ++end;
    f(rank, order.subspan(begin, end - begin));
  }
}

} // namespace keel::residency::detail
