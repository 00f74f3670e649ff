// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ranks that are close to each other in the network, and those of a node that share a NUMA memory.

#include <keel/machine/collectives.hpp>
#include <keel/machine/host.hpp>
#include <keel/policy/macros.hpp>
#include <keel/topology/binding.hpp>
#include <keel/topology/node.hpp>
#include <keel/topology/placement.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace keel::machine {

/// Where a rank is in the network: the switches above its node, from the top, as
/// hashes of their names, all 0 if the launcher does not say; and its node, by the
/// first rank on it.
struct network_place {
  static constexpr std::size_t depth = 8;
  std::array<std::uint64_t, depth> switches{};
  int node = 0;

  /// From "top.middle.leaf.node", which Slurm gives in `SLURM_TOPOLOGY_ADDR`. The last part is the node.
  [[nodiscard]] static constexpr network_place parse(std::string_view address, int node) noexcept {
    network_place place;
    place.node = node;
    for (std::size_t level = 0; level != depth; ++level) {
      auto const dot = address.find('.');
      if (dot == std::string_view::npos) break;
      place.switches[level] = detail::hash(address.substr(0, dot));
      address.remove_prefix(dot + 1);
    }
    return place;
  }

  /// 0 on one node; else one more than the levels of switches between them.
  [[nodiscard]] constexpr int hops_to(network_place const& other) const noexcept {
    if (node == other.node) return 0;
    std::size_t same = 0;
    while (same != depth && switches[same] == other.switches[same]) ++same;
    return 1 + int(depth - same);
  }
};

/// `n` of the ranks at `places` that are close: all on one node if one has as many, the one of
/// `around` before others; else around `around`: its node, then by switches, then by the order of nodes. Named
/// in that order.
[[nodiscard]] std::vector<int> closest(std::span<network_place const> places, int around, int n);

namespace detail {

/// The places of simulated ranks: only their nodes, each called by its first rank.
template <SimulatedRanks R>
[[nodiscard]] std::vector<network_place> places_of(typename R::communicator const& c) {
  std::vector<network_place> places(std::size_t(R::size(c)));
  std::unordered_map<int, int> first_on;
  for (int r = 0; r != R::size(c); ++r)
    places[std::size_t(r)].node = first_on.try_emplace(R::node_of(c, r), r).first->second;
  return places;
}

} // namespace detail

template <Ranks R>
basic_environment<R> basic_environment<R>::near(int n) const
  requires(CommunicatingRanks<R> || SimulatedRanks<R>)
{
  first{n}.check(place_.extent);
  if (!is_member()) return {*this, first{n}};
  if constexpr (SimulatedRanks<R>) {
    return {*this, chosen(closest(detail::places_of<R>(comm_), master_rank(), n))};
  } else {
    auto const on_node = node();
    int node_number = rank();
    broadcast(on_node, node_number, 0);
    char const* const address = std::getenv("SLURM_TOPOLOGY_ADDR");
    auto const places = all_gather(*this, network_place::parse(address == nullptr ? "" : address, node_number));
    return {*this, chosen(closest(places, master_rank(), n))};
  }
}

inline std::vector<int> closest(std::span<network_place const> places, int around, int n) {
  auto const at = [&](int rank) -> network_place const& { return places[std::size_t(rank)]; };
  int const ranks = int(places.size());
  std::vector<int> ranks_on(places.size()); // by the number of the node, which is its first rank
  for (auto const& p : places) ++ranks_on[std::size_t(p.node)];
  auto const fits = [&](int rank) { return ranks_on[std::size_t(at(rank).node)] >= n; };
  int centre = around;
  for (int r = 0; r != ranks && !fits(centre); ++r)
    if (fits(r)) centre = r;
  std::vector<int> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  auto const farness = [&](int r) {
    int const onward = (at(r).node - at(centre).node + ranks) % ranks;
    return std::tuple{at(centre).hops_to(at(r)), onward};
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return farness(a) < farness(b); });
  order.resize(std::size_t(n));
  return order;
}

/// The cores, memory and device of a rank: the `rank`-th of `size` on this node. If the
/// launcher bound it to some of the cores, those and what is nearest to them; else what placing all over the node
/// gives. No communication.
[[nodiscard]] topology::placement place_on(topology::node const& on, int rank, int size);

template <Ranks R>
template <class Node>
basic_environment<R> basic_environment<R>::by_memory(Node const& on) const
  requires(CommunicatingRanks<R> || SimulatedRanks<R>)
{
  if (!is_member()) return non_member();
  auto const ranks_here = node();
  if constexpr (SimulatedRanks<R>) {
    auto const places = on.place(ranks_here.size());
    return ranks_here.split([&](int rank) { return std::max(0, places[std::size_t(rank)].memory); });
  } else {
    int const memory = place_on(on, ranks_here.rank(), ranks_here.size()).memory;
    return ranks_here.split(memory < 0 ? 0 : memory);
  }
}

template <Ranks R>
basic_environment<R> basic_environment<R>::by_memory() const
  requires(CommunicatingRanks<R> || SimulatedRanks<R>)
{
  return by_memory(topology::node::here());
}

inline topology::placement place_on(topology::node const& on, int rank, int size) {
  auto place = on.place(size)[std::size_t(rank)];
  auto const bound = topology::bound_cores(on);
  if (bound.empty() || bound.size() == on.cores().size()) return place;
  place.cores = bound;
  int const first = *bound.begin();
  std::optional<int> least;
  for (auto const& m : on.memories()) {
    if (m.type != topology::memory_type::dram) continue;
    int const steps = on.distance_to_memory(first, m.id);
    if (least && *least <= steps) continue;
    least = steps;
    place.memory = m.id;
  }
  return place;
}

} // namespace keel::machine
