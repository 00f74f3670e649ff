// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs keel-info, and keeps what it said.

#include <support/shell.hpp>

#include <string>

namespace test {

using said = keel::test::outcome;

/// Runs keel-info through the shell; `before` are variables. hwloc keeps to itself what it misses here.
inline said info(std::string const& arguments, std::string const& before = {}) {
  return keel::test::shell("HWLOC_HIDE_ERRORS=2 " + before + ' ' + KEEL_INFO + ' ' + arguments);
}

} // namespace test
