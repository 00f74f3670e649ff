// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// One line of a trace: a JSON object of texts and numbers.

#include <keel/policy/error.hpp>

#include <nlohmann/json.hpp>

#include <climits>
#include <cstdint>
#include <string>
#include <string_view>

namespace keel::info {

/// At most 80 bytes of a text from outside, and dots if it is longer.
inline std::string brief(std::string_view text) {
  return text.size() > 80 ? std::string{text.substr(0, 80)} + "..." : std::string{text};
}

/// The members of a line. Its questions throw if a member is missing, of another type, or out of range.
class trace_line {
public:
  /// Throws `keel::error` with what is wrong in the text.
  explicit trace_line(std::string_view text) {
    if (auto const at = text.find('\0'); at != text.npos) // the parser takes it as the end
      throw error("info", "there is a zero byte at column " + std::to_string(at + 1));
    try {
      all_ = nlohmann::json::parse(text);
    } catch (nlohmann::json::parse_error const& e) {
      if (e.byte > text.size()) throw error("info", "the line ends early");
      throw error("info", "it is not JSON at column " + std::to_string(e.byte));
    } catch (nlohmann::json::exception const&) {
      throw error("info", "it is not JSON, a number is out of range");
    }
    if (!all_.is_object()) throw error("info", "it is not an object");
  }

  [[nodiscard]] bool has(char const* key) const { return all_.contains(key); }
  [[nodiscard]] std::string text(char const* key) const {
    auto const& held = get(key);
    if (!held.is_string()) throw error("info", key + std::string{" is not a text"});
    return held.get<std::string>();
  }
  /// The same, or an empty one if it is not there.
  [[nodiscard]] std::string text_if_there(char const* key) const { return has(key) ? text(key) : ""; }
  /// A whole number from 0 to `most`.
  [[nodiscard]] std::uint64_t count(char const* key, std::uint64_t most) const {
    auto const& held = get(key);
    if (!held.is_number_unsigned() || held.get<std::uint64_t>() > most)
      throw error("info", key + std::string{" is not a whole number from 0 to "} + std::to_string(most));
    return held.get<std::uint64_t>();
  }
  [[nodiscard]] int number(char const* key, int most = INT_MAX) const { return int(count(key, std::uint64_t(most))); }
  /// Microseconds, from 0 to 30 years.
  [[nodiscard]] double time(char const* key) const {
    auto const& held = get(key);
    double const n = held.is_number() ? held.get<double>() : -1;
    if (!(n >= 0 && n <= 1e15))
      throw error("info", key + std::string{" is not a number of microseconds from 0 to 1e15"});
    return n;
  }

private:
  [[nodiscard]] nlohmann::json const& get(char const* key) const {
    auto const found = all_.find(key);
    if (found == all_.end()) throw error("info", std::string{"it has no "} + key);
    return *found;
  }

  nlohmann::json all_;
};

} // namespace keel::info
