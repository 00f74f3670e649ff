// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What `main` does with an error: the message once a job, and an exit code.

#include <keel/policy/caught.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/printable.hpp>

#include <cstring>
#include <exception>
#include <new>

namespace keel {

/// Writes the message on standard error, unless another rank does, and answers the exit code for
/// a wrong use, 2: `catch (std::exception const& e) { return keel::report(e); }`. Where the exception left the scope of
/// a runtime on one of several ranks, the job is aborted with the message. Allocates nothing, because a
/// `std::bad_alloc`, whose text is only its name, becomes a message here.
inline int report(std::exception const& e) noexcept {
  bool const is_bare = std::strcmp(e.what(), std::bad_alloc{}.what()) == 0;
  char const* const message = is_bare ? "keel::report: there is not enough memory (an allocation of the program "
                                        "failed). Free some, or raise its limit."
                                      : e.what();
  if (auto const end_job = policy::when_caught().load()) end_job(message);
  auto const* ours = as_error(e);
  if (ours == nullptr || !ours->is_printed_elsewhere()) policy::print_line(message);
  return 2;
}

} // namespace keel
