// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A case that cannot run here says why, in words that skip_reasons.txt allows.

#include <doctest/doctest.h>

#include <ostream>
#include <string_view>

namespace keel::test {

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
