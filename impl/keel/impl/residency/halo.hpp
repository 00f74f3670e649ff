// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The exchange of ghosts between the arrays of neighbouring ranks.

#include <keel/impl/residency/packing.hpp>
#include <keel/machine/messages.hpp>
#include <keel/policy/list.hpp>
#include <keel/residency/grid.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace keel::residency::detail {

/// One array whose ghosts are to be filled.
struct halo_array {
  shape const* lies;
  void* data;
};

/// Fills ghosts in one round: each rank that lies in some direction, corners included, gets one
/// message with the rims of all arrays. A box of cells is a direction, a number of one base-3 digit a
/// dimension: 0 low, 1 here, 2 high.
template <class Ranks>
class halo {
public:
  halo(machine::basic_environment<Ranks> const& environment, share const& s)
      : share_(s), rank_(environment.rank()), messages_(environment) {
    int directions = 1;
    for (int d = 0; d < s.rank; ++d) directions *= 3;
    for (int n = 0; n < directions; ++n)
      if (int const r = rank_at(n); r >= 0) {
        auto const at = std::find_if(partners_.begin(), partners_.end(), [&](partner const& p) { return p.rank == r; });
        (at != partners_.end() ? *at : partners_.emplace_back(partner{r, {}, 0})).directions.push_back(n);
        has_others_ = has_others_ || r != rank_;
      }
  }

  /// Collective over the environment, with the same arrays in the same order. Receives stand before
  /// anything is packed on the host. Until `finish` the owned cells may be read, the ghosts not touched.
  template <class Packing>
  void start(std::span<halo_array const> arrays, Packing& packing) {
    std::size_t bytes = 0;
    for (partner& p : partners_) {
      p.begin = bytes;
      for (int n : p.directions)
        for (halo_array const& a : arrays) bytes += padded(a, rim_box(n));
    }
    std::byte* at = packing.out(bytes);
    packing.in(bytes);
    auto const for_each_message = [&](auto&& f) {
      for (std::size_t k = 0; k < partners_.size(); ++k)
        if (partners_[k].rank != rank_) f(partners_[k].begin, end_of(k, bytes) - partners_[k].begin, partners_[k].rank);
    };
    auto const receive = [&](std::size_t begin, std::size_t size, int from) {
      messages_.receive(packing.mail_in() + begin, size, from, 0);
    };
    if constexpr (!Packing::is_behind_caller) for_each_message(receive);
    for (partner const& p : partners_)
      for (int n : p.directions) at = move<motion::gather>(arrays, packing, rim_box(n), at);
    if (!has_others_) return;
    packing.settle();
    if constexpr (Packing::is_behind_caller) for_each_message(receive); // the last exchange has been unpacked by now
    for_each_message([&](std::size_t begin, std::size_t size, int to) {
      messages_.send(packing.mail_out() + begin, size, to, 0);
    });
  }

  /// What came goes to the ghosts: with the same arguments as `start`. The partner packed the opposite
  /// directions, in their order.
  template <class Packing>
  void finish(std::span<halo_array const> arrays, Packing& packing) {
    if (has_others_) {
      messages_.wait();
      packing.collect();
    }
    std::byte *const in = packing.in(0), *const out = packing.out(0);
    for (partner const& p : partners_) {
      std::byte* at = (p.rank == rank_ ? out : in) + p.begin;
      for (auto n = p.directions.rbegin(); n != p.directions.rend(); ++n)
        at = move<motion::scatter>(arrays, packing, ghost_box(*n), at);
    }
  }

  /// Bytes of one array that leave this rank in an exchange.
  [[nodiscard]] std::uint64_t bytes_sent(shape const& lies) const {
    std::uint64_t bytes = 0;
    for (partner const& p : partners_)
      if (p.rank != rank_)
        for (int n : p.directions) bytes += std::uint64_t(bytes_of(lies, rim_box(n)));
    return bytes;
  }

private:
  struct partner {
    int rank;
    std::vector<int> directions; // ascending
    std::size_t begin;           // in both buffers
  };

  // The rank that lies in a direction; -1 where there is none, or nothing to exchange. Ranks are
  // numbered by position, so steps in several dimensions add up.
  [[nodiscard]] int rank_at(int direction) const {
    int r = rank_;
    bool somewhere = false;
    for (int d = 0; d < share_.rank; ++d, direction /= 3) {
      if (direction % 3 == 1) continue;
      int const next = share_.neighbour[std::size_t(d)][std::size_t(direction % 3 / 2)];
      if (next < 0 || share_.width[d] == 0) return -1;
      r += next - rank_;
      somewhere = true;
    }
    return somewhere ? r : -1;
  }
  [[nodiscard]] bounds rim_box(int direction) const {
    bounds b = share_.owned();
    for (int d = 0; d < share_.rank; ++d, direction /= 3) {
      if (direction % 3 == 0) b.end[d] = b.begin[d] + share_.width[d];
      if (direction % 3 == 2) b.begin[d] = b.end[d] - share_.width[d];
    }
    return b;
  }
  [[nodiscard]] bounds ghost_box(int direction) const {
    bounds b = rim_box(direction);
    for (int d = 0; d < share_.rank; ++d, direction /= 3) {
      std::int64_t const shift = (direction % 3 - 1) * share_.width[d];
      b.begin[d] += shift, b.end[d] += shift;
    }
    return b;
  }
  // Pieces begin at multiples of eight bytes, so that words of any length are aligned.
  [[nodiscard]] static std::size_t padded(halo_array const& a, bounds const& box) {
    return (std::size_t(bytes_of(*a.lies, box)) + 7) / 8 * 8;
  }
  [[nodiscard]] std::size_t end_of(std::size_t k, std::size_t bytes) const {
    return k + 1 < partners_.size() ? partners_[k + 1].begin : bytes;
  }
  template <motion M, class Packing>
  static std::byte* move(std::span<halo_array const> arrays, Packing& packing, bounds const& box, std::byte* at) {
    for (halo_array const& a : arrays) {
      packing.template move<M>(*a.lies, a.data, at, box);
      at += padded(a, box);
    }
    return at;
  }

  share share_;
  int rank_;
  machine::messages<Ranks> messages_;
  std::vector<partner> partners_;
  bool has_others_ = false; // this rank is not its only neighbour
};

/// What the exchange of one component needs.
template <class Ranks, class Lanes>
struct halo_channels;
template <class Ranks, class... Lanes>
struct halo_channels<Ranks, keel::list<Lanes...>> {
  halo_channels(machine::basic_environment<Ranks> const& environment, share const& s) : ghosts(environment, s) {}

  halo<Ranks> ghosts;
  host_packing on_host;
  std::tuple<device_packing<typename Lanes::execution_space>...> on_devices;
};

} // namespace keel::residency::detail
