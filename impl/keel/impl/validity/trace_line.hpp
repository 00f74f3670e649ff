// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A line of a trace as text, and the exit code of a process that lost one.

#include <keel/policy/json.hpp>

#include <atomic>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace keel::residency::detail {

/// Changes the exit code of a process that lost something when nothing could be thrown: `main` may have returned 0.
/// Made at the first use, so that what was made later ends before it.
class exit_code {
public:
  static exit_code& of_process() {
    static exit_code one;
    return one;
  }
  exit_code() = default;
  exit_code(exit_code const&) = delete;
  exit_code& operator=(exit_code const&) = delete;
  ~exit_code() {
    if (!has_failed_) return;
    std::fflush(nullptr);
    std::_Exit(2);
  }
  void fail() noexcept { has_failed_ = true; }

private:
  std::atomic<bool> has_failed_ = false;
};

/// A line: an object of JSON, member by member.
struct trace_line {
  std::string text; ///< without the last brace

  /// Keys and values in turn.
  template <class Value, class... More>
  trace_line& add(char const* key, Value const& value, More const&... more) {
    text.append(text.empty() ? "{\"" : ",\"").append(key).append("\":").append(text_of(value));
    if constexpr (sizeof...(more) != 0) add(more...);
    return *this;
  }

private:
  static std::string text_of(std::string_view value) { return policy::json_text(value); }
  static std::string text_of(std::integral auto value) { return std::to_string(value); }
  static std::string text_of(double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.3f", value);
    return digits;
  }
};

} // namespace keel::residency::detail
