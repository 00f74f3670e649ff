// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where each rank of a node goes: the place that `topology::node::place` gives it, if it is to be bound there, and, if
/// no knob says it, its accelerator and the number of its threads.

#include <keel/device/knobs.hpp>
#include <keel/impl/device/common_settings.hpp>
#include <keel/impl/device/device_knobs.hpp>
#include <keel/policy/macros.hpp>
#include <keel/topology/binding.hpp>
#include <keel/topology/memory_binding.hpp>
#include <keel/topology/node.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace keel::device {

class program_ranks;

/// The node that this process runs on, looked up when it is first asked for, because that takes milliseconds.
class own_node {
public:
  own_node() = default;
  own_node(own_node const&) = delete;
  own_node& operator=(own_node const&) = delete;

  [[nodiscard]] topology::node const& get() const {
    if (!node_) node_.emplace(topology::node::here());
    return *node_;
  }

private:
  mutable std::optional<topology::node> node_;
};

/// A bit for each hardware thread of a node, as ranks tell one another which they may use.
using thread_bits = std::array<std::uint64_t, 128>; // 8,192 of them
[[nodiscard]] thread_bits own_bits();
/// The threads that one at least may use, of several `thread_bits` as bytes.
[[nodiscard]] topology::id_set threads_of_any(std::span<char const> all);

/// What `--keel-bind` means for `topology::node::place`.
[[nodiscard]] topology::placing placing_of(bind_rule const& rule, topology::id_set allowed);

/// This process where `to` says, as long as it lives: its threads, those that OpenMP and oneTBB start meanwhile, and,
/// if one memory is nearest to all its cores, its pages.
class bound_rank {
public:
  bound_rank(topology::node const& node, topology::placement const& to);
  /// Where that is, for people.
  [[nodiscard]] std::string const& text() const { return text_; }

  /// A variable that makes OpenMP bind its threads by itself, to what it found before the start of `main`; else null.
  [[nodiscard]] static char const* openmp_variable();

private:
  topology::binding threads_;
  std::optional<topology::memory_preference> memory_;
  std::string text_;
};

/// A rank of a program at its place, where `--keel-bind` asks for one.
class placed_rank {
public:
  placed_rank() = default;
  placed_rank(placed_rank const&) = delete;
  placed_rank& operator=(placed_rank const&) = delete;

  /// Binds each rank to its place, if that is asked for; returns why this rank could not be bound, empty on success. An
  /// error of all ranks if only some ask for it.
  [[nodiscard]] std::string go(program_ranks const& ranks, std::string_view prefix, bind_rule const& rule,
                               own_node const& node);
  /// The first rank of each node notes where those of its node are, once all went, and what works against it.
  void note_places(program_ranks const& ranks, common_settings& common) const;
  /// Empty before.
  [[nodiscard]] std::optional<topology::placement> const& place() const { return place_; }
  [[nodiscard]] std::string text() const { return bound_ ? bound_->text() : std::string{}; }

private:
  std::optional<topology::placement> place_;
  std::optional<bound_rank> bound_;
};

/// What decides about a rank's accelerator.
struct mapping_facts {
  int node_rank = 0;                      ///< this rank among those of its node, from 0
  std::span<std::string const> visible{}; ///< PCI ids of the accelerators that this process sees, by instance
  std::string_view nearest{};             ///< PCI id of the one that placement gave to this rank; empty for none
  std::optional<int> limit{};             ///< how many may be used, if a knob says it
};

/// The instance to take; empty if there is none, or the mapping is `none`.
///
/// `rank` deals the visible ones round robin by node-local rank. `nearest` takes the one that placement
/// gave to this rank, if it is visible and within the limit, and deals otherwise: a list that the
/// launcher has already cut to this rank's own is taken as it is.
[[nodiscard]] std::optional<int> map_device(device_mapping how, mapping_facts const& facts);

/// The GPU that a launcher's binding gives to rank `mine` of a node, as an id of the node's devices; -1 for none.
///
/// `threads` holds, by node-local rank, the first hardware thread that each rank is bound to, by the system's
/// numbers. In order, each rank takes the GPU that is shared the least, of those the nearest, of those the least used:
/// so every context, one where they are unknown, is used before one is doubled, and no rank goes far while a near one
/// is free; none that is full is taken. A rank whose thread this process does not see (a batch system has cut the node
/// for each) takes part without a place.
[[nodiscard]] int nearest_gpu(topology::node const& node, std::span<int const> threads, std::size_t mine);

/// The threads that a rank takes if no knob says it: of the hardware threads that it may use, its part
/// among the ranks that may use the very same ones. At least one.
[[nodiscard]] inline int share_of_threads(int allowed, int ranks_sharing) {
  return std::max(allowed / std::max(ranks_sharing, 1), 1);
}

/// What keel takes of each device if no knob says it: the part of the threads that `rank` of a node has, and the
/// accelerator that it is near, or that its place has. `told` is the `thread_bits` of the ranks of the node. The node
/// is looked up only where it decides.
void propose(std::span<changeable_knobs const> devices, int rank, std::span<char const> told, placed_rank const& placed,
             program_settings const& program, own_node const& node);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/rank_place.ipp>
#endif
