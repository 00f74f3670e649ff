// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Taking knobs out of JSON (RFC 8259): an object of knobs, in which an object named by a device holds those of that
/// device; or what `--keel-print-configuration=json` has printed.

#include <keel/impl/device/file_knobs.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::device::detail {

/// Reads no more of JSON than a configuration can be: objects of texts, numbers and answers.
class json_config {
public:
  json_config(option_names const& names, std::string const& path, std::string_view text)
      : names_(names), path_(path), text_(text), knobs_(names) {}

  [[nodiscard]] std::vector<assignment> take() {
    members([&](std::string const& key) {
      if (key == "knobs" && peek() == '[') return elements([&] { printed_knob(); });
      if (std::string const at = place(); peek() != '{') return knobs_.add(at, {}, key, value());
      knobs_.check_section(place(), key);
      members([&](std::string const& own) {
        std::string const at = place();
        knobs_.add(at, key, own, value());
      });
    });
    if (peek() != '\0') refuse("something follows the last }");
    return std::move(knobs_.found);
  }

private:
  /// One of those that keel prints. What no source has set is what keel proposed there, so it is left out; so is the
  /// file that the printing program read.
  void printed_knob() {
    std::string const at = place(), prefix = option_prefix(names_.prefix);
    std::string option, variable, device, text, source;
    members([&](std::string const& key) {
      std::string* const into = key == "option"     ? &option
                                : key == "variable" ? &variable
                                : key == "device"   ? &device
                                : key == "value"    ? &text
                                : key == "source"   ? &source
                                                    : nullptr;
      if (into == nullptr) refuse("'" + key + "' is no part of a knob");
      if (!(into == &device && word("null"))) *into = value();
    });
    if (!option.starts_with(prefix))
      refuse("the option is '" + option + "', and those of this program begin with " + prefix);
    auto const key = option.substr(prefix.size());
    if (source != "unset" && key != "config") knobs_.add(at, device, key, std::move(text));
  }

  [[noreturn]] void refuse(std::string const& why) const {
    throw error("device", place() + "this is not a configuration", why,
                R"(Write {"num-threads": 4, "tbb": {"num-threads": 2}})");
  }
  [[nodiscard]] std::string place() const {
    auto const begun = text_.substr(0, at_);
    return path_ + ":" + std::to_string(1 + std::count(begun.begin(), begun.end(), '\n')) + ": ";
  }

  /// The next character behind blanks; 0 at the end.
  char peek() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool next(char c) { return peek() == c && (++at_, true); }
  void expect(char c) {
    if (!next(c)) refuse(std::string{"a "} + c + " is missing");
  }
  bool word(std::string_view w) {
    (void)peek();
    return text_.substr(at_).starts_with(w) && (at_ += w.size(), true);
  }

  template <class F>
  void elements(F const& f) {
    expect('[');
    if (next(']')) return;
    do f();
    while (next(','));
    expect(']');
  }
  template <class F>
  void members(F const& f) {
    expect('{');
    if (next('}')) return;
    do {
      std::string const key = string();
      expect(':');
      f(key);
    } while (next(','));
    expect('}');
  }

  /// A text, a number as it is written, or an answer.
  std::string value() {
    if (peek() == '"') return string();
    for (std::string_view const answer : {"true", "false"})
      if (word(answer)) return std::string{answer};
    auto const end = std::min(text_.find_first_not_of("-+.0123456789eE", at_), text_.size());
    std::string number{text_.substr(at_, end - at_)};
    if (number.empty()) refuse("a value is missing, or is neither a text, a number, true nor false");
    at_ = end;
    return number;
  }

  std::string string() {
    expect('"');
    std::string made;
    for (;;) {
      if (at_ == text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) refuse("a text has no \" at its end");
      char const c = text_[at_++];
      if (c == '"') return made;
      if (c != '\\') {
        made += c;
        continue;
      }
      constexpr std::string_view escapes = "\"\\/bfnrtu", meant = "\"\\/\b\f\n\r\t";
      auto const which = at_ < text_.size() ? escapes.find(text_[at_++]) : escapes.npos;
      if (which == escapes.npos) refuse("a \\ stands before a character that it does not change");
      if (which < meant.size()) made += meant[which];
      else append(made, character());
    }
  }

  /// The character behind \u, which may be two of them together.
  unsigned character() {
    unsigned const first = four_digits();
    if (first < 0xd800 || first > 0xdfff) return first;
    bool const goes_on = first < 0xdc00 && text_.substr(at_).starts_with("\\u");
    unsigned const second = goes_on ? (at_ += 2, four_digits()) : 0;
    if (second < 0xdc00 || second > 0xdfff) refuse("half a character stands alone");
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }
  unsigned four_digits() {
    unsigned number = 0;
    auto const digits = text_.substr(at_, 4);
    auto const* const end = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
    if (digits.size() < 4 || end != digits.data() + 4) refuse("\\u has no four digits");
    if (number == 0) refuse("a text has a zero");
    at_ += 4;
    return number;
  }
  /// As UTF-8.
  static void append(std::string& made, unsigned c) {
    int const more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    constexpr unsigned heads[] = {0, 0xc0, 0xe0, 0xf0};
    made += char(heads[more] | c >> 6 * more);
    for (int i = more - 1; i >= 0; --i) made += char(0x80U | (c >> 6 * i & 0x3fU));
  }

  option_names const& names_;
  std::string const& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  file_knobs knobs_;
};

} // namespace keel::device::detail
