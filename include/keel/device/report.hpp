// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What `main` does with an error: the message once a job, and an exit code.

#include <keel/policy/caught.hpp>
#include <keel/policy/error.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace keel {

/// Writes the message on standard error, unless another rank does, and answers the exit code for
/// a wrong use, 2: `catch (std::exception const& e) { return keel::report(e); }`. Where the exception left the scope of
/// a runtime on one of several ranks, the job is aborted with the message.
inline int report(std::exception const& e) noexcept {
  if (auto const end_job = policy::when_caught().load()) end_job(e.what());
  auto const* ours = as_error(e);
  if (ours == nullptr || !ours->is_printed_elsewhere()) std::fprintf(stderr, "%s\n", e.what());
  return 2;
}

} // namespace keel
