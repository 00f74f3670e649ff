// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What goes from rank to rank: ghosts between the arrays of neighbours, and elements that move.

#include <keel/impl/exchange/packing.hpp>
#include <keel/impl/exchange/transports.hpp>
#include <keel/impl/validity/observers.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// What exchanges need. They fill ghosts in one round, or add them to their owners.
class halo_exchange {
public:
  halo_exchange(routes& by, copy_queue const& queue) : routes_(by), delivery_(by.known()) { packing_.connect(queue); }

  /// Collective over the ranks that exchange, with the same arrays in the same order. Until `finish` the owned elements
  /// may be read, the ghosts not touched. One exchange at a time. If nothing is between it and `finish`, one kernel may
  /// do all.
  void start(std::span<halo_array const> arrays, combine how, bool is_whole);
  /// With the same arrays as `start`, and an observer of the wait for messages.
  void finish(std::span<halo_array const> arrays, any_observer& observer);

  /// To be called when arrays or cuts have changed.
  void forget() { plan_.forget(), packing_.forget(); }
  /// Calls f(repeatable) for each; and what else work that is run again depends on.
  void for_each_repeatable(auto const& f) { delivery_.for_each_repeatable(f); }
  [[nodiscard]] std::uint32_t changes() const { return packing_.changes(); }

private:
  /// Says where messages lie. It stands while no route changes, unless a transport gives each exchange another place.
  template <class F>
  void place(F const& choose, bool is_unpacked = true) {
    delivery_.deal(packing_, plan_.sends(), plan_.receives(), choose);
    delivery_.place(packing_, plan_.sends(), plan_.receives(), is_unpacked);
    plan_.placing() = ++placing_, changes_ = routes_.changes();
  }
  /// Whether it matters how long it takes; if so, what the clock says.
  [[nodiscard]] bool is_timed() const;
  [[nodiscard]] double now() const;
  /// Counts an exchange of so many seconds. From time to time ranks ask each other whether it has become slow.
  void count(double seconds);
  /// Sends these messages by each transport that reaches a rank whose way is not chosen, and chooses the fastest. What
  /// comes is not unpacked.
  void measure(std::span<halo_array const> arrays);

  halo_plan plan_;
  double started_in_ = 0;     // seconds
  std::uint64_t placing_ = 1; // the last one
  std::uint64_t changes_ = 0; // of the routes, that it knows
  routes& routes_;
  packing packing_;
  delivery delivery_;
};

/// Elements that change their rank or their place, as a cut whose rims leave and whose ghosts come. Ranks list those
/// that one sends the other in the same order. What stays on this rank has a partner of its own, and so have new
/// elements; both have no rank.
struct element_moves {
  static constexpr int here = -2, fresh = -1;
  decomposition cut;
  bool leaves_any = false; ///< also to another place of this rank, or to its own

  void leave(int rank, std::span<std::int32_t const> all) {
    add(&partner::rims, rank, all), leaves_any |= !all.empty();
  }
  void leave(int rank, bounds const& box) { to(rank).rims.push_back({0, box}), leaves_any = true; }
  void come(int rank, std::span<std::int32_t const> all) { add(&partner::ghosts, rank, all); }
  void come(int rank, bounds const& box) { to(rank).ghosts.push_back({0, box}); }

private:
  [[nodiscard]] partner& to(int rank);
  void add(std::vector<segment> partner::* list, int rank, std::span<std::int32_t const> all);
  element_list* numbers_ = nullptr; // of the cut, if it has some
};

/// An array whose elements move, to itself or to another one in the same memory, which is of the same kind on all
/// ranks. Both are cut by the moves.
struct moved_array {
  halo_array from, to;
  copy_queue const* where;
  memory lies_in;
};

/// How the values of elements go to other ranks and places: one message to each rank from each memory, with the
/// elements of all arrays there. Its buffers grow. After an error it is of no use, because partners may have counted
/// other messages.
class relocation {
public:
  /// By these routes; where they have none, staged.
  relocation(messenger const& ranks, routes const& by);
  /// Makes all room. Throws if there is none. The calls below are about the same arrays, and collective.
  void lay_out(std::span<moved_array const> arrays);
  void pack();
  /// Returns when all that comes is here; no array has changed.
  void exchange();
  /// Puts in place what came, what stays on the rank, and new elements.
  void unpack();
  /// Calls f(number of an array, its new elements, where to pack their values); before `unpack`.
  void for_each_new(auto const& f) const {
    for (part const* p : at_work_) {
      std::byte* into = p->fresh_here.bytes.get();
      for (std::size_t k = 0; k < p->to.size(); ++k)
        for (partner const& one : p->to[k].cut->partners)
          for (segment const& s : one.ghosts)
            if (one.rank == element_moves::fresh)
              f(p->numbers[k], std::span(s.box.numbers(), std::size_t(s.box.end[0])),
                std::exchange(into, into + padded(*p->to[k].lies, s.box)));
    }
  }

private:
  /// What is in one memory.
  struct part {
    part(any_transports const& known, moved_array const& first)
        : where(first.where), lies_in(first.lies_in), by(known) {
      room.connect(*where);
    }
    void lay_out(routes const& ways, int staged);
    void pack();
    void unpack();

    copy_queue const* where;
    memory lies_in;
    std::vector<std::size_t> numbers; // of the arrays
    std::vector<halo_array> from, to;
    halo_plan plan;
    packing room;
    delivery by;
    std::vector<element_list const*> lists;
    buffer own, fresh, fresh_here, listed;
    std::size_t fresh_bytes = 0;
  };

  routes const& ways_;
  any_transports known_; // the last is staged
  std::vector<std::unique_ptr<part>> parts_;
  std::vector<part*> at_work_;
  std::vector<copy_queue const*> queues_; // of these
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/halo.ipp>
#endif
