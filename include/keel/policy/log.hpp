// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What keel says on standard error while a program runs, and how much of it.

#include <keel/policy/printable.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

namespace keel::policy {

/// How much is logged; each level includes those before it.
enum class log_level { off, error, warning, information, details, silent = off };
/// The levels as a user writes and reads them.
inline constexpr std::array<std::string_view, 5> log_level_words{"off", "error", "warning", "information", "details"};

/// Takes the lines of the log instead of standard error: one call for each line, on the thread that logs it. Null is
/// standard error again.
using log_sink = void (*)(log_level level, std::string_view text);

namespace detail {
inline std::atomic<log_level> level{log_level::warning};
/// False on the ranks whose messages the master prints.
inline std::atomic<bool> speaks{true};
inline std::atomic<log_sink> sink{nullptr};
} // namespace detail

inline void set_log_sink(log_sink sink) { detail::sink = sink; }
inline void set_log_level(log_level level) { detail::level = level; }
inline void set_log_speaker(bool speaks) { detail::speaks = speaks; }

/// Writes one line, whole and printable, whatever is admitted: for what a switch of its own asks for.
inline void say(log_level level, std::string_view text) {
  if (auto const sink = detail::sink.load()) return sink(level, printable(std::string{text}));
  print_line({"keel: ", log_level_words[std::size_t(level)], ": ", text});
}

/// Writes one line, whole and printable, if the level admits it and this rank logs.
inline void log(log_level level, std::string_view text) {
  if (level <= detail::level.load() && detail::speaks.load()) say(level, text);
}

} // namespace keel::policy
