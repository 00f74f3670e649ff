// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The words of the error that a call throws.

#include <keel/policy/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

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

/// Whether `f()` throws an error that says these words; if not, tells what it says.
bool refuses(auto const& f, std::string_view words) {
  std::string const said = message_of(f);
  bool const says = said.find(words) != std::string::npos;
  if (!says) MESSAGE("it says '" << said << "'");
  return says;
}

} // namespace keel::test
