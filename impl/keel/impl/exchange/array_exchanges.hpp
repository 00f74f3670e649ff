// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What an exchanger is made of: the places where arrays lie, the ways between ranks, and the plans that it keeps, each
/// of which exchanges arrays that lie in one way.

#include <keel/exchange/transport.hpp>
#include <keel/impl/exchange/array_ref.hpp>
#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/layout/geometry.hpp>
#include <keel/machine/agreement.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/settings.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

inline constexpr std::string_view exchanger_name = "residency::exchanger";
inline constexpr machine::failing_call planning{exchanger_name, "arrays", "are not exchanged", "Mend that one"};

[[nodiscard]] inline std::string array_number(std::size_t n) { return "array " + std::to_string(n + 1); }

class array_plan;

/// What plans of one exchanger share.
class array_exchanges {
public:
  struct place {
    std::string_view mesh;
    std::shared_ptr<index_space const> space;
  };
  /// Collective. `make` makes the transports; ranks agree before each exchange if it `agrees`.
  array_exchanges(messenger const& ranks, machine::agreement const& with, any_transports (*make)(messenger const&),
                  settings how, bool agrees, grid const* whole, std::span<place const> meshes);
  ~array_exchanges();

  /// A plan for arrays that lie so, data aside; one that there is already, if there is. Collective: throws the same
  /// `keel::error` on every rank if an array does not fit, or ranks give others. Not to be used beyond this.
  std::shared_ptr<array_plan> plan(std::span<array_ref const> all);
  /// The queue of an instance of a space, the same one each time.
  template <class Space>
  [[nodiscard]] copy_queue const& queue_of(Space const& space) {
    for (known_queue const& k : queues_)
      if (k.type == &type_of<Space> && is_same(*static_cast<Space const*>(k.space.get()), space)) return *k.queue;
    queues_.push_back(
        {&type_of<Space>, std::make_shared<Space>(space), std::make_unique<copy_queue>(kokkos_copy_queue(space))});
    return *queues_.back().queue;
  }

private:
  friend class array_plan;
  template <class Space>
  static inline char type_of = 0;
  template <class Space>
  [[nodiscard]] static bool is_same(Space const& a, Space const& b) {
    if constexpr (requires { a == b; }) return a == b;
    else return a.impl_instance_id() == b.impl_instance_id();
  }
  struct known_queue {
    void const* type;
    std::shared_ptr<void const> space;
    std::unique_ptr<copy_queue> queue;
  };
  /// The ways to other ranks from one memory.
  struct ways {
    array_memory const* from;
    std::unique_ptr<copy_queue> queue; ///< the default one; null on the host
    std::vector<int> partners;
    routes all;
  };
  struct in_use {
    array_ref array;
    void const* by; ///< the exchange
  };
  static constexpr std::size_t most_plans = 256;

  /// That which an array lies on.
  [[nodiscard]] geometry const& geometry_of(array_ref const& a) const;
  /// `partners` in order, each once.
  [[nodiscard]] std::shared_ptr<ways> ways_for(array_memory const* from, std::span<int const> partners);
  /// Throws if one of them has elements of one that is in another exchange that has begun, or of another one of them.
  void require_idle(std::span<array_ref const> all) const;

  messenger ranks_;
  machine::agreement with_;
  any_transports (*make_)(messenger const&);
  settings how_;
  bool agrees_;
  std::shared_ptr<share_list> grid_; // null without one
  std::vector<place> meshes_;
  mutable std::vector<std::shared_ptr<geometry const>> geometries_;
  std::vector<std::shared_ptr<ways>> ways_;
  std::vector<known_queue> queues_;
  std::vector<std::shared_ptr<array_plan>> plans_; // of the exchanger's own calls, the last used first
  std::vector<in_use> open_;
};

/// How arrays that lie so are exchanged. Each exchange that is open at the same time has buffers of its own, which
/// stay.
class array_plan {
public:
  /// One exchange at a time.
  struct call {
    copy_queue const* queue;
    halo_exchange halo;
    bool is_open = false;
  };
  /// An exchange that has begun.
  struct exchange {
    struct half {
      call* by;
      std::vector<halo_array> arrays;
    };
    std::vector<half> halves; ///< by memory; none if it is not open
  };

  array_plan(array_exchanges& by, std::span<array_ref const> all, std::span<std::int64_t const> orders);

  /// Finds the ways of its messages. Collective.
  void connect();
  /// Whether these arrays lie as those of the plan, and are given with the same options.
  [[nodiscard]] bool is_planned_for(std::span<array_ref const> all) const;
  /// `queues` are those for each array's memory; null for the default one. Throws unless the arrays lie as planned; a
  /// pointer counts as one that does. Until `finish` neither `made` nor the plan may move.
  void begin(std::span<array_ref> all, combine how, std::span<copy_queue const* const> queues, exchange& made);
  void finish(exchange& begun);
  /// Begins and finishes.
  void run(std::span<array_ref> all, combine how);

private:
  struct array {
    array_ref lies; ///< without data
    std::vector<dimension_run> order;
    shape form;
    decomposition const* cut = nullptr;
    std::size_t part = 0; ///< number of its memory
  };
  struct part {
    array_memory const* from; ///< null on the host
    std::vector<int> partners;
    std::shared_ptr<array_exchanges::ways> by;
    std::list<call> calls;
  };
  void begin_halves(std::span<array_ref const> all, combine how, std::span<copy_queue const* const> queues,
                    exchange& made);
  /// Throws unless they lie as planned; sets how pointers lie.
  void require_planned(std::span<array_ref> all, combine how) const;

  array_exchanges* by_; // which keeps plans, so that what keeps a plan has to keep this, too
  std::vector<array> arrays_;
  std::vector<part> parts_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/array_exchanges.ipp>
#endif
