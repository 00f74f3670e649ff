// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `Kokkos::RangePolicy(space, begin, end)` without template arguments, as Kokkos has had it since 4.3, for those
/// before. `MDRangePolicy` cannot follow there: its own constructors, tried first, do not compile without a rank.

#include <Kokkos_Core.hpp>

#if KOKKOS_VERSION < 40300

#include <cstdint>
#include <type_traits>

namespace Kokkos {

template <class Space, class = std::enable_if_t<is_execution_space<Space>::value>>
RangePolicy(Space const&, std::int64_t, std::int64_t) -> RangePolicy<Space>;

} // namespace Kokkos

#endif
