// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Elements of HTML, tables and numbers with units.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keel::info {

inline std::string escaped(std::string_view text) {
  std::string made;
  for (char const c : text) {
    if (c == '&') made += "&amp;";
    else if (c == '<') made += "&lt;";
    else if (c == '"') made += "&quot;";
    else made += c;
  }
  return made;
}

/// `<tag attributes>inside</tag>`; what is inside is HTML.
inline std::string element(std::string const& tag_and_attributes, std::string const& inside) {
  return '<' + tag_and_attributes + '>' + inside + "</" + tag_and_attributes.substr(0, tag_and_attributes.find(' ')) +
         '>';
}

/// As printf does it.
template <class... Numbers>
std::string printed(char const* format, Numbers... numbers) {
  char text[256];
  std::snprintf(text, sizeof text, format, numbers...);
  return text;
}

/// In the largest of these units that leaves at least one, with four digits.
inline std::string in_units(double value, std::initializer_list<char const*> units, double step = 1000) {
  auto unit = units.begin();
  for (; std::abs(value) >= step && unit + 1 != units.end(); ++unit) value /= step;
  auto const text = unit == units.begin() ? printed("%.0f", value) : printed("%#.4g", value);
  return text.substr(0, text.find_last_not_of('.') + 1) + ' ' + *unit;
}
inline std::string bytes_text(double bytes) { return in_units(bytes, {"B", "kB", "MB", "GB", "TB", "PB", "EB"}); }
inline std::string time_text(double microseconds) {
  return microseconds == 0 ? "0" : in_units(microseconds * 1000, {"ns", "µs", "ms", "s"});
}

struct cell {
  std::string shown;
  std::optional<double> number = {}; ///< by which it is sorted
};
inline cell cell_of_bytes(std::uint64_t n) { return {bytes_text(double(n)), double(n)}; }
inline cell cell_of_time(double microseconds) { return {time_text(microseconds), microseconds}; }
inline cell cell_of(std::uint64_t n) { return {std::to_string(n), double(n)}; }

/// A table that scripts sort, of the first 1000 rows, because a browser takes seconds to lay out a hundred thousand.
inline std::string table(std::string const& of, std::vector<char const*> const& heads,
                         std::vector<std::vector<cell>> const& rows) {
  std::size_t const most = 1000;
  std::string head, body;
  for (std::size_t i = 0; i < heads.size(); ++i)
    head += element(!rows.empty() && rows[0][i].number ? "th scope=\"col\" class=\"number\"" : "th scope=\"col\"",
                    heads[i]);
  for (std::size_t n = 0; n < std::min(most, rows.size()); ++n) {
    std::string cells;
    for (cell const& c : rows[n])
      cells += element(c.number              ? printed("td class=\"number\" data-value=\"%.17g\"", *c.number)
                       : c.shown.size() > 40 ? "td class=\"long\""
                                             : "td",
                       escaped(c.shown));
    body += element("tr", cells) + '\n';
  }
  if (rows.empty()) return "<p>Nothing.</p>";
  return (rows.size() <= most ? ""
                              : element("p", "The first " + std::to_string(most) + " of " +
                                                 std::to_string(rows.size()) + " rows; keel-info trace has all.")) +
         element("div class=\"table\" tabindex=\"0\" data-of=\"" + of + '"',
                 element("table", element("thead", element("tr", head)) + element("tbody", body)));
}

} // namespace keel::info
