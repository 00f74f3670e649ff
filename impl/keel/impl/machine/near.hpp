// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ranks that are close to each other in the network.

#include <keel/machine/collectives.hpp>
#include <keel/machine/host.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
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

} // namespace keel::machine
