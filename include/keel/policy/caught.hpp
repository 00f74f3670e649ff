// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What is still to be done when an exception that left keel's scope is caught and reported.

#include <atomic>

namespace keel::policy {

/// Called by `keel::report` with the message, or with null by the end of a process that reported none; null if there
/// is nothing to do. A destructor that the exception runs sets it, because there the message is not known yet.
inline std::atomic<void (*)(char const* what)>& when_caught() {
  static constinit std::atomic<void (*)(char const*)> call{nullptr};
  return call;
}

} // namespace keel::policy
