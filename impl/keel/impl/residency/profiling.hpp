// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Regions with names, by which Kokkos' tools see what keel does.

#include <keel/impl/residency/profiled_observer.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/observer.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace keel::residency::detail {

/// A region called `keel: <what> <name>`, open as long as this lives, where a tool listens.
class profiling_region {
public:
  profiling_region(bool listens, char const* what, std::string_view name) : is_open_(listens) {
    if (is_open_) [[unlikely]] Kokkos::Profiling::pushRegion("keel: " + std::string(what) + std::string(name));
  }
  ~profiling_region() {
    if (is_open_) [[unlikely]] Kokkos::Profiling::popRegion();
  }
  profiling_region(profiling_region const&) = delete;
  profiling_region& operator=(profiling_region const&) = delete;

private:
  bool is_open_;
};

/// A copy of bytes, which Kokkos' tools hear begin and end.
class shown_copy {
public:
  shown_copy(char const* to_space, void const* to, char const* from_space, void const* from, std::size_t bytes)
      : is_shown_(Kokkos::Tools::profileLibraryLoaded()) {
    if (is_shown_) [[unlikely]]
      Kokkos::Tools::beginDeepCopy(Kokkos::Tools::make_space_handle(to_space), {}, to,
                                   Kokkos::Tools::make_space_handle(from_space), {}, from, bytes);
  }
  ~shown_copy() {
    if (is_shown_) [[unlikely]] Kokkos::Tools::endDeepCopy();
  }
  shown_copy(shown_copy const&) = delete;
  shown_copy& operator=(shown_copy const&) = delete;

private:
  bool is_shown_;
};

/// Calls `f`, and tells an observer that times routines when it began and that it ended.
template <Observer O, class F>
KEEL_FORCE_INLINE void timed([[maybe_unused]] O& observer, [[maybe_unused]] std::string_view routine,
                             [[maybe_unused]] memory m, F const& f) {
  if constexpr (TimesRoutines<O>) {
    auto const begun = observer.begin_routine();
    f();
    observer.end_routine(begun, routine, m);
  } else {
    f();
  }
}

/// Kokkos' tools, as a `profiled_observer` calls them.
inline constexpr region_listener kokkos_tools{[](std::string const& name) { Kokkos::Profiling::pushRegion(name); },
                                              [] { Kokkos::Profiling::popRegion(); }};

} // namespace keel::residency::detail
