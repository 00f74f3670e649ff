// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Kokkos' task schedulers, which its versions before 5 have: on keel's execution spaces they are a compile error.

#include <keel/impl/space/engine.hpp>

#if defined(KOKKOS_ENABLE_TASKDAG)

namespace keel::space::detail {

/// Stands in the place of a scheduler, so that the compiler prints one sentence and not the insides of a queue.
template <class Space>
class no_scheduler {
  static_assert(!Engine<Space>, "keel::space: this execution space runs no task scheduler (Kokkos 5 ends them). "
                                "Use Kokkos::Serial or Kokkos::OpenMP for tasks.");

public:
  using execution_space = Space;
  using memory_space = typename Space::memory_space;
  template <class... Any>
  explicit no_scheduler(Any const&...) {}
};

} // namespace keel::space::detail

#if defined(__GNUC__) // Kokkos 4 calls its schedulers deprecated
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
namespace Kokkos {

template <keel::space::detail::Engine Space, class Queue>
class BasicTaskScheduler<Space, Queue> : public keel::space::detail::no_scheduler<Space> {
public:
  using keel::space::detail::no_scheduler<Space>::no_scheduler;
};
template <keel::space::detail::Engine Space, class Queue>
class SimpleTaskScheduler<Space, Queue> : public keel::space::detail::no_scheduler<Space> {
public:
  using keel::space::detail::no_scheduler<Space>::no_scheduler;
};

} // namespace Kokkos
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif
