// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What nearly every test includes: doctest, what keel says when it throws, a case that cannot run here, and the
/// headers of the standard library that cost a source little.

#include <keel/policy/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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

/// Reports the running case as skipped; the case returns right after it.
///
/// The runner counts the case as skipped, not as passed, if `reason` begins with
/// a line of test/support/skip_reasons.txt, and as failed if it does not. On many
/// ranks every rank skips or none: only rank 0 is heard.
inline void skip(std::string_view reason) {
  auto const& running = *doctest::getContextOptions();
  *running.cout << "SKIP: " << running.currentTest->m_name << ": " << reason << std::endl;
}

} // namespace keel::test
