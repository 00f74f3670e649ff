// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ways of an exchange, timed in turns in one run.

#include "../medians.hpp"
#include "cut.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace bench {

inline double longest(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

/// Microseconds of one exchange, `calls` of them together, on the slowest rank.
inline double measured(way const& w, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  auto const begun = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) w.exchange();
  Kokkos::fence();
  return longest(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count() / calls);
}

class table {
public:
  explicit table(int turns) : turns_(turns) {}

  /// A row: keel, which is the first, beside the fastest of some peers, which follow; then what is no peer.
  void row(std::string const& what, std::vector<way> const& ways, std::size_t peers) {
    std::vector<std::vector<double>> times(ways.size());
    double once = 0;
    for (way const& w : ways) w.exchange(), once = std::max(once, measured(w, 3));
    int const calls = std::clamp(int(2000 / once), 1, 200);
    for (int turn = 0; turn < turns_; ++turn)
      for (std::size_t k = 0; k < ways.size(); ++k) { // who goes first takes turns, too
        std::size_t const n = (k + std::size_t(turn)) % ways.size();
        times[n].push_back(measured(ways[n], calls));
      }
    std::size_t best = 1;
    for (std::size_t n = 2; n <= peers; ++n)
      if (median(times[n]) < median(times[best])) best = n;
    std::vector<double> quotients(times[0]);
    for (std::size_t t = 0; t < quotients.size(); ++t) quotients[t] /= times[best][t];
    if (my_rank() != 0) return;
    if (std::string head = head_of(ways); head != head_) std::printf("%s\n", (head_ = head).c_str());
    std::printf("%-34s %10.2f %10.2f %8.3f", what.c_str(), median(times[best]), median(times[0]), median(quotients));
    for (std::size_t n = 1; n < ways.size(); ++n) std::printf(" %10.2f", median(times[n]));
    std::printf("\n");
    std::fflush(stdout);
  }

  /// All ways bring the same numbers.
  static void check(std::vector<way> const& ways) {
    for (way const& w : ways) w.exchange();
    auto const wanted = ways[0].array();
    for (way const& w : ways)
      if (longest(w.array && w.array() != wanted ? 1 : 0) > 0)
        throw std::runtime_error("bench-ways: " + w.name + " and keel differ.");
  }

private:
  [[nodiscard]] std::string head_of(std::vector<way> const& ways) const {
    char line[256];
    std::snprintf(line, sizeof line, "%-34s %10s %10s %8s",
                  (std::to_string(all_ranks()) + " ranks, microseconds").c_str(), "best", "keel", "keel/best");
    std::string head = line;
    for (std::size_t n = 1; n < ways.size(); ++n)
      head += std::string(11 - std::min<std::size_t>(10, ways[n].name.size()), ' ') + ways[n].name;
    return head;
  }

  int turns_;
  std::string head_ = {};
};

} // namespace bench
