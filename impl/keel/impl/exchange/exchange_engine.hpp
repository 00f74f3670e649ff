// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What array_exchanges.hpp is made of: the ways between ranks, and plans with the buffers of their exchanges.

#include <keel/impl/exchange/array_exchanges.hpp>
#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/layout/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

namespace keel::residency::detail {

class planned_arrays;

class exchange_engine final : public array_exchanges {
public:
  exchange_engine(messenger const& ranks, machine::agreement const& with, any_transports (*make)(messenger const&),
                  settings how, bool agrees, grid const* whole, std::span<place const> meshes);

  [[nodiscard]] std::shared_ptr<array_plan> plan(std::span<array_ref const> all) override;

private:
  friend class planned_arrays;
  struct known_queue {
    void const* type;
    std::shared_ptr<void const> space;
    std::unique_ptr<copy_queue const> queue;
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

  copy_queue const* find_queue(void const* type, void const* space,
                               bool (*is_same)(void const*, void const*)) const override;
  copy_queue const& keep_queue(void const* type, std::shared_ptr<void const> space, copy_queue made) override;
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
  std::vector<std::shared_ptr<planned_arrays>> plans_; // of the exchanger's own calls, the last used first
  std::vector<in_use> open_;
};

class planned_arrays final : public array_plan {
public:
  /// One exchange at a time.
  struct call {
    copy_queue const* queue;
    halo_exchange halo;
    std::vector<halo_array> arrays = {};
    bool is_open = false;
  };
  /// An exchange that has begun.
  struct exchange final : begun_exchange {
    std::vector<call*> halves; ///< by memory; none if it is not open
  };

  planned_arrays(exchange_engine& by, std::span<array_ref const> all, std::span<std::int64_t const> orders);

  /// Finds the ways of its messages. Collective.
  void connect();
  /// Whether these arrays lie as those of the plan, and are given with the same options.
  [[nodiscard]] bool is_planned_for(std::span<array_ref const> all) const;

  void run(std::span<array_ref> all, combine how) override;
  [[nodiscard]] std::unique_ptr<begun_exchange> begin(std::span<array_ref> all, combine how,
                                                      std::span<copy_queue const* const> queues) override;
  void finish(begun_exchange& begun) override;

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
    std::shared_ptr<exchange_engine::ways> by;
    std::list<call> calls;
  };
  void begin(std::span<array_ref> all, combine how, std::span<copy_queue const* const> queues, exchange& made);
  void end(exchange& begun);
  void begin_halves(std::span<array_ref const> all, combine how, std::span<copy_queue const* const> queues,
                    exchange& made);
  /// Throws unless they lie as planned; sets how pointers lie.
  void require_planned(std::span<array_ref> all, combine how) const;

  exchange_engine* by_; // which keeps plans, so that what keeps a plan has to keep this, too
  std::vector<array> arrays_;
  std::vector<part> parts_;
  exchange whole_; // of `run`
};

} // namespace keel::residency::detail
