// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// One line of a trace: a flat JSON object of texts and numbers, read by nlohmann-json.

#include "shown.hpp"

#include <keel/policy/error.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace keel::info {

/// The members of a line. Its questions throw if a member is missing, of another type, or out of range.
class trace_line {
public:
  /// Throws `keel::error` with what is wrong in the text.
  [[nodiscard]] static trace_line parse(std::string_view text) {
    if (auto const at = text.find('\0'); at != text.npos)
      refuse("there is a zero byte at column " + std::to_string(at + 1));
    trace_line made;
    events into{made.members_, text.size()};
    nlohmann::json::sax_parse(text, &into);
    return made;
  }

  [[nodiscard]] bool has(std::string const& key) const { return members_.contains(key); }
  [[nodiscard]] std::string const& text(std::string const& key) const {
    auto const* const held = std::get_if<std::string>(&get(key));
    if (held == nullptr) refuse(key + " is not a text");
    return *held;
  }
  /// A whole number from 0 to `most`.
  [[nodiscard]] std::uint64_t count(std::string const& key, std::uint64_t most) const {
    auto const* const held = std::get_if<std::uint64_t>(&get(key));
    if (held == nullptr || *held > most) refuse(key + " is not a whole number from 0 to " + std::to_string(most));
    return *held;
  }
  /// Microseconds, from 0 to 30 years.
  [[nodiscard]] double time(std::string const& key) const {
    value const& held = get(key);
    auto const* const whole = std::get_if<std::uint64_t>(&held);
    auto const* const other = std::get_if<double>(&held);
    double const n = whole != nullptr ? double(*whole) : other != nullptr ? *other : -1;
    if (!(n >= 0 && n <= 1e15)) refuse(key + " is not a number of microseconds from 0 to 1e15");
    return n;
  }

private:
  using value = std::variant<std::string, std::uint64_t, double>;
  using members = std::map<std::string, value, std::less<>>;

  [[noreturn]] static void refuse(std::string const& why) { throw error("info", why); }
  [[nodiscard]] value const& get(std::string const& key) const {
    auto const found = members_.find(key);
    if (found == members_.end()) refuse("it has no " + key);
    return found->second;
  }

  // The parser's callbacks.
  struct events {
    members& into;
    std::size_t length;
    std::string key_ = {};
    bool is_inside = false;

    bool keep(value v) {
      if (!is_inside) refuse("it is not an object");
      if (!into.emplace(key_, std::move(v)).second) refuse(shown(key_) + " stands there twice");
      return true;
    }
    bool neither() { refuse(is_inside ? shown(key_) + " is neither a text nor a number" : "it is not an object"); }
    bool null() { return neither(); }
    bool boolean(bool) { return neither(); }
    bool number_integer(std::int64_t n) { return keep(double(n)); } // a negative one
    bool number_unsigned(std::uint64_t n) { return keep(n); }
    bool number_float(double n, std::string const&) { return keep(n); }
    bool string(std::string& text) { return keep(std::move(text)); }
    bool binary(nlohmann::json::binary_t&) { return neither(); }
    bool start_object(std::size_t) {
      if (is_inside) neither();
      return is_inside = true;
    }
    bool end_object() { return true; }
    bool start_array(std::size_t) { return neither(); }
    bool end_array() { return true; }
    bool key(std::string& name) {
      key_ = std::move(name);
      return true;
    }
    bool parse_error(std::size_t position, std::string const& last, nlohmann::json::exception const&) {
      if (position > length) refuse("the line ends early");
      refuse("it is not JSON at column " + std::to_string(position) + ", in " + shown(last));
    }
  };

  members members_;
};

} // namespace keel::info
