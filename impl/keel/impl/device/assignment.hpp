// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A knob and its text, wherever it was read.

#include <keel/device/knobs.hpp>
#include <keel/impl/device/parse.hpp>

#include <string>
#include <string_view>

namespace keel::device {

/// A knob as it was written: not yet parsed, with the words that name its origin.
struct assignment {
  knob id;
  std::string text;
  origin where;
  device::source from;
  std::string_view device = {}; ///< the one that is meant; empty for all that have the knob
};

} // namespace keel::device
