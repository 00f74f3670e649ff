// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The ranks of a large machine as one of them sees them, simulated without MPI.

#include <keel/machine/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace keel::machine {

/// `Nodes` nodes with `RanksPerNode` ranks each, numbered node by node.
///
/// One process takes the part of one rank at a time, chosen by `as`. Subsets, nodes, leaders, neighbours and splits
/// by a rule are computed; nothing can be sent, and a `split` by a value that a rank knows only of itself cannot be
/// made. An environment of a range of ranks takes the same few bytes whatever its size; one of chosen
/// ranks, and leaders, an `int` for each.
template <int Nodes, int RanksPerNode>
struct simulated {
  static_assert(Nodes > 0 && RanksPerNode > 0,
                "keel::machine::simulated: there is no rank (Nodes or RanksPerNode is not positive). Give both.");
  static constexpr int ranks = Nodes * RanksPerNode;

  /// The process is `rank` while it lives. Environments keep the rank they were made for.
  class as {
  public:
    explicit as(int rank) : before_(me) {
      if (rank < 0 || rank >= ranks)
        throw error("machine::simulated", "rank " + std::to_string(rank) + " cannot be simulated",
                    "there are " + std::to_string(ranks), "Count from 0");
      me = rank;
    }
    ~as() { me = before_; }
    as(as const&) = delete;
    as& operator=(as const&) = delete;

  private:
    int before_;
  };

  /// Some ranks of the world, in order: a range, or a list if `list` is not empty.
  struct group {
    strided range;
    std::vector<int> list;
    int world_rank;

    [[nodiscard]] int size() const noexcept { return list.empty() ? range.size : int(list.size()); }
    [[nodiscard]] int operator[](int rank) const {
      return list.empty() ? range.rank_in_parent(rank) : list[std::size_t(rank)];
    }
    [[nodiscard]] int find(int of_world) const noexcept {
      if (list.empty()) return range.find(of_world);
      auto const at = std::find(list.begin(), list.end(), of_world);
      return at == list.end() ? -1 : int(at - list.begin());
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return sizeof *this + list.capacity() * sizeof(int); }
  };
  using handle = group const*;

  class communicator {
  public:
    communicator() = default;
    explicit communicator(handle borrowed) noexcept : seen_(borrowed) {}
    explicit communicator(group made) : own_(std::make_unique<group>(std::move(made))), seen_(own_.get()) {}
    communicator(communicator&& other) noexcept
        : own_(std::move(other.own_)), seen_(std::exchange(other.seen_, nullptr)) {}
    communicator& operator=(communicator&& other) noexcept {
      own_ = std::move(other.own_);
      seen_ = std::exchange(other.seen_, nullptr);
      return *this;
    }
    [[nodiscard]] handle get() const noexcept { return seen_; }

  private:
    std::unique_ptr<group> own_;
    handle seen_ = nullptr;
  };

  static handle null() noexcept { return nullptr; }
  static bool start(int*, char***, thread_level) noexcept { return false; }
  static void stop() noexcept {}
  static bool is_running() noexcept { return true; }
  static thread_level level() noexcept { return thread_level::multiple; }

  static communicator world() { return communicator{group{{ranks, 0, 1}, {}, me}}; }
  static communicator borrow(handle h) noexcept { return communicator{h}; }
  static communicator duplicate(communicator const& c) { return communicator{group{*c.get()}}; }

  static communicator subset(communicator const& c, strided const& s) {
    auto const& all = *c.get();
    if (!all.list.empty()) return picked(all, s);
    return communicator{
        group{{s.size, all[s.begin], s.size == 1 ? 1 : all.range.stride * s.stride}, {}, all.world_rank}};
  }
  static communicator subset(communicator const& c, chosen const& s) { return picked(*c.get(), s); }

  static communicator by_node(communicator const& c) {
    auto const& all = *c.get();
    int const first_of_node = all.world_rank / RanksPerNode * RanksPerNode;
    group node{{0, 0, 1}, {}, all.world_rank};
    for (int r = 0; r != all.size(); ++r)
      if (all[r] >= first_of_node && all[r] < first_of_node + RanksPerNode) node.list.push_back(all[r]);
    return communicator{std::move(node)};
  }
  static std::pair<communicator, int> lead_nodes(communicator const& c, communicator const&) {
    auto const& all = *c.get();
    group leaders{{0, 0, 1}, {}, all.world_rank};
    std::vector<char> has_leader(Nodes);
    for (int r = 0; r != all.size(); ++r)
      if (std::exchange(has_leader[std::size_t(all[r] / RanksPerNode)], 1) == 0) leaders.list.push_back(all[r]);
    int const count = leaders.size();
    bool const leads = leaders.find(all.world_rank) >= 0;
    return {leads ? communicator{std::move(leaders)} : communicator{}, count};
  }

  static int rank(communicator const& c) { return c.get()->find(c.get()->world_rank); }
  static int size(communicator const& c) { return c.get()->size(); }

private:
  template <Selection S>
  static communicator picked(group const& all, S const& s) {
    group some{{0, 0, 1}, {}, all.world_rank};
    some.list.reserve(std::size_t(s.count()));
    for (int r = 0; r != s.count(); ++r) some.list.push_back(all[s.rank_in_parent(r)]);
    return communicator{std::move(some)};
  }

  static inline thread_local int me = 0;
};

} // namespace keel::machine
