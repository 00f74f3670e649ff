// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a sparse exchange must keep over any model of `CommunicatingRanks`, with `exchange_sparse` or without.

#include <keel/machine/sparse.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace keel::laws {

/// Who sends to whom in a round, and how much: the same on all ranks, and often to none.
inline int items_sent(int round, int from, int to) {
  auto const mixed =
      (std::uint32_t(round) * 7919U + std::uint32_t(from) * 104'729U + std::uint32_t(to)) * 2'654'435'761U;
  return mixed >> 30 == 0 ? -1 : int(mixed >> 20 & 1023U) * int(mixed >> 19 & 1U);
}

/// Every rank gets what was sent to it in this round, once, whole, and in the order of ranks. Collective.
template <machine::CommunicatingRanks R>
void sparse_exchange_is_sound() {
  using item = std::array<std::int32_t, 3>; // of a size that is no power of two
  machine::basic_environment<R> const world;
  machine::sparse_messages<R> talk{world};
  int const me = world.rank(), n = world.size();
  bool is_right = true;
  for (int round = 0; round != 40; ++round) {
    std::vector<machine::parcel<item>> out;
    for (int to = 0; to != n; ++to)
      if (int const count = items_sent(round, me, to); count >= 0)
        out.push_back({to, std::vector<item>(std::size_t(count), item{round, me, to})});
    auto const in = talk.exchange(out);
    std::size_t at = 0;
    for (int from = 0; from != n; ++from) {
      int const count = items_sent(round, from, me);
      if (count < 0) continue;
      is_right = is_right && at < in.size() && in[at].rank == from &&
                 in[at].items == std::vector<item>(std::size_t(count), item{round, from, me});
      ++at;
    }
    is_right = is_right && at == in.size();
  }
  CHECK(is_right);
}

} // namespace keel::laws
