// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The words of the error that a call throws.

#include <keel/policy/error.hpp>

#include <string>

namespace keel::test {

/// What `f()` throws as `keel::error` says; empty where it throws nothing.
std::string message_of(auto const& f) {
  try {
    f();
  } catch (keel::error const& e) {
    return e.what();
  }
  return {};
}

} // namespace keel::test
