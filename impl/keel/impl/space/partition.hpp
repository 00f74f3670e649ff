// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `Kokkos::Experimental::partition_space` for `keel::space::tbb`: its threads, cut by weight into instances of their
/// own.

#include <keel/impl/space/items.hpp>
#include <keel/policy/error.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/tbb.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#if KEEL_WITH_TBB

namespace Kokkos::Experimental {

/// Each part has at least one thread. Throws if a weight is negative or all are zero.
template <class Weight>
  requires std::is_arithmetic_v<Weight>
std::vector<keel::space::tbb> partition_space(keel::space::tbb const& base, std::vector<Weight> const& weights) {
  double total = 0;
  for (auto const w : weights) total += w < 0 ? -1e300 : double(w);
  if (!(total > 0))
    throw keel::error("space::tbb", "the threads cannot be cut by these weights", "one is negative, or all are zero",
                      "Give each part a weight above zero");
  std::vector<keel::space::tbb> parts;
  double before = 0;
  for (auto const w : weights) {
    auto const border = [&](double weight) { return int(base.threads() * (weight / total) + 0.5); };
    parts.emplace_back(std::max(1, border(before + double(w)) - border(before)));
    before += double(w);
  }
  return parts;
}
#if KOKKOS_VERSION < 40100 // whose own takes the weights so, and would be chosen
template <class Weight>
  requires std::is_arithmetic_v<Weight>
std::vector<keel::space::tbb> partition_space(keel::space::tbb const& base, std::vector<Weight>& weights) {
  return partition_space(base, std::as_const(weights));
}
#endif

/// A vector, as Kokkos' own returns it to 4.6, an array as from 4.7.
template <class... Weights>
  requires(std::is_arithmetic_v<Weights> && ...)
auto partition_space(keel::space::tbb const& base, Weights... weights) {
  auto parts = partition_space(base, std::vector<double>{double(weights)...});
#if KOKKOS_VERSION < 40699
  return parts;
#else
  std::array<keel::space::tbb, sizeof...(Weights)> found;
  std::copy(parts.begin(), parts.end(), found.begin());
  return found;
#endif
}

} // namespace Kokkos::Experimental

#endif
