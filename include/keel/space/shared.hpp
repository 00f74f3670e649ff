// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory that all ranks of a node see: one copy of a large table instead of one a rank.

#include <keel/policy/error.hpp>
#include <keel/space/memory.hpp>

#include <keel/impl/space/shared_pages.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace keel::space {

/// Ranks that agree on an allocation: models of `keel::machine::CommunicatingRanks`, or less than that.
template <class R>
concept NodeRanks = requires(typename R::communicator const& c, void* to, void const* from, std::size_t bytes) {
  { R::world() } -> std::same_as<typename R::communicator>;
  { R::by_node(c) } -> std::same_as<typename R::communicator>;
  { R::rank(c) } -> std::same_as<int>;
  { R::size(c) } -> std::same_as<int>;
  R::barrier(c);
  R::broadcast(c, to, bytes, 0);
  R::all_gather(c, from, to, bytes);
};

/// Memory that the ranks of one node share. Copies share the ranks.
///
/// An allocation is collective over the ranks of the node: each asks for the same
/// number of bytes, in the same order, from one thread at a time. All get it or none
/// does: if one rank has no room, the error is the same on every rank. Taking it
/// back is local, and the memory goes with the last rank that holds it, also if
/// ranks were killed. Ranks have the same bytes at different addresses.
///
/// Kokkos sets the elements of a new view on every rank. Write them after a
/// `barrier()`, or make the view without initialising: new pages are zero. Kokkos'
/// header, the first bytes of an allocation, is each rank's own, so what is shared
/// are the elements of views.
///
/// The memory is a file without a name, which the node's first rank makes and the
/// others open. MPI's shared windows are not used, because they are freed collectively,
/// which a view cannot do, and because Open MPI 4.1 keeps them in /dev/shm: if that
/// is too small, one rank gets an error and the others wait for ever.
template <class Ranks>
class shared_resource {
  static_assert(NodeRanks<Ranks>, "keel::space::shared: these ranks cannot agree on an allocation "
                                  "(they exchange no messages). Name keel::machine::mpi, or other CommunicatingRanks.");

public:
  static constexpr char const* name = "shared";
  static constexpr reach reached_from = reach::host;

  /// All ranks of this node; they are found at the first allocation.
  shared_resource() = default;
  /// Those of an environment. Collective over it, as is the end of the last copy.
  template <class Environment>
    requires std::same_as<typename Environment::ranks, Ranks>
  explicit shared_resource(Environment const& of)
      : node_(std::make_shared<communicator const>(of.is_member() ? Ranks::by_node(of.communicator())
                                                                  : communicator())) {}

  /// This rank among those that share the memory, and how many these are.
  [[nodiscard]] int rank() const { return Ranks::rank(node()); }
  [[nodiscard]] int size() const { return Ranks::size(node()); }

  /// Returns when all ranks of the node have called it; what each wrote before, the others read after.
  void barrier() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    Ranks::barrier(node());
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  /// A `barrier`, as the space's own fence.
  void fence() const { barrier(); }

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t) const {
    auto const& ranks = node();
    detail::shared_pages pages(bytes, detail::bytes_ahead);
    outcome mine{bytes, pages.reserve()};
    detail::open_file made;
    detail::file_place place;
    if (Ranks::rank(ranks) == 0 && mine.error == 0) {
      mine.error = pages.create(made);
      if (mine.error == 0) place = detail::file_place::of(made);
    }
    Ranks::broadcast(ranks, &place, sizeof(place), 0);
    if (mine.error == 0 && place.process >= 0) mine.error = pages.map(place.open());
    agree(ranks, mine); // also that the first rank may close the file
    return pages.give();
  }
  void deallocate(void* pointer, std::size_t bytes, std::size_t) const {
    detail::shared_pages(bytes, detail::bytes_ahead).take_back(pointer);
  }

private:
  using communicator = typename Ranks::communicator;

  /// What one rank reports of an allocation.
  struct outcome {
    std::uint64_t bytes = 0;
    std::int64_t error = 0;
  };

  /// Throws the same error on every rank if one cannot allocate.
  static void agree(communicator const& ranks, outcome const& mine) {
    std::vector<outcome> all(std::size_t(Ranks::size(ranks)));
    Ranks::all_gather(ranks, &mine, all.data(), sizeof(mine));
    for (std::size_t r = 0; r < all.size(); ++r) {
      auto const who = "rank " + std::to_string(r) + " of " + std::to_string(all.size()) + " on this node ";
      if (all[r].bytes != all[0].bytes)
        throw error("space::shared", who + "asks for " + std::to_string(all[r].bytes) + " bytes and the first for " +
                                         std::to_string(all[0].bytes));
      if (all[r].error != 0)
        throw error("space::shared", who + "says: " + std::generic_category().message(int(all[r].error)));
    }
  }

  communicator const& node() const {
    auto const& ranks = node_ ? *node_ : all();
    if (ranks.get() == Ranks::null())
      throw error("space::shared", "this rank is not a member of the environment", "only members share its memory",
                  "Ask is_member() of the environment first");
    return ranks;
  }
  static communicator const& all() {
    static auto const found = Ranks::by_node(Ranks::world());
    return found;
  }

  std::shared_ptr<communicator const> node_;
};
template <class Environment>
shared_resource(Environment const&) -> shared_resource<typename Environment::ranks>;

/// The memory space that the ranks of a node share: `shared<keel::machine::mpi>` over all ranks of the node, or
/// `memory(shared_resource(environment))` over those of an environment.
template <class Ranks>
using shared = memory<shared_resource<Ranks>>;

} // namespace keel::space
