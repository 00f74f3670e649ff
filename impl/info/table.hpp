// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Rows of text with their columns one below the other.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace keel::info {

using row = std::vector<std::string>;

/// Each row on a line of its own, two blanks before and between; empty without a row below the head.
inline std::string aligned(std::vector<row> const& rows) {
  std::vector<std::size_t> width;
  for (auto const& r : rows)
    for (std::size_t c = 0; c < r.size(); ++c) {
      width.resize(std::max(width.size(), c + 1));
      width[c] = std::max(width[c], r[c].size());
    }
  std::string text;
  if (rows.size() < 2) return text;
  for (auto const& r : rows) {
    std::string line;
    for (std::size_t c = 0; c < r.size(); ++c) line += "  " + r[c] + std::string(width[c] - r[c].size(), ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

} // namespace keel::info
