// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What exchangers do with arrays, without the types of these: plans, which are kept, and exchanges. How, the bodies
/// say, and users' sources do not compile.

#include <keel/exchange/transport.hpp>
#include <keel/impl/exchange/array_ref.hpp>
#include <keel/machine/agreement.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/settings.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace keel::residency::detail {

inline constexpr std::string_view exchanger_name = "residency::exchanger";

class index_space;

/// What a plan knows of an exchange that has begun.
struct begun_exchange {
  virtual ~begun_exchange() = default;
};

/// How arrays that lie so are exchanged. Each exchange that is open at the same time has buffers of its own, which
/// stay. Not to be used beyond the `array_exchanges` that made it.
class array_plan {
public:
  array_plan() = default;
  array_plan(array_plan const&) = delete;
  array_plan& operator=(array_plan const&) = delete;
  virtual ~array_plan() = default;

  /// Begins and finishes. Throws unless the arrays lie as planned; a pointer counts as one that does.
  virtual void run(std::span<array_ref> all, combine how) = 0;
  /// An exchange that has begun. `queues` are those for each array's memory; null for the default one.
  [[nodiscard]] virtual std::unique_ptr<begun_exchange> begin(std::span<array_ref> all, combine how,
                                                              std::span<copy_queue const* const> queues) = 0;
  virtual void finish(begun_exchange& begun) = 0;
};

/// What plans of one exchanger share: the places where arrays lie, the ways between ranks, and the plans it keeps.
class array_exchanges {
public:
  struct place {
    std::string_view mesh;
    std::shared_ptr<index_space const> space;
  };
  array_exchanges() = default;
  array_exchanges(array_exchanges const&) = delete;
  array_exchanges& operator=(array_exchanges const&) = delete;
  virtual ~array_exchanges() = default;
  /// Collective. `make` makes the transports; ranks agree before each exchange if it `agrees`.
  [[nodiscard]] static std::shared_ptr<array_exchanges> made_of(messenger const& ranks, machine::agreement const& with,
                                                                any_transports (*make)(messenger const&), settings how,
                                                                bool agrees, grid const* whole,
                                                                std::span<place const> meshes);

  /// A plan for arrays that lie so, data aside; one that there is already, if there is. Collective: throws the same
  /// `keel::error` on every rank if an array does not fit, or ranks give others.
  [[nodiscard]] virtual std::shared_ptr<array_plan> plan(std::span<array_ref const> all) = 0;
  /// The queue of an instance of a space, the same one each time.
  template <class Space>
  [[nodiscard]] copy_queue const& queue_of(Space const& space) {
    auto const is_same = [](void const* a, void const* b) {
      Space const &one = *static_cast<Space const*>(a), &other = *static_cast<Space const*>(b);
      if constexpr (requires { one == other; }) return one == other;
      else return one.impl_instance_id() == other.impl_instance_id();
    };
    if (copy_queue const* const known = find_queue(&type_mark<Space>, &space, is_same)) return *known;
    return keep_queue(&type_mark<Space>, std::make_shared<Space>(space), kokkos_copy_queue(space));
  }

private:
  virtual copy_queue const* find_queue(void const* type, void const* space,
                                       bool (*is_same)(void const*, void const*)) const = 0;
  virtual copy_queue const& keep_queue(void const* type, std::shared_ptr<void const> space, copy_queue made) = 0;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/array_exchanges.ipp>
#endif
