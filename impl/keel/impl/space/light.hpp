// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Kernels whose arguments go with their launch.

#include <keel/space/kokkos.hpp>

namespace keel::space::detail {

/// The policy for a kernel of a GPU that begins when the queue comes to it: Kokkos puts arguments of more than 512
/// bytes, some nine views, into one place of CUDA's constant memory, unless it is asked not to, and waits on the host
/// until the kernel that had its arguments there has ended.
template <class Policy>
[[nodiscard]] auto light(Policy const& policy) {
  constexpr bool is_on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Policy::execution_space::memory_space>::accessible;
  if constexpr (is_on_host) return policy;
  else return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

} // namespace keel::space::detail
