// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A schedule followed to its steady state while compiling: the copies it makes, and the ghosts that it does not fill.

#include <keel/impl/schedule/analysis.hpp>
#include <keel/schedule/schedule.hpp>

#include <cstddef>
#include <cstdint>

namespace keel::residency {

/// What `Schedule` does in an application whose routines `on_device` run on `Device`.
///
/// The schedule is taken to be all that happens, step after step; what it does not write was
/// written on the host before. Constants: no run-time state, no code.
template <class App, class Schedule, class Device>
class plan {
  using devices = detail::devices_of<App>;
  static_assert(policy::contains<devices, Device>,
                "keel::residency::plan: a device that is not in the application's list. Add it there.");
  using found = detail::analysis<App, Schedule, detail::memory_of<devices, Device>>;

public:
  /// Steps before the steady state, and steps after which it repeats; 0 if it does not, which takes five memories.
  static constexpr std::int64_t transient = found::steady.transient, period = found::steady.period;

  /// Copies in one period of the steady state: triples of variable, level and region; what does
  /// not lie on the grid is all core. With a condition (`when`, `choose`), those that are possible. `device` is the
  /// memory of `Device`.
  [[nodiscard]] static constexpr std::int64_t copies(memory from, memory to, region where = region::everywhere) {
    memory const a = from == device ? detail::memory_of<devices, Device> : from;
    memory const b = to == device ? detail::memory_of<devices, Device> : to;
    std::int64_t sum = 0;
    if (int(a) >= detail::max_planned_memories || int(b) >= detail::max_planned_memories) return 0;
    for (region one : single_regions)
      if (overlap(one, where)) sum += found::steady.period_copies.copies[int(a)][int(b)][index_of(one)];
    return sum;
  }

  /// Whether entry number `at` reads ghosts that have not been filled since their owners wrote.
  [[nodiscard]] static constexpr bool lacks_exchange(std::size_t at) { return detail::lacks_exchange<Schedule>(at); }
};

} // namespace keel::residency
