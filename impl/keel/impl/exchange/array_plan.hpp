// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// An exchange of arrays of the application, planned.

#include <keel/impl/exchange/array_exchanges.hpp>
#include <keel/impl/exchange/array_ref.hpp>
#include <keel/impl/exchange/halo.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// How arrays that lie so are exchanged. Each exchange that is open at the same time has buffers of its own, which
/// stay.
class array_plan {
public:
  /// An exchange that has begun.
  struct exchange {
    struct half {
      halo_exchange* by;
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
  /// One exchange at a time.
  struct call {
    copy_queue const* queue;
    std::unique_ptr<halo_exchange> halo;
    bool is_open = false;
  };
  struct part {
    array_memory const* from; ///< null on the host
    std::vector<int> partners;
    std::shared_ptr<array_exchanges::ways> by;
    std::vector<call> calls;
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
#include <keel/impl/exchange/array_plan.ipp>
#endif
