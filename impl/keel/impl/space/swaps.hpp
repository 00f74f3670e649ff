// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Kokkos' `iter_swap`, which runs on Kokkos' default space and fences that one, wherever the two elements lie. Those
/// of a device that Kokkos was not built with are swapped there, after the kernels that the device was given before.

#include <keel/impl/space/memory_hooks.hpp>
#include <keel/space/kokkos.hpp>

#if KOKKOS_VERSION >= 40000
namespace Kokkos::Experimental::Impl {
template <class Iterator, class Other>
struct StdIterSwapFunctor; // Kokkos' own, of a header that few programs include
template <class View>
class RandomAccessIterator;
} // namespace Kokkos::Experimental::Impl
#endif

namespace keel::space::detail {

/// Whether Kokkos fences after a kernel of this functor, but on its default space.
template <class F>
inline constexpr bool is_fenced_elsewhere = false;
#if KOKKOS_VERSION >= 40000
template <class Iterator, class Other>
inline constexpr bool is_fenced_elsewhere<Kokkos::Experimental::Impl::StdIterSwapFunctor<Iterator, Other>> = true;
#endif

} // namespace keel::space::detail

#if KOKKOS_VERSION >= 40000
template <class Swapped, class Other, class Policy> // clang 15 finds names of Kokkos before a parameter
  requires keel::space::detail::is_remote<typename Swapped::memory_space>
struct Kokkos::Impl::FunctorPolicyExecutionSpace<
    Kokkos::Experimental::Impl::StdIterSwapFunctor<Kokkos::Experimental::Impl::RandomAccessIterator<Swapped>, Other>,
    Policy> {
  using execution_space = typename Swapped::memory_space::execution_space;
};
#endif
