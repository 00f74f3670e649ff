// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How many files of a kind are finished.

#include <cstdint>

namespace keel::residency::detail {

struct finished_files {
  std::int64_t written = 0, failed = 0;
};

} // namespace keel::residency::detail
