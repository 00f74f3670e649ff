// SPDX-License-Identifier: MIT
#include <keel/impl/machine/near.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace keel::machine {

KEEL_INLINE std::vector<int> closest(std::span<network_place const> places, int around, int n) {
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
