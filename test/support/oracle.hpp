// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How many bytes a program has to move between memories, found without a state machine: every
/// write makes a version, every version remembers who needed it, and the bill is made at the
/// end. Includes no header of keel's; memory 0 is the host's.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oracle {

/// Bits of a set of regions.
enum : unsigned { core = 1, rim = 2, ghosts = 4, owned = core | rim, everywhere = 15, walls = 8 };
/// Regions that are told apart: core, rim, the ghosts that neighbours fill, and the walls.
inline constexpr int regions = 4;

struct variable {
  int levels = 1;
  std::array<std::uint64_t, regions> bytes{}; ///< of one level, by region
};

/// What a routine does to one level of a variable.
struct access {
  int variable = 0, level = 0;
  unsigned needs = 0;   ///< regions that have to be right where it runs
  unsigned changes = 0; ///< regions that it writes
};

/// Bytes by variable and region.
using bytes_table = std::vector<std::array<std::uint64_t, regions>>;
struct bill {
  bytes_table to_host, to_device;
  [[nodiscard]] static std::uint64_t sum(bytes_table const& t) {
    std::uint64_t all = 0;
    for (auto const& v : t) all += v[0] + v[1] + v[2] + v[3];
    return all;
  }
  [[nodiscard]] std::uint64_t host_bytes() const { return sum(to_host); }
  [[nodiscard]] std::uint64_t device_bytes() const { return sum(to_device); }
};

/// The events of a program, in order. Accesses to what was never written, was cycled away, or
/// are ghosts of what has changed since, are mistakes: `can` says so, and nothing else asks.
class program {
public:
  explicit program(std::vector<variable> variables) : variables_(std::move(variables)) {
    for (variable const& v : variables_)
      live_.emplace_back(std::size_t(v.levels), std::array<int, regions>{-1, -1, -1, -1});
  }

  /// Whether all that the accesses need exists.
  [[nodiscard]] bool can(std::vector<access> const& list) const {
    for (access const& a : list)
      for (int r = 0; r < regions; ++r)
        if ((a.needs >> r & 1) != 0 && has_bytes(a.variable, r) && at(a, r) < 0) return false;
    return true;
  }
  /// The version of a region that is alive, a number of its own for each write; -1 where none is.
  [[nodiscard]] int version(int variable, int level, int region) const {
    return live_[std::size_t(variable)][std::size_t(level)][std::size_t(region)];
  }

  /// The memories that hold it, a bit for each; 0 where none is alive.
  [[nodiscard]] unsigned held(int variable, int level, int region) const {
    int const alive = version(variable, level, region);
    return alive < 0 ? 0 : places(versions_[std::size_t(alive)]);
  }
  /// Goes on from a state that no event led to: a region that just these memories hold.
  void place(int variable, int level, int region, unsigned memories) {
    live_[std::size_t(variable)][std::size_t(level)][std::size_t(region)] =
        memories == 0 ? -1 : make(variable, region, memories);
  }

  /// A routine in memory `where`.
  void run(int where, std::vector<access> const& list) {
    for (access const& a : list)
      for (int r = 0; r < regions; ++r)
        if ((a.needs >> r & 1) != 0 && at(a, r) >= 0) versions_[std::size_t(at(a, r))].needed_in |= 1U << where;
    for (access const& a : list)
      for (int r = 0; r < regions; ++r) {
        bool const is_changed = (a.changes >> r & 1) != 0;
        if (is_changed) at(a, r) = make(a.variable, r, 1U << where);
        else if (r == 2 && (a.changes & owned) != 0) at(a, r) = -1; // the neighbours changed too
      }
  }
  /// What a routine wrote, and failed: it is nowhere.
  void lose(std::vector<access> const& list) {
    for (access const& a : list)
      for (int r = 0; r < regions; ++r)
        if ((a.changes >> r & 1) != 0 || (r == 2 && (a.changes & owned) != 0)) at(a, r) = -1;
  }
  /// Rims are read in a memory, ghosts written there.
  void exchange(std::vector<access> list, int where = 0) {
    for (access& a : list) a.needs = rim, a.changes = ghosts;
    run(where, list);
  }
  /// The levels move into the past.
  void cycle(int variable) {
    auto& levels = live_[std::size_t(variable)];
    if (levels.size() == 1) return;
    for (std::size_t l = levels.size() - 1; l > 0; --l) levels[l] = levels[l - 1];
    levels[0] = {-1, -1, -1, -1};
  }
  /// The same, and the oldest becomes the current one.
  void cycle_in_place(int variable) {
    auto& levels = live_[std::size_t(variable)];
    auto const oldest = levels.back();
    levels.pop_back();
    levels.insert(levels.begin(), oldest);
  }
  /// The levels come back; the current one becomes the oldest and is lost.
  void rewind(int variable) {
    auto& levels = live_[std::size_t(variable)];
    if (levels.size() == 1) return;
    levels.erase(levels.begin());
    levels.push_back({-1, -1, -1, -1});
  }
  /// Level 1 is copied to level 0 in each memory that has it by now.
  void copy_from_past(int variable) {
    for (int r = 0; r < regions; ++r) {
      int const past = version(variable, 1, r);
      live_[std::size_t(variable)][0][std::size_t(r)] =
          past < 0 ? -1 : make(variable, r, places(versions_[std::size_t(past)]));
    }
  }

  /// What had to move: each version once to each memory that needed it and was not its writer's;
  /// what goes from one device to another touches the host on its way.
  [[nodiscard]] bill make_bill() const {
    bill b{bytes_table(variables_.size()), bytes_table(variables_.size())};
    for (version_record const& v : versions_) {
      std::uint64_t const bytes = variables_[std::size_t(v.variable)].bytes[std::size_t(v.region)];
      unsigned const missing = places(v) & ~v.made_in;
      if ((missing & 1U) != 0) b.to_host[std::size_t(v.variable)][std::size_t(v.region)] += bytes;
      b.to_device[std::size_t(v.variable)][std::size_t(v.region)] += bytes * unsigned(std::popcount(missing >> 1));
    }
    return b;
  }

private:
  struct version_record {
    int variable, region;
    unsigned made_in, needed_in;
  };

  [[nodiscard]] bool has_bytes(int variable, int region) const {
    return variables_[std::size_t(variable)].bytes[std::size_t(region)] != 0;
  }
  [[nodiscard]] int& at(access const& a, int r) {
    return live_[std::size_t(a.variable)][std::size_t(a.level)][std::size_t(r)];
  }
  [[nodiscard]] int at(access const& a, int r) const { return version(a.variable, a.level, r); }
  int make(int variable, int region, unsigned where) {
    versions_.push_back({variable, region, where, 0});
    return int(versions_.size()) - 1;
  }
  // Every memory that holds the version in the end.
  [[nodiscard]] static unsigned places(version_record const& v) {
    unsigned const all = v.made_in | v.needed_in;
    bool const host_had_it = (v.made_in & 1U) != 0;
    return !host_had_it && (v.needed_in & ~v.made_in) != 0 ? all | 1U : all;
  }

  std::vector<variable> variables_;
  std::vector<std::vector<std::array<int, regions>>> live_; // by variable, level, region: a version or -1
  std::vector<version_record> versions_;
};

} // namespace oracle
