// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Binding each rank of a node to the place that `topology::node::place` gives it.

#include <keel/impl/device/common_settings.hpp>
#include <keel/impl/device/program_ranks.hpp>
#include <keel/policy/macros.hpp>
#include <keel/topology/binding.hpp>
#include <keel/topology/memory_binding.hpp>
#include <keel/topology/node.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace keel::device {

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

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/bound_rank.ipp>
#endif
