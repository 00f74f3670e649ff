// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The value of a reduction without its type.

#include <keel/schedule/routine.hpp>

#include <memory>

namespace keel::residency::detail {

/// The value of a reduction, whose type only `held` has: see reductions.hpp.
struct kept_value {
  value_info const* about;
  std::unique_ptr<void, void (*)(void*)> held;
  void (*begin)(void*);
  void (*wait)(void*);
  bool is_there = false, is_under_way = false;

  void finish() {
    if (!is_under_way) return;
    is_under_way = false; // also if it fails
    wait(held.get());
    is_there = true;
  }
};

} // namespace keel::residency::detail
