// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The exchange of ghosts between the host arrays of neighbouring ranks.

#include <keel/impl/residency/strip.hpp>
#include <keel/machine/messages.hpp>
#include <keel/residency/grid.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// One array whose ghosts are to be filled.
struct halo_array {
  shape const* lies;
  void* data;
};

/// Fills ghosts dimension by dimension, each with what the ones before brought, so that
/// corners are right without a message of their own. All arrays travel in one message to each
/// neighbour. Buffers grow to the largest exchange seen.
template <class Ranks>
class halo {
public:
  halo(machine::basic_environment<Ranks>& environment, share const& s)
      : share_(s), rank_(environment.rank()), own_(environment.comm()), messages_(own_) {}

  /// Collective over the environment, with the same arrays in the same order.
  void exchange(std::span<halo_array const> arrays) {
    for (int d = 0; d < share_.rank; ++d)
      if (share_.width[d] > 0) exchange(arrays, d);
  }

  /// Bytes of one array that leave this rank in an exchange.
  [[nodiscard]] std::uint64_t bytes_sent(shape const& lies) const {
    std::uint64_t bytes = 0;
    for (int d = 0; d < share_.rank; ++d)
      for (side s : {side::low, side::high})
        if (int const n = neighbour(d, s); n >= 0 && n != rank_) bytes += std::uint64_t(bytes_of(lies, rim_box(d, s)));
    return bytes;
  }

private:
  [[nodiscard]] int neighbour(int d, side s) const { return share_.neighbour[std::size_t(d)][std::size_t(s)]; }

  // All that is right before dimension `d` is exchanged: owned cells, and the ghosts of earlier
  // dimensions that have a neighbour.
  [[nodiscard]] bounds known_before(int d) const {
    bounds b = share_.owned();
    for (int e = 0; e < d; ++e) {
      if (!share_.is_wall(e, side::low)) b.begin[e] = 0;
      if (!share_.is_wall(e, side::high)) b.end[e] = share_.extents[e];
    }
    return b;
  }
  [[nodiscard]] bounds rim_box(int d, side s) const {
    bounds b = known_before(d);
    if (s == side::low) b.end[d] = b.begin[d] + share_.width[d];
    else b.begin[d] = b.end[d] - share_.width[d];
    return b;
  }
  [[nodiscard]] bounds ghost_box(int d, side s) const {
    bounds b = rim_box(d, s);
    std::int64_t const shift = s == side::low ? -share_.width[d] : share_.width[d];
    b.begin[d] += shift, b.end[d] += shift;
    return b;
  }

  // Two neighbours at most: the message for one's low ghosts has tag 2d, for its high ones 2d + 1.
  void exchange(std::span<halo_array const> arrays, int d) {
    for (side s : {side::low, side::high}) {
      if (neighbour(d, s) < 0) continue;
      std::size_t bytes = 0;
      for (halo_array const& a : arrays) bytes += std::size_t(bytes_of(*a.lies, rim_box(d, s)));
      for (auto* buffers : {&out_, &in_})
        if ((*buffers)[std::size_t(s)].size() < bytes) (*buffers)[std::size_t(s)].resize(bytes);
      if (neighbour(d, s) != rank_)
        messages_.receive(in_[std::size_t(s)].data(), bytes, neighbour(d, s), 2 * d + int(s));
      move<motion::gather>(arrays, rim_box(d, s), out_[std::size_t(s)]);
      if (neighbour(d, s) != rank_)
        messages_.send(out_[std::size_t(s)].data(), bytes, neighbour(d, s), 2 * d + 1 - int(s));
    }
    messages_.wait();
    for (side s : {side::low, side::high})
      if (int const n = neighbour(d, s); n >= 0)
        move<motion::scatter>(arrays, ghost_box(d, s), n == rank_ ? out_[1 - std::size_t(s)] : in_[std::size_t(s)]);
  }

  template <motion M>
  static void move(std::span<halo_array const> arrays, bounds const& box, std::vector<std::byte>& buffer) {
    std::size_t at = 0;
    for (halo_array const& a : arrays) {
      move_on_host<M>(*a.lies, a.data, buffer.data() + at, box);
      at += std::size_t(bytes_of(*a.lies, box));
    }
  }

  share share_;
  int rank_;
  machine::basic_environment<Ranks> own_; // a duplicate, so that no message meets one of the application's
  machine::messages<Ranks> messages_;
  std::array<std::vector<std::byte>, 2> out_, in_;
};

} // namespace keel::residency::detail
