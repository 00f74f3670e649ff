// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A communicator, this rank's place in it, and its master.

#include <keel/machine/attachments.hpp>
#include <keel/machine/concepts.hpp>
#include <keel/machine/mpi.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace keel::machine {

/// Says that a communicator is used as it is: `environment{borrow, comm}`.
struct as_it_is {};
inline constexpr as_it_is borrow{};

/// A group of ranks, one of them the master. Movable, not copyable: it owns its communicator, unless it borrows one.
///
/// Given the same arguments every constructor has the same outcome on every rank
/// of the parent: arguments are checked, and refused with `keel::error`, before
/// any communication. A rank that is not selected gets a non-member: `rank()` and
/// `master_rank()` are -1, `size()` is 0, `comm()` is null, and everything made from
/// it has no member here either. Destruction is collective over the members.
template <Ranks R>
class basic_environment {
public:
  using ranks = R;
  using handle = typename R::handle;

  /// The world itself: `MPI_COMM_WORLD`, borrowed. No communication.
  basic_environment() : basic_environment(master{}) {}
  explicit basic_environment(master m) : comm_(R::world()) { enter(R::size(comm_), m); }

  /// Coupled: the ranks of a communicator of the application's, which is duplicated and
  /// stays the application's. Collective over `parent`; a null one makes a non-member.
  explicit basic_environment(handle parent, master m = {}) {
    if (parent == R::null()) return;
    auto const whole = R::borrow(parent);
    int const size = R::size(whole);
    m.check(size);
    comm_ = R::duplicate(whole);
    enter(size, m);
  }

  /// The ranks of a communicator of the application's, which is not duplicated: what keel sends on it shares its
  /// context with the application's messages. No communication. It has to outlive this; a null one makes a non-member.
  basic_environment(as_it_is, handle comm, master m = {}) : comm_(R::borrow(comm)) {
    if (comm != R::null()) enter(R::size(comm_), m);
  }

  /// Ranks of `parent`. To be called on every rank of it; only those selected communicate.
  template <Selection S>
  basic_environment(basic_environment const& parent, S const& selection, master m = {}) {
    select(parent.comm_, parent.place_.extent, parent.place_.rank, selection, m);
  }

  /// Ranks of `parent`, if all of them have to say which are selected. Collective over it.
  template <class S>
    requires CollectiveSelection<S, basic_environment>
  basic_environment(basic_environment const& parent, S const& selection, master m = {}) {
    if (parent.is_member()) select(parent.comm_, parent.place_.extent, parent.place_.rank, selection.choose(parent), m);
  }

  /// Ranks of a communicator of the application's, which is not duplicated. A null one makes a non-member.
  template <Selection S>
  basic_environment(handle parent, S const& selection, master m = {}) {
    bool const is_inside = parent != R::null();
    auto const whole = R::borrow(parent);
    select(whole, is_inside ? R::size(whole) : unknown, is_inside ? R::rank(whole) : -1, selection, m);
  }

  /// Numbers are no selection: say `first{4}`, and `master{2}`. Deleted, so that a compiler lists no other constructor.
  template <class S, class... More>
    requires(!Selection<S> && !CollectiveSelection<S, basic_environment>)
  basic_environment(basic_environment const& parent, S const& no_selection, More const&...) = delete;

  basic_environment(basic_environment&& other) noexcept
      : comm_(std::move(other.comm_)), place_(std::exchange(other.place_, {})), data_(std::move(other.data_)) {}
  basic_environment& operator=(basic_environment&& other) noexcept {
    if (this == &other) return *this;
    data_ = std::move(other.data_);
    comm_ = std::move(other.comm_);
    place_ = std::exchange(other.place_, {});
    return *this;
  }

  [[nodiscard]] handle comm() const noexcept { return comm_.get(); }
  [[nodiscard]] int rank() const noexcept { return place_.rank; }
  [[nodiscard]] int size() const noexcept { return place_.size; }
  [[nodiscard]] int master_rank() const noexcept { return place_.master; }
  [[nodiscard]] bool is_master() const noexcept { return place_.is_master; }
  [[nodiscard]] bool is_member() const noexcept { return place_.size != 0; }

  /// Makes `rank` the master; false, and no change, if there is no such rank. The
  /// same on every rank that passes the same number, non-members included. No communication,
  /// so all ranks have to make the call, before any of them relies on the old master.
  bool set_master(int rank) noexcept {
    if (rank < 0 || rank >= place_.extent) return false;
    if (is_member()) place_.master = rank;
    place_.is_master = place_.rank == rank;
    return true;
  }

  /// The ranks of this environment on this node, whatever the launcher says. Collective; makes a communicator each
  /// time.
  [[nodiscard]] basic_environment node() const {
    return is_member() ? basic_environment(R::by_node(comm_)) : non_member();
  }

  /// One rank of each node, the first. Collective over this environment.
  [[nodiscard]] basic_environment leaders() const { return leaders(node()); }

  /// One rank of each node, the first, if `node()` exists already.
  [[nodiscard]] basic_environment leaders(basic_environment const& node) const {
    if (!is_member()) return non_member();
    auto [comm, count] = R::lead_nodes(comm_, node.comm_);
    basic_environment made(std::move(comm));
    made.place_.extent = count;
    return made;
  }

  /// The ranks that give the same color, ordered by key, then by rank here; without a
  /// color a non-member. Collective over this environment.
  [[nodiscard]] basic_environment split(std::optional<int> color, int key = 0) const
    requires CommunicatingRanks<R>
  {
    check_color(color);
    return is_member() ? basic_environment(R::split(comm_, color, key)) : non_member();
  }

  /// Splits by a rule that all ranks know: `rule(rank)` is the color of a rank of this environment, an `int` or a
  /// `std::optional<int>`. Collective over this environment.
  template <class Rule>
    requires CommunicatingRanks<R> && std::is_invocable_v<Rule const&, int>
  [[nodiscard]] basic_environment split(Rule const& rule) const {
    return is_member() ? split(std::optional<int>(rule(rank()))) : non_member();
  }

  /// What the application hangs on this environment; ends before the communicator does.
  [[nodiscard]] attachments& data() const noexcept { return data_; }

  /// What the operations of `machine` call the model with.
  [[nodiscard]] typename R::communicator const& communicator() const noexcept { return comm_; }

private:
  struct place {
    int rank = -1;
    int size = 0;
    int master = -1;
    bool is_master = false;
    int extent = unknown; // the size, on non-members too
  };

  explicit basic_environment(typename R::communicator comm) : comm_(std::move(comm)) {
    if (comm_.get() != R::null()) enter(R::size(comm_), {});
  }
  static void check_color(std::optional<int> color) {
    if (color && *color < 0)
      throw error("machine::environment", "a color of " + std::to_string(*color) + " is refused",
                  "MPI has none below 0", "Pass std::nullopt if a rank stays out");
  }
  [[nodiscard]] static basic_environment non_member() { return basic_environment(typename R::communicator{}); }

  void enter(int size, master m) {
    m.check(size);
    int const rank = R::rank(comm_);
    place_ = {rank, size, m.rank, rank == m.rank, size};
  }

  template <Selection S>
  void select(typename R::communicator const& parent, int extent, int rank_in_parent, S const& selection, master m) {
    selection.check(extent);
    int const size = selection.count();
    m.check(size);
    place_.extent = size;
    int const rank = selection.find(rank_in_parent);
    if (rank < 0) return;
    comm_ = R::subset(parent, detail::in_own_words(selection));
    place_ = {rank, size, m.rank, rank == m.rank, size};
  }

  typename R::communicator comm_;
  place place_;
  mutable attachments data_;
};

/// An environment of MPI ranks; of one rank in a build without MPI.
using environment = basic_environment<mpi>;

#if KEEL_COMPILED && KEEL_WITH_MPI
extern template class basic_environment<mpi>;
#endif

} // namespace keel::machine
