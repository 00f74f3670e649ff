// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading one line of JSON that holds a flat object of texts and numbers.

#include <keel/policy/error.hpp>

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace keel::info {

/// An object whose members are texts and numbers. Its questions throw where a member is missing or another thing.
class flat_object {
public:
  using value = std::variant<std::string, double>;

  /// Throws `keel::error` with what is wrong in the line, and at which column.
  [[nodiscard]] static flat_object parse(std::string_view line) {
    flat_object made;
    reader r{line};
    r.want('{');
    if (!r.has('}')) {
      do {
        std::string key = r.text();
        r.want(':');
        if (!made.members_.emplace(key, r.peek() == '"' ? value(r.text()) : value(r.number())).second) r.refuse(key + " stands there twice");
      } while (r.has(','));
      r.want('}');
    }
    if (r.peek() != '\0') r.refuse("something follows the object");
    return made;
  }

  [[nodiscard]] bool has(std::string const& key) const { return members_.contains(key); }
  [[nodiscard]] std::string const& text(std::string const& key) const { return get<std::string>(key, "a text"); }
  [[nodiscard]] double number(std::string const& key) const { return get<double>(key, "a number"); }

private:
  template <class T>
  [[nodiscard]] T const& get(std::string const& key, char const* what) const {
    auto const found = members_.find(key);
    if (found == members_.end()) throw error("info", "it has no " + key);
    T const* const held = std::get_if<T>(&found->second);
    if (held == nullptr) throw error("info", key + " is not " + what);
    return *held;
  }

  struct reader {
    std::string_view line;
    std::size_t at = 0;

    [[noreturn]] void refuse(std::string const& why) const { throw error("info", why + ", at column " + std::to_string(at + 1)); }
    [[nodiscard]] char peek() {
      while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) ++at;
      return at < line.size() ? line[at] : '\0';
    }
    [[nodiscard]] bool has(char c) {
      bool const there = peek() == c;
      at += there;
      return there;
    }
    void want(char c) {
      if (has(c)) return;
      refuse(peek() == '\0' ? std::string("the line ends early") : std::string("'") + c + "' is missing");
    }
    [[nodiscard]] std::string text() {
      want('"');
      std::string out;
      for (;;) {
        if (at >= line.size()) refuse("the line ends early");
        char const c = line[at++];
        if (c == '"') return out;
        out += c == '\\' ? escaped() : c;
      }
    }
    // What keel writes: a quote, a backslash, or a control character as \u00xx.
    [[nodiscard]] char escaped() {
      if (at >= line.size()) refuse("the line ends early");
      char const c = line[at++];
      if (c == '"' || c == '\\' || c == '/') return c;
      unsigned code = 0x100;
      if (c == 'u' && at + 4 <= line.size()) std::from_chars(line.data() + at, line.data() + at + 4, code, 16);
      if (code > 0x7f) refuse("this escape is not read");
      at += 4;
      return static_cast<char>(code);
    }
    [[nodiscard]] double number() {
      if (peek() == '\0') refuse("the line ends early");
      double n = 0;
      auto const [end, problem] = std::from_chars(line.data() + at, line.data() + line.size(), n);
      if (problem != std::errc{}) refuse("neither a text nor a number");
      at = std::size_t(end - line.data());
      return n;
    }
  };

  std::map<std::string, value> members_;
};

} // namespace keel::info
