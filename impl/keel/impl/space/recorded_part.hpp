// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A part of what an instance of a device was given while it recorded.

#include <cstddef>
#include <memory>
#include <vector>

namespace keel::space {

/// What was recorded from a beginning to an end, and the numbers of the parts that it has to follow.
struct recorded_part {
  std::shared_ptr<void const> work;
  std::vector<std::size_t> after;
};

} // namespace keel::space
