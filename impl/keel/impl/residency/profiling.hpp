// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Regions with names, by which Kokkos' tools see what keel does.

#include <keel/impl/residency/profiled_observer.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/observer.hpp>
#include <keel/space/kokkos.hpp>

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
