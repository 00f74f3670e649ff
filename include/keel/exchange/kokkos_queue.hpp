// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The queue of a Kokkos space: to try a transport of your own.

#include <keel/exchange/queue.hpp>
#include <keel/impl/exchange/kokkos_copy_queue.hpp>

namespace keel::residency {

/// The queue of an instance of an execution space, with the memory of that space; the host's, if that is its memory.
template <class Space>
[[nodiscard]] queue queue_of(Space const& space) {
  if constexpr (std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>) return {};
  else return detail::kokkos_copy_queue(space);
}

} // namespace keel::residency
