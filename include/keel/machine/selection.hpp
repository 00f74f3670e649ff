// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which ranks of a parent make a new environment. Only arithmetic, no communication.

#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace keel::machine {

/// The master of a new environment, as one of *its* ranks.
struct master {
  int rank = 0;

  /// Throws `keel::error` unless an environment of `size` ranks has this one.
  void check(int size) const;
};

/// The number of ranks of a parent that this process knows nothing of.
inline constexpr int unknown = 0;

/// `size` ranks of the parent: `begin`, `begin + stride`, … A negative stride
/// counts down. Costs no storage, whatever its size.
struct strided {
  int size = 0;
  int begin = 0;
  int stride = 1;

  [[nodiscard]] constexpr int count() const noexcept { return size; }
  [[nodiscard]] constexpr int rank_in_parent(int rank) const noexcept { return begin + rank * stride; }

  /// The new rank of a parent's rank; -1 if it is not selected.
  [[nodiscard]] constexpr int find(int parent_rank) const noexcept {
    if (parent_rank < 0) return -1;
    auto const distance = static_cast<long long>(parent_rank) - begin;
    auto const at = distance / stride;
    return distance % stride == 0 && at >= 0 && at < size ? int(at) : -1;
  }

  /// Throws `keel::error` unless a parent of `extent` ranks can give these.
  void check(int extent) const;
};

/// The first `size` ranks of the parent.
struct first {
  int size = 0;

  [[nodiscard]] constexpr int count() const noexcept { return size; }
  [[nodiscard]] constexpr int rank_in_parent(int rank) const noexcept { return rank; }
  [[nodiscard]] constexpr int find(int parent_rank) const noexcept { return parent_rank < size ? parent_rank : -1; }
  [[nodiscard]] constexpr operator strided() const noexcept { return {size, 0, 1}; }

  void check(int extent) const;
};

/// Ranks of the parent by name; the order given is the order of the new ranks.
/// Owns the list: one `int` a rank. Finding a rank walks it.
class chosen {
public:
  chosen(std::initializer_list<int> ranks);
  explicit chosen(std::vector<int> ranks) : ranks_(std::move(ranks)) {}

  [[nodiscard]] std::span<int const> ranks() const noexcept;
  [[nodiscard]] int count() const noexcept { return int(ranks_.size()); }
  [[nodiscard]] int rank_in_parent(int rank) const { return ranks_[std::size_t(rank)]; }
  [[nodiscard]] int find(int parent_rank) const noexcept;

  void check(int extent) const;

private:
  std::vector<int> ranks_;
};

/// What picks ranks of a parent. `check` depends only on the arguments, so that
/// every rank refuses, or none; after it, `find` inverts `rank_in_parent`.
/// Models: `first`, `strided`, `chosen`, and yours: a list is made of what it picks.
template <class S>
concept Selection = requires(S const& selection, int rank) {
  { selection.check(rank) } -> std::same_as<void>;
  { selection.count() } -> std::same_as<int>;
  { selection.rank_in_parent(rank) } -> std::same_as<int>;
  { selection.find(rank) } -> std::same_as<int>;
};

/// What picks ranks by what they are, so that all of the parent have to say: `choose(parent)` is collective over it,
/// and the same on every rank. Models: `one_per_device`, `near_device`, and yours.
template <class S, class Environment>
concept CollectiveSelection = requires(S const& selection, Environment const& parent) {
  { selection.choose(parent) } -> std::same_as<chosen>;
};

namespace detail {
/// A selection in the words that a model of ranks knows.
template <Selection S>
[[nodiscard]] auto in_own_words(S const& selection) {
  if constexpr (std::convertible_to<S, strided>) return static_cast<strided>(selection);
  else if constexpr (std::same_as<S, chosen>) return selection;
  else {
    std::vector<int> ranks;
    for (int r = 0; r < selection.count(); ++r) ranks.push_back(selection.rank_in_parent(r));
    return chosen{std::move(ranks)};
  }
}
} // namespace detail

} // namespace keel::machine

#if !KEEL_COMPILED
#include <keel/impl/machine/selection.ipp>
#endif
