// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How closely an application has its data watched: `using tracking = keel::residency::automatic;`
///
/// | policy | watches | costs |
/// |---|---|---|
/// | `off` | nothing: no state, no check, no copy; for lists with one memory | nothing |
/// | `automatic` | where data are valid, also in a list with one memory; copies what a read needs | one test for each variable that is read, one store for each written |
/// | `checked` | the same; poisons what is about to be written and what became stale, finds what a routine wrote undeclared or reached beyond what it declares, and remembers why data are stale | two passes over all arrays a routine; routines are compiled twice for devices on the host |
/// | `traced` | like `automatic`, and writes a line for each copy, write and routine | these lines |

#include <keel/validity/observer.hpp>
#include <keel/validity/reasons.hpp>

#include <concepts>

namespace keel::residency {

class trace;

/// Nothing is tracked or refused: the application has one memory, and takes care of its ghosts itself. `is_valid`
/// throws.
struct off {
  static constexpr std::string_view name = "off";
  static constexpr bool tracks = false, checks = false;
  using observer = unobserved;
};
struct automatic {
  static constexpr std::string_view name = "automatic";
  static constexpr bool tracks = true, checks = false;
  using observer = unobserved;
};
/// With the simulated device: its memory is closed outside kernels and copies, and kernels run while their
/// caller waits.
struct checked {
  static constexpr std::string_view name = "checked";
  static constexpr bool tracks = true, checks = true;
  using observer = reasons;
};
/// Writes a trace; `--keel-trace-file` says where. Include keel/validity/trace.hpp with it.
struct traced {
  static constexpr std::string_view name = "traced";
  static constexpr bool tracks = true, checks = false;
  using observer = trace;
};

/// A tracking policy.
template <class T>
concept Tracking = Observer<typename T::observer> && requires {
  { T::tracks } -> std::convertible_to<bool>;
  { T::checks } -> std::convertible_to<bool>;
};

} // namespace keel::residency
