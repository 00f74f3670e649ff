// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How many bytes went where, by variable and region.

#include <keel/validity/transitions.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace keel::residency {

/// Bytes by region: core, rim, halo, walls.
using region_bytes = std::array<std::uint64_t, region_count>;

/// Which way bytes went: between host and devices, or between ranks (what this rank sent).
enum class way : std::uint8_t { to_host, to_device, to_neighbours };

/// Counters, raised only where copies are made.
class traffic {
public:
  struct counters {
    std::string name;
    std::array<region_bytes, 3> bytes{}; ///< by way and region
    std::uint64_t copies = 0;            ///< transfers between memories
  };

  [[nodiscard]] std::vector<counters> const& variables() const { return variables_; }

  /// Bytes that went one way, of one variable (its place in the list) or of all.
  [[nodiscard]] std::uint64_t bytes(way w, region r = region::everywhere, int variable = -1) const {
    std::uint64_t sum = 0;
    for (std::size_t v = 0; v < variables_.size(); ++v)
      if (variable < 0 || std::size_t(variable) == v)
        for (region one : single_regions)
          if (overlap(one, r)) sum += variables_[v].bytes[std::size_t(w)][std::size_t(index_of(one))];
    return sum;
  }
  /// Transfers between memories; one moves one or more regions of one level.
  [[nodiscard]] std::uint64_t copies() const {
    std::uint64_t sum = 0;
    for (counters const& c : variables_) sum += c.copies;
    return sum;
  }

  void add_variable(std::string name) { variables_.push_back({std::move(name), {}, 0}); }
  /// Forgets the variables behind the first ones.
  void keep(std::size_t first) {
    if (first < variables_.size()) variables_.erase(variables_.begin() + std::ptrdiff_t(first), variables_.end());
  }
  void add_bytes(int variable, way w, region where, region_bytes const& bytes) {
    auto& all = variables_[std::size_t(variable)].bytes[std::size_t(w)];
    for (std::size_t r = 0; r < all.size(); ++r)
      if ((std::uint8_t(where) >> r & 1U) != 0) all[r] += bytes[r];
  }
  void add_copy(int variable, way w, region where, region_bytes const& bytes) {
    ++variables_[std::size_t(variable)].copies;
    add_bytes(variable, w, where, bytes);
  }
  /// Adds what another one counted of the same variables, or takes that away.
  void add(traffic const& other, bool away = false) {
    auto const to = [&](std::uint64_t& mine, std::uint64_t theirs) { mine += away ? ~theirs + 1 : theirs; };
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      for (std::size_t w = 0; w < variables_[v].bytes.size(); ++w)
        for (std::size_t r = 0; r < region_count; ++r) to(variables_[v].bytes[w][r], other.variables_[v].bytes[w][r]);
      to(variables_[v].copies, other.variables_[v].copies);
    }
  }
  /// Sets all counters to zero.
  void reset() {
    for (counters& c : variables_) c.bytes = {}, c.copies = 0;
  }

private:
  std::vector<counters> variables_;
};

} // namespace keel::residency
