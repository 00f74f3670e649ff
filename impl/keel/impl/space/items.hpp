// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The work of a Kokkos policy as a number of items that can be cut up.
///
/// Items are the indices of a range, the tiles of a multi-dimensional range, the
/// leagues of teams.

#include <keel/impl/space/part.hpp>
#include <keel/space/kokkos.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace keel::space::detail {

// A user's functor may take a narrower index than the policy's, as it may with Kokkos' own spaces.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif
/// Calls the functor with the policy's tag in front, if it has one.
template <class Tag, class F, class... Arguments>
void call(F const& functor, Arguments&&... arguments) {
  if constexpr (std::is_void_v<Tag>) functor(std::forward<Arguments>(arguments)...);
  else functor(Tag{}, std::forward<Arguments>(arguments)...);
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// Calls f(value). Of a number f gets a copy, which stays in a register, while what the functor writes elsewhere
/// could change the number in memory.
template <class Value, class F>
void beside(Value&& value, F const& f) {
  if constexpr (std::is_arithmetic_v<std::remove_reference_t<Value>>) {
    auto copy = value;
    f(copy);
    value = copy;
  } else {
    f(value);
  }
}

/// The items of a policy: how many, and how [begin, end) of them are run. What
/// follows `f` is handed on to it: nothing, or the value that is reduced into.
template <class Policy>
struct items;

template <class... T>
struct items<Kokkos::RangePolicy<T...>> {
  using policy = Kokkos::RangePolicy<T...>;
  using index = typename policy::member_type;

  static std::int64_t count(policy const& p) { return p.begin() < p.end() ? std::int64_t(p.end() - p.begin()) : 0; }
  template <class F, class... Update>
  static void run(policy const& p, F const& f, std::int64_t begin, std::int64_t end, Update&&... update) {
    auto const last = static_cast<index>(p.begin() + static_cast<index>(end));
    for (auto i = static_cast<index>(p.begin() + static_cast<index>(begin)); i < last; ++i)
      call<typename policy::work_tag>(f, i, update...);
  }
};

template <class... T>
struct items<Kokkos::MDRangePolicy<T...>> {
  using policy = Kokkos::MDRangePolicy<T...>;
  using index = typename policy::index_type;
  static constexpr int rank = policy::rank;
  using point = std::array<index, rank>;

  static std::int64_t count(policy const& p) { return std::int64_t(p.m_num_tiles); }

  template <class F, class... Update>
  static void run(policy const& p, F const& f, std::int64_t begin, std::int64_t end, Update&&... update) {
    auto const body = [&](auto... i) { call<typename policy::work_tag>(f, i..., update...); };
    for (std::int64_t tile = begin; tile < end; ++tile) {
      auto const [low, high] = bounds(p, tile);
      if constexpr (policy::inner_direction == Kokkos::Iterate::Right) outermost_first<0>(body, low, high);
      else outermost_last<rank - 1>(body, low, high);
    }
  }

private:
  /// Where tile number `tile` begins and ends; the last ones are cut off at the policy's end.
  static std::pair<point, point> bounds(policy const& p, std::int64_t tile) {
    point low;
    point high;
    auto const take = [&](std::size_t r) {
      std::int64_t const at = p.m_lower[r] + tile % p.m_tile_end[r] * p.m_tile[r];
      tile /= p.m_tile_end[r];
      low[r] = static_cast<index>(at);
      high[r] = static_cast<index>(std::min<std::int64_t>(at + p.m_tile[r], p.m_upper[r]));
    };
    if constexpr (policy::outer_direction == Kokkos::Iterate::Right)
      for (std::size_t r = rank; r-- > 0;) take(r);
    else
      for (std::size_t r = 0; r < rank; ++r) take(r);
    return {low, high};
  }
  /// Loops with the last dimension innermost, and its mirror image.
  template <int R, class Body, class... I>
  static void outermost_first(Body const& body, point const& low, point const& high, I... outer) {
    if constexpr (R == rank) body(outer...);
    else
      for (index i = low[R]; i < high[R]; ++i) outermost_first<R + 1>(body, low, high, outer..., i);
  }
  template <int R, class Body, class... I>
  static void outermost_last(Body const& body, point const& low, point const& high, I... outer) {
    if constexpr (R < 0) body(outer...);
    else
      for (index i = low[R]; i < high[R]; ++i) outermost_last<R - 1>(body, low, high, i, outer...);
  }
};

} // namespace keel::space::detail
