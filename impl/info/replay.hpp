// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Follows the lines of one trace, and finds out why each copy was made and which repeat what was there. Shares no code
/// with the ledger that made the copies.

#include "trace_data.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace keel::info {

class replay {
public:
  void write(std::string const& variable, int component, int level, std::string_view where, std::string const& memory,
             std::string const& routine) {
    auto& cells = cells_of(variable, component, level);
    auto const written = regions_of(where);
    for (std::size_t r = 0; r < regions; ++r) {
      // The neighbours have written, too, so the ghosts that they own are stale.
      bool const is_spoiled = r == halo && (written[core] || written[rim]);
      if (written[r]) cells[r] = {{memory}, routine + " wrote it in " + memory};
      else if (is_spoiled) cells[r] = {};
    }
  }
  void rotate(std::string const& variable, int levels, std::string_view how) {
    for (auto& [key, all] : levels_) {
      if (key.first != variable) continue;
      std::map<int, level_cells> moved;
      for (auto& [level, cells] : all)
        if (auto const to = how == "rewind" ? long{level} - 1 : long{level} + 1; to >= 0 && to < levels)
          moved.emplace(int(to), std::move(cells));
        else if (how == "cycle_in_place" && to == levels) moved.emplace(0, std::move(cells));
      all = std::move(moved);
    }
  }
  /// `kept` has the former number of each component.
  void renumber(std::string const& variable, std::string const& kept) {
    std::map<int, std::map<int, level_cells>> moved;
    std::istringstream numbers(kept);
    std::string one;
    for (int c = 0; std::getline(numbers, one, ','); ++c)
      if (auto const was = levels_.find({variable, std::atoi(one.c_str())}); was != levels_.end())
        moved[c] = was->second;
    std::erase_if(levels_, [&](auto const& each) { return each.first.first == variable; });
    for (auto& [component, levels] : moved) levels_[{variable, component}] = std::move(levels);
  }
  /// Fills `why` and `repeated`.
  void copy(trace_event& e) {
    auto& cells = cells_of(e.variable, e.component, e.level);
    auto const where = regions_of(e.region);
    bool is_repeated = where[core] || where[rim] || where[halo];
    for (std::size_t r = 0; r < regions; ++r) {
      if (!where[r]) continue;
      auto& c = cells[r];
      if (!c.valid_in.contains(e.to)) {
        if (e.why.empty()) e.why = c.writer;
        is_repeated = false;
      }
      c.valid_in.insert({e.from, e.to});
    }
    if (e.why.empty() && !is_repeated) e.why = "not written since the trace began";
    if (is_repeated) e.why = "it was there already", e.repeated = e.bytes;
  }

private:
  enum : std::size_t { core, rim, halo, regions };
  struct cell {
    std::set<std::string> valid_in = {};
    std::string writer = {};
  };
  using level_cells = std::array<cell, regions>;

  level_cells& cells_of(std::string const& variable, int component, int level) {
    return levels_[{variable, component}][level];
  }
  /// By the names that keel gives to sets of regions. Walls are left out: a copy of the halo takes them along.
  static std::array<bool, regions> regions_of(std::string_view name) {
    auto const has = [&](std::string_view word) { return name.find(word) != name.npos; };
    bool const all = has("everywhere") || has("inside"), owned = all || has("owned");
    return {owned || has("core"), owned || has("rim"), all || has("halo") || has("ghosts")};
  }

  std::map<std::pair<std::string, int>, std::map<int, level_cells>> levels_; // by variable and component
};

} // namespace keel::info
