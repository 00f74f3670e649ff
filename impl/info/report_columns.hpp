// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Arrays of a report's JSON that grow by an item or a row at a time, and texts by number.

#include "json.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace keel::info::json {

/// A JSON array that grows, one item at a time.
class list {
public:
  void add(std::string_view item) { (text_ += text_.empty() ? "" : ",") += item; }
  void add(std::uint64_t item) { add(std::string_view{std::to_string(item)}); }
  [[nodiscard]] std::string text() const { return '[' + text_ + ']'; }

private:
  std::string text_;
};

/// The texts of a trace, each once. Rows hold their numbers, because a run has many events and few texts.
class report_texts {
public:
  [[nodiscard]] std::uint64_t number(std::string const& text) {
    auto const [at, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) all_.add(json_text(text));
    return at->second;
  }
  [[nodiscard]] std::string text() const { return all_.text(); }

private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  list all_;
};

/// Rows of numbers, as a JSON object with an array for each column.
template <std::size_t N>
class report_columns {
public:
  explicit report_columns(std::array<char const*, N> names) : names_(names) {}
  void add(std::array<std::uint64_t, N> const& row) {
    for (std::size_t c = 0; c < N; ++c) columns_[c].add(row[c]);
  }
  /// The members, without the braces.
  [[nodiscard]] std::string text() const {
    std::string made;
    for (std::size_t c = 0; c < N; ++c)
      made += (c == 0 ? "\"" : ", \"") + std::string{names_[c]} + "\": " + columns_[c].text();
    return made;
  }

private:
  std::array<char const*, N> names_;
  std::array<list, N> columns_;
};

} // namespace keel::info::json
