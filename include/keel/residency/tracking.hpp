// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How closely an application has its data watched: `using tracking = keel::residency::automatic;`
///
/// | policy | watches | costs |
/// |---|---|---|
/// | `off` | nothing: no state, no check, no copy; for lists with one memory | nothing |
/// | `automatic` | where data are valid; copies what a read needs | one test for each declaration |
/// | `checked` | the same, and fills what is about to be written, and what became stale, with poison | one pass over what is written |

namespace keel::residency {

/// The null model: the application has one memory, and takes care of its ghosts itself.
struct off {
  static constexpr bool tracks = false;
  static constexpr bool poisons = false;
};
struct automatic {
  static constexpr bool tracks = true;
  static constexpr bool poisons = false;
};
struct checked {
  static constexpr bool tracks = true;
  static constexpr bool poisons = true;
};

/// A tracking policy.
template <class T>
concept Tracking = requires {
  requires T::tracks || !T::tracks;
  requires T::poisons || !T::poisons;
};

} // namespace keel::residency
