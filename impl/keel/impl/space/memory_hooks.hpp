// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How `keel::space::memory` stands to Kokkos' own memory spaces: which code may access it, and how it is copied.

#include <keel/space/memory.hpp>

#include <keel/impl/space/records.hpp>

#include <cstddef>
#include <type_traits>

namespace keel::space::detail {

/// A space that host code may touch as it touches `Kokkos::HostSpace`.
template <class M>
inline constexpr bool is_hostlike = false;
template <>
inline constexpr bool is_hostlike<Kokkos::HostSpace> = true;
template <class R>
inline constexpr bool is_hostlike<memory<R>> = R::reached_from == reach::host;

template <class M>
inline constexpr bool is_remote = is_memory<M> && !is_hostlike<M>;

/// Two different spaces, at least one of them keel's, the other one Kokkos' host or keel's too.
template <class A, class B>
concept Neighbours = !std::is_same_v<A, B> && (is_memory<A> || is_memory<B>) && (is_memory<A> || is_hostlike<A>) &&
                     (is_memory<B> || is_hostlike<B>);

/// A copy that touches keel's memory; for other copies, Kokkos has its own.
template <class To, class From>
concept Copied =
    (is_memory<To> || is_memory<From>) && (is_memory<To> || is_hostlike<To>) && (is_memory<From> || is_hostlike<From>);

} // namespace keel::space::detail

namespace Kokkos::Impl {

template <class To, class From>
  requires keel::space::detail::Neighbours<To, From>
struct MemorySpaceAccess<To, From> {
  enum : bool { accessible = keel::space::detail::is_hostlike<To> && keel::space::detail::is_hostlike<From> };
  enum : bool { assignable = accessible && std::is_same_v<To, HostSpace> };
  enum : bool { deepcopy = true };
};

/// Between host memories as Kokkos copies in its own; else the remote resource's
/// execution space copies, asynchronously if it is the one given.
template <class To, class From, class Execution>
  requires keel::space::detail::Copied<To, From>
struct DeepCopy<To, From, Execution> {
  static constexpr bool remote = keel::space::detail::is_remote<To> || keel::space::detail::is_remote<From>;
  using copier = typename std::conditional_t<keel::space::detail::is_remote<To>, To, From>::execution_space;

  DeepCopy(void* to, void const* from, std::size_t bytes) {
    if constexpr (remote) copier::impl_copy(to, from, bytes);
    else (void)DeepCopy<HostSpace, HostSpace, DefaultHostExecutionSpace>(to, from, bytes);
  }
  DeepCopy(Execution const& space, void* to, void const* from, std::size_t bytes) {
    if constexpr (!remote) {
      (void)DeepCopy<HostSpace, HostSpace, Execution>(space, to, from, bytes);
    } else if constexpr (std::is_same_v<Execution, copier>) {
      space.impl_copy_asynchronously(to, from, bytes);
    } else {
      space.fence();
      copier::impl_copy(to, from, bytes);
    }
  }
};

} // namespace Kokkos::Impl
