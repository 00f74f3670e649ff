// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Mathematical functions of packs. Depends only on the standard library.
///
/// | function | result |
/// |---|---|
/// | `abs`, `sqrt`, `fma` | the same bits as `std::` |
/// | `exp`, `log` | at most 1 ulp from `std::`; the same bits for every length, on every device |
/// | `pow` | the bits of `std::pow`, one call for each element |
///
/// The same bits for every length need a compiler that does not contract: `-ffp-contract=off`, `--fmad=false`.

#include <keel/block/pack.hpp>
#include <keel/impl/block/exponential.hpp>
#include <keel/policy/macros.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>

namespace keel::block {

/// Element by element as another type of number.
template <class U, class T, std::size_t Length>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack<U, Length> convert(pack<T, Length> const& x) {
  return detail::made<pack<U, Length>>([&](std::size_t i) { return static_cast<U>(x.values[i]); });
}

namespace detail {

template <class T>
struct absolute {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a) const {
    using V = decltype(a);
    if constexpr (!std::floating_point<T>) return a < V{} ? -a : a;
    else if constexpr (std::same_as<V, T>) return a < 0 ? -a : a + 0; // -0 + 0 is 0
    else
      return bits_of<V>(bits_of<typename register_of<lane<T>, sizeof(V) / sizeof(T)>::type>(a) &
                        ~(lane<T>{1} << (8 * sizeof(T) - 1)));
  }
};
template <class T>
struct square_root {
  KEEL_FORCE_INLINE KEEL_FUNCTION auto operator()(auto a) const { return root<T>(a); }
};
template <class T>
struct fused {
  KEEL_FORCE_INLINE KEEL_FUNCTION auto operator()(auto a, auto b, auto c) const {
    return multiplied_and_added<T>(a, b, c);
  }
};

/// `F` of doubles; of floats by way of doubles, so that the result is as good as rounded once.
template <class F, class T, std::size_t Length>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION pack<T, Length> by_doubles(pack<T, Length> const& x) {
  static_assert(std::same_as<T, double> || std::same_as<T, float>,
                "keel::block: exp and log take packs of double or float (these have no more digits than the method). "
                "Convert the elements.");
  if constexpr (std::same_as<T, double>) return each<pack<T, Length>>(F{}, x);
  else return convert<float>(by_doubles<F>(convert<double>(x)));
}

} // namespace detail

template <class T, std::size_t Length>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack<T, Length> abs(pack<T, Length> const& x) {
  return detail::each<pack<T, Length>>(detail::absolute<T>{}, x);
}

template <std::floating_point T, std::size_t Length>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION pack<T, Length> sqrt(pack<T, Length> const& x) {
  return detail::each<pack<T, Length>>(detail::square_root<T>{}, x);
}

/// a * b + c, rounded once. A call for each element if the processor has no such instruction.
template <std::floating_point T, std::size_t Length>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION pack<T, Length> fma(pack<T, Length> const& a, pack<T, Length> const& b,
                                                                  pack<T, Length> const& c) {
  return detail::each<pack<T, Length>>(detail::fused<T>{}, a, b, c);
}

template <std::floating_point T, std::size_t Length>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION pack<T, Length> exp(pack<T, Length> const& x) {
  return detail::by_doubles<detail::exponential>(x);
}
template <std::floating_point T, std::size_t Length>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION pack<T, Length> log(pack<T, Length> const& x) {
  return detail::by_doubles<detail::logarithm>(x);
}
template <std::floating_point T, std::size_t Length>
[[nodiscard]] KEEL_FUNCTION pack<T, Length> pow(pack<T, Length> const& x, pack<T, Length> const& y) {
  return detail::made<pack<T, Length>>(
      [&](std::size_t i) { return static_cast<T>(std::pow(x.values[i], y.values[i])); });
}

} // namespace keel::block
