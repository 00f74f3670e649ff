// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which ranks of a parent make a new environment. Arithmetic alone, no communication.

#include <keel/policy/error.hpp>

#include <algorithm>
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
  void check(int size) const {
    if (rank >= 0 && rank < size) return;
    throw error("machine::master", "rank " + std::to_string(rank) + " is no rank of the new environment",
                "it has " + std::to_string(size) + ", counted from 0",
                "Name the master by its rank in the new environment, not in the parent");
  }
};

/// The number of ranks of a parent that this process knows nothing of.
inline constexpr int unknown = 0;

namespace detail {
/// ", which has 8 ranks", where that is known.
[[nodiscard]] inline std::string which_has(int extent) {
  return extent == unknown ? "" : ", which has " + std::to_string(extent) + " ranks";
}
} // namespace detail

/// `size` ranks of the parent: `begin`, `begin + stride`, … A negative stride
/// counts down. Costs no storage, whatever its size.
struct strided {
  int size = 0;
  int begin = 0;
  int stride = 1;

  [[nodiscard]] constexpr int count() const noexcept { return size; }
  [[nodiscard]] constexpr int rank_in_parent(int rank) const noexcept { return begin + rank * stride; }

  /// The new rank of a parent's rank; -1 where it is not selected.
  [[nodiscard]] constexpr int find(int parent_rank) const noexcept {
    if (parent_rank < 0) return -1;
    auto const distance = static_cast<long long>(parent_rank) - begin;
    auto const at = distance / stride;
    return distance % stride == 0 && at >= 0 && at < size ? int(at) : -1;
  }

  /// Throws `keel::error` unless a parent of `extent` ranks can give these.
  void check(int extent) const {
    auto const last = begin + (static_cast<long long>(size) - 1) * stride;
    auto const beyond = [&](long long rank) { return rank < 0 || (extent != unknown && rank >= extent); };
    std::string const why = size < 1                        ? "it selects no rank"
                            : stride == 0                   ? "a stride of 0 selects one rank again and again"
                            : beyond(begin) || beyond(last) ? "it leaves the parent" + detail::which_has(extent)
                                                            : "";
    if (why.empty()) return;
    throw error("machine::strided",
                "size " + std::to_string(size) + ", begin " + std::to_string(begin) + ", stride " +
                    std::to_string(stride) + " is refused",
                why,
                "Keep begin and begin + (size - 1) * stride inside the parent");
  }
};

/// The first `size` ranks of the parent.
struct first {
  int size = 0;

  [[nodiscard]] constexpr int count() const noexcept { return size; }
  [[nodiscard]] constexpr int rank_in_parent(int rank) const noexcept { return rank; }
  [[nodiscard]] constexpr int find(int parent_rank) const noexcept { return parent_rank < size ? parent_rank : -1; }
  [[nodiscard]] constexpr operator strided() const noexcept { return {size, 0, 1}; }

  void check(int extent) const {
    if (size >= 1 && (extent == unknown || size <= extent)) return;
    throw error("machine::first", std::to_string(size) + " ranks are refused",
                size < 1 ? "it selects no rank" : "it leaves the parent" + detail::which_has(extent),
                "Ask for at least one and at most all");
  }
};

/// Ranks of the parent by name; the order given is the order of the new ranks.
/// Owns the list: one `int` a rank. Finding a rank walks it.
class chosen {
public:
  chosen(std::initializer_list<int> ranks) : ranks_(ranks) {}
  explicit chosen(std::vector<int> ranks) : ranks_(std::move(ranks)) {}

  [[nodiscard]] std::span<int const> ranks() const noexcept { return ranks_; }
  [[nodiscard]] int count() const noexcept { return int(ranks_.size()); }
  [[nodiscard]] int rank_in_parent(int rank) const { return ranks_[std::size_t(rank)]; }
  [[nodiscard]] int find(int parent_rank) const noexcept {
    auto const at = std::find(ranks_.begin(), ranks_.end(), parent_rank);
    return at == ranks_.end() ? -1 : int(at - ranks_.begin());
  }

  void check(int extent) const {
    auto const refuse = [&](std::string const& why) {
      throw error("machine::chosen", "the list of " + std::to_string(ranks_.size()) + " ranks is refused", why,
                  "Name each rank of the parent at most once");
    };
    if (ranks_.empty()) refuse("it is empty");
    auto sorted = ranks_;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.front() < 0) refuse("rank " + std::to_string(sorted.front()) + " is negative");
    if (extent != unknown && sorted.back() >= extent)
      refuse("rank " + std::to_string(sorted.back()) + " is not in the parent" + detail::which_has(extent));
    if (auto const twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      refuse("rank " + std::to_string(*twice) + " stands in it twice");
  }

private:
  std::vector<int> ranks_;
};

/// What picks ranks of a parent. `check` depends on the arguments alone, so that
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
