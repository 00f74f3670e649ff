// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the ranks of a program do together at its start: agree on mistakes, tell one another what they share, and go to
/// their places. All of it is collective, and sends bytes, so that little is compiled for each kind of ranks.

#include <keel/impl/device/bound_rank.hpp>
#include <keel/impl/device/neighbours.hpp>
#include <keel/impl/device/reading.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/reductions.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// The bytes of all ranks, of each equally many.
template <class Ranks>
[[nodiscard]] std::vector<char> bytes_of_all(machine::basic_environment<Ranks> const& ranks, void const* mine,
                                             std::size_t bytes) {
  std::vector<char> all(bytes * std::size_t(ranks.size()));
  if (ranks.is_member()) Ranks::all_gather(ranks.communicator(), mine, all.data(), bytes);
  return all;
}

/// Throws on all ranks if one reports a problem, and calls `before` first; only the first such rank prints it. Knobs
/// `alike` that differ between ranks are a problem, too.
template <class Environment, class F>
void agree(Environment const& all_ranks, std::string problem, F const& before, std::string_view prefix = {},
           std::string alike = {}) {
  std::size_t const mine = problem.empty() ? std::hash<std::string>{}(alike) | 1 : 0;
  auto const all = machine::all_gather(all_ranks, mine);
  auto bad = std::find(all.begin(), all.end(), std::size_t{0});
  if (bad == all.end()) {
    if (std::count(all.begin(), all.end(), mine) == std::ptrdiff_t(all.size())) return;
    alike.resize(1024);
    problem = disagreement(bytes_of_all(all_ranks, alike.data(), alike.size()), alike.size(), prefix);
    bad = all.begin();
  }
  before();
  throw error_of(problem, int(bad - all.begin()), all_ranks.rank());
}

/// The hardware threads that one at least of `ranks`, those of a node, may use.
template <class Environment>
[[nodiscard]] topology::id_set allowed_together(Environment const& ranks) {
  auto const own = own_bits();
  return threads_of_any(bytes_of_all(ranks, &own, sizeof own));
}

/// Binds each rank to its place, if that is asked for. Returns why this rank could not be bound; empty on success. If
/// only some ranks ask for it, all get the same error.
template <class Environment>
[[nodiscard]] std::string go(placed_rank& me, Environment const& all_ranks, std::string_view prefix,
                             common_settings const& common, own_node const& node) {
  bool const wanted = common.program.bind.place;
  if (!machine::any_of(all_ranks, wanted)) return {};
  auto const here = all_ranks.node();
  auto const own = own_bits();
  return me.go(machine::all_of(all_ranks, wanted), here.rank(), bytes_of_all(here, &own, sizeof own), prefix, common,
               node);
}

/// The first rank of each node notes where those of its node are, once all went.
template <class Environment>
void note_places(placed_rank const& me, Environment const& all_ranks, common_settings& common) {
  if (!me.place()) return;
  constexpr std::size_t length = 1024;
  std::string line = "rank " + std::to_string(all_ranks.rank()) + " is bound to " + me.text();
  line.resize(length);
  auto const here = all_ranks.node();
  auto const all = bytes_of_all(here, line.data(), length);
  if (here.rank() == 0) note_places(all, length, common);
}

/// What keel takes of each device where no knob says it.
template <class Environment>
void propose(std::span<changeable_knobs const> devices, Environment const& all_ranks, placed_rank const& placed,
             program_settings const& program, own_node const& node) {
  auto const here = all_ranks.node();
  auto const own = told_threads::own();
  propose(devices, here.rank(), bytes_of_all(here, &own, sizeof own), placed, program, node);
}

} // namespace keel::device
