// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Binding each rank of a node to the place that `topology::node::place` gives it.

#include <keel/impl/device/common_settings.hpp>
#include <keel/impl/device/own_node.hpp>
#include <keel/device/values.hpp>
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
  placed_rank();
  placed_rank(placed_rank const&) = delete;
  placed_rank& operator=(placed_rank const&) = delete;
  ~placed_rank();

  /// Goes to the place of `rank` among those of this node, whose `thread_bits` are `allowed`; says why not, or nothing.
  /// It is an error where not `all` ranks are to be bound.
  [[nodiscard]] std::string go(bool all, int rank, std::span<char const> allowed, std::string_view prefix,
                               common_settings const& common, own_node const& node);
  /// Empty before.
  [[nodiscard]] std::optional<topology::placement> const& place() const { return place_; }
  [[nodiscard]] std::string text() const;

private:
  std::optional<topology::placement> place_;
  std::optional<bound_rank> bound_;
};

/// Notes where the ranks of a node are, and what works against it. `lines` are texts of equal length, filled up with
/// zeros.
void note_places(std::span<char const> lines, std::size_t length, common_settings& common);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/bound_rank.ipp>
#endif
