// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What keel says on standard error while a program runs, under the names that a program uses for it.

#include <keel/policy/log.hpp>

namespace keel::device {

using policy::log;
using policy::log_level;
using policy::log_level_words;
using policy::log_sink;
using policy::set_log_level;
using policy::set_log_sink;
using policy::set_log_speaker;

} // namespace keel::device
