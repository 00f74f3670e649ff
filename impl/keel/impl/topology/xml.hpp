// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading XML without believing it.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace keel::topology::detail {

inline constexpr std::size_t xml_depth_max = 64; ///< the deepest seen is 14

/// One element at a time, no tree, no entity of its own.
///
/// Refuses text outside of elements, unbalanced or too deep elements, an attribute that is there
/// twice, a document type that is not hwloc's (entities grow), and anything after the end. Refuses also what
/// hwloc's own reader takes for something else: an attribute whose name or value that reader does not take, because it
/// loses those after it, and a header or a comment that contains an element, because it skips a header's line.
class xml_scanner {
public:
  struct attribute {
    std::string_view name, value;
  };
  enum class token { open, close, end, wrong };

  explicit xml_scanner(std::string_view text) : rest_(text) {}

  /// The next element's start or end; an empty element gives both.
  token next() {
    if (!why_.empty()) return token::wrong;
    if (closing_) {
      closing_ = false;
      open_.pop_back();
      return token::close;
    }
    for (;;) {
      auto const at = rest_.find('<');
      if (at == rest_.npos) {
        if (!open_.empty()) return wrong("<" + std::string{open_.back()} + "> does not end");
        return blank(rest_) ? token::end : wrong("there is text after the end");
      }
      if (open_.empty() && !blank(rest_.substr(0, at))) return wrong("there is text outside of the elements");
      rest_.remove_prefix(at);
      if (rest_.starts_with("<?")) {
        rest_.remove_prefix(2);
        if (!skip("?>")) return wrong("<? does not end, or contains an element");
      } else if (rest_.starts_with("<!--")) {
        rest_.remove_prefix(4);
        if (!skip("-->")) return wrong("a comment does not end, or contains an element");
      } else if (rest_.starts_with("<!DOCTYPE")) {
        auto const type = rest_.substr(0, rest_.find('>') + 1);
        if (begun_ || !type.starts_with("<!DOCTYPE topology SYSTEM \"hwloc") || !type.ends_with(".dtd\">") ||
            type.size() > 48)
          return wrong("its document type is not hwloc's");
        rest_.remove_prefix(type.size());
      } else if (rest_.starts_with("</")) {
        return close();
      } else {
        return open();
      }
    }
  }

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::size_t depth() const { return open_.size(); } ///< of the element just opened: 1 is the root
  [[nodiscard]] std::string_view parent() const { return open_.size() < 2 ? "" : open_[open_.size() - 2]; }
  [[nodiscard]] std::string const& why() const { return why_; }
  /// The value of an attribute of the element just opened; empty if it has none of that name.
  [[nodiscard]] std::string_view value(std::string_view name) const {
    auto const found = std::find_if(attributes_.begin(), attributes_.end(), [&](auto& a) { return a.name == name; });
    return found == attributes_.end() ? std::string_view{} : found->value;
  }
  [[nodiscard]] std::vector<attribute> const& attributes() const { return attributes_; }
  [[nodiscard]] bool has(std::string_view name) const {
    return std::any_of(attributes_.begin(), attributes_.end(), [&](auto& a) { return a.name == name; });
  }

private:
  static bool blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }
  static bool attribute_character(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
  static bool name_character(char c) {
    return attribute_character(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }
  /// Whether hwloc's own reader takes an attribute's value whole.
  static bool is_value(std::string_view text) {
    for (auto at = text.find_first_of("<>&"); at != text.npos; at = text.find_first_of("<>&", at + 1)) {
      auto const rest = text.substr(at);
      if (std::none_of(std::begin(entities), std::end(entities), [&](auto known) { return rest.starts_with(known); }))
        return false;
    }
    return true;
  }

  token wrong(std::string why) {
    why_ = std::move(why);
    return token::wrong;
  }
  /// Goes past the next `what`, if no element begins before it.
  bool skip(std::string_view what) {
    auto const at = rest_.find(what);
    if (at == rest_.npos || rest_.find('<') < at) return false;
    rest_.remove_prefix(at + what.size());
    return true;
  }
  std::string_view take_name(bool (*is_part)(char) = name_character) {
    std::size_t n = 0;
    while (n < rest_.size() && is_part(rest_[n])) ++n;
    auto const taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  // In an element. A carriage return is none there: hwloc's own reader loses the attribute after it.
  void take_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

  token close() {
    rest_.remove_prefix(2);
    name_ = take_name();
    take_blanks();
    if (open_.empty() || open_.back() != name_ || !rest_.starts_with('>'))
      return wrong("</" + std::string{name_} + "> ends nothing that is open");
    rest_.remove_prefix(1);
    open_.pop_back();
    return token::close;
  }

  token open() {
    rest_.remove_prefix(1);
    name_ = take_name();
    attributes_.clear();
    if (name_.empty()) return wrong("an element has no name");
    if (open_.empty() && begun_) return wrong("it has two roots");
    open_.push_back(name_);
    begun_ = true;
    if (open_.size() > xml_depth_max)
      return wrong("its elements are nested more than " + std::to_string(xml_depth_max) + " deep");
    for (;;) {
      auto const before = rest_.size();
      take_blanks();
      if (rest_.starts_with('>')) {
        rest_.remove_prefix(1);
        return token::open;
      }
      if (rest_.starts_with("/>")) {
        rest_.remove_prefix(2);
        closing_ = true;
        return token::open;
      }
      if (before == rest_.size()) return wrong("<" + std::string{name_} + " is malformed");
      auto const key = take_name(attribute_character);
      if (key.empty() || !rest_.starts_with("=\"") || has(key))
        return wrong("an attribute of <" + std::string{name_} + "> is malformed or there twice");
      rest_.remove_prefix(2);
      auto const end = rest_.find('"');
      if (end == rest_.npos) return wrong("an attribute of <" + std::string{name_} + "> does not end");
      attributes_.push_back({key, rest_.substr(0, end)});
      if (!is_value(attributes_.back().value) || attributes_.size() > 64)
        return wrong("an attribute of <" + std::string{name_} + "> is malformed");
      rest_.remove_prefix(end + 1);
    }
  }

  static constexpr std::string_view entities[]{"&#10;", "&#13;", "&#9;", "&quot;", "&lt;", "&gt;", "&amp;"};

  std::string_view rest_, name_;
  std::vector<std::string_view> open_;
  std::vector<attribute> attributes_;
  std::string why_;
  bool closing_ = false, begun_ = false;
};

} // namespace keel::topology::detail
