// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The exchanges of fields: with which ranks, by which ways, and which elements of their arrays.

#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/layout/grid/boxes.hpp>
#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/book.hpp>
#include <keel/policy/macros.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// The pieces of a routine within which an exchange of `asked` begins.
struct routine_pieces {
  arrays const& on;
  std::span<request const> asked;
  bool is_elsewhere; ///< the exchange is in another memory: it takes the whole rim from there

  /// Those of a component or block: what other ranks wait for, then the rest.
  [[nodiscard]] index_sets of(int c) const { return rim_first(on.local({c}), on.rim_depth(asked, {c}), is_elsewhere); }
  /// Whether a rank waits for some of these components, and all leave a rest. Blocks for which no rank waits are all
  /// rest, so an exchange elsewhere cannot take their rims.
  [[nodiscard]] bool can_be(component_range range) const {
    if (range.end - range.begin != 1 && (!on.has_blocks() || is_elsewhere)) return false;
    bool is_waited_for = false;
    for (int c = range.begin; c < range.end; ++c) {
      int const count = of(c).count();
      if (count == 0) return false;
      is_waited_for = is_waited_for || count > 1;
    }
    return is_waited_for;
  }
};

/// How an exchange sends messages: by work that can run again when a queue has recorded it, or not.
enum class sending : std::uint8_t { nothing, again, once };

class exchanger {
public:
  exchanger(arrays& of, book& of_those) : arrays_(of), book_(of_those) {}
  exchanger(exchanger const&) = delete;
  exchanger& operator=(exchanger const&) = delete;

  /// The ways to other ranks, and what is kept for them. To be swapped when they are others for a while.
  struct ways {
    routes all;
    std::vector<std::unique_ptr<halo_exchange>> halos; ///< one, or one a request
  };
  /// From now on elements go to that rank, too, if it is one.
  void add_partner(int rank) {
    if (rank >= 0 && ways_.all.lacks(rank)) further_.push_back(rank);
  }
  /// Whether there is a way to each rank that this one exchanges ghosts or elements with.
  [[nodiscard]] bool reaches_partners();
  [[nodiscard]] routes const& all_ways() const { return ways_.all; }
  /// Finds all memory that it takes to connect.
  void prepare(any_transports transports, messenger const& ranks);
  /// Gets ready to exchange the ghosts of all components in memory `m`, once, when all ranks are prepared.
  void connect(memory m);
  /// Whether messages travel while the device, or the host, works on.
  [[nodiscard]] bool travel_meanwhile(memory m) const { return ways_.all.travel_meanwhile(m != host); }
  /// How an exchange of these sends messages.
  [[nodiscard]] sending sends(std::span<request const> asked, combine how) const;
  /// See `repeatable`: of all exchanges.
  void add_state(std::vector<std::uint32_t>& all) const;
  void take_state(std::span<std::uint32_t const> all);
  void swap(ways& other);
  /// To be called when arrays or cuts have changed.
  void forget();

  /// What leaves comes to memory `m` in one batch, and messages leave. From now on the ghosts count as filled there; or
  /// the rims as written, if ghosts are added to their owners. `is_whole`: it is finished at once.
  void begin(std::span<request const> asked, memory m, component_range range, combine how, bool is_whole);
  /// What came is put in its place. The ghosts go on to other memories when a routine reads them there.
  void finish(std::span<request const> asked, memory m, component_range range, combine how);

private:
  /// The ranks that this one exchanges with; some may be there more than once.
  [[nodiscard]] std::vector<int> partners();
  void exchange(std::span<request const> asked, memory m, component_range range, combine how, auto const& f);
  void note_twins(std::span<request const> asked, memory m, component_range range);
  void for_each_repeatable(auto const& f) const {
    for (auto const& each : ways_.halos) each->for_each_repeatable(f);
  }
  std::span<sent const> sent_in(std::span<request const> asked, component_range range, combine how);

  arrays& arrays_;
  book& book_;
  ways ways_;
  routes prepared_;
  std::vector<int> further_;          // to which elements alone go
  copy_queue queue_;                  // packs messages
  std::vector<halo_array> exchanged_; // the last time
  std::vector<sent> sent_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/exchanger.ipp>
#endif
