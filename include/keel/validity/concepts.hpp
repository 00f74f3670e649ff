// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What residency asks of others: a runtime that says where things run, and a provider that
/// moves bytes.

#include <keel/policy/list.hpp>
#include <keel/validity/transitions.hpp>

#include <concepts>
#include <limits>
#include <span>
#include <string_view>

namespace keel::residency {

/// What `fields` needs of the program's runtime: the ranks, the device chosen for `on_device`, and
/// an instance of a device's execution space (Kokkos runs once it was asked for one).
template <class R, class App>
concept Runtime = requires(R& run) {
  { run.environment().size() } -> std::convertible_to<int>;
  { run.environment().rank() } -> std::convertible_to<int>;
  { run.device_name() } -> std::convertible_to<std::string_view>;
};

/// What a routine needs of one level of a variable, and what it overwrites.
struct request {
  int variable = 0, level = 0;
  region reads = region::none, writes = region::none;
  std::uint8_t read_layers = all_layers, written_layers = all_layers; ///< of the halo, if that is among the regions
};

/// A half-open range of components.
struct component_range {
  int begin = 0, end = 1;

  /// Clamped to the number of components.
  [[nodiscard]] constexpr component_range of(int components) const {
    return {begin, end < components ? end : components};
  }
};
/// All components, however many there are.
inline constexpr component_range every_component{0, std::numeric_limits<int>::max()};

/// A region of one level of one component of a variable, on its way from one memory to another.
struct transfer {
  int variable, level, component;
  region where;
  memory from, to;
};

/// Whether the source still holds what was sent.
enum class answer { copied, moved };
/// Returned by calls that must not block: the copy is in flight, in the order of its device's queue.
struct started {
  answer how = answer::copied;
};
/// Returned by calls that must block: the data are there.
struct finished {
  answer how = answer::copied;
};

/// What allocates and copies. All transfers of a batch have the same source and the same
/// destination, one of them the host. A call that throws has changed no valid data.
///
/// | member | contract |
/// |---|---|
/// | `create(variable, m)` | memory for all levels and components; once for each variable and memory |
/// | `copy_cycle(variable)` | the levels change places: by pointer, no byte moves |
/// | `copy_from_past(variable, component, m)` | level 1 to level 0, within `m` |
/// | `to_device(batch)`, `post_sync(batch)` | begin a copy from the host; the latter copies only ghosts, after an exchange |
/// | `to_host(batch)`, `pre_sync(batch)` | copy to the host; the latter copies only rims, before an exchange |
/// | `wait(m)` | returns when all copies begun to `m`, or from there, are done; called before the host writes there |
/// | `poison(variable, level, component, where, m)` | fills with bytes that no computation yields |
///
/// Models: `kokkos_provider`, and the test's recording one.
template <class P>
concept Provider = requires(P& p, int n, memory m, region r, std::span<transfer const> batch) {
  { p.create(n, m) } -> std::same_as<void>;
  { p.copy_cycle(n) } -> std::same_as<started>;
  { p.copy_from_past(n, n, m) } -> std::same_as<started>;
  { p.to_device(batch) } -> std::same_as<started>;
  { p.to_host(batch) } -> std::same_as<finished>;
  { p.pre_sync(batch) } -> std::same_as<finished>;
  { p.post_sync(batch) } -> std::same_as<started>;
  { p.wait(m) } -> std::same_as<void>;
  { p.poison(n, n, n, r, m) } -> std::same_as<void>;
};

/// One whose queues may fail, kernels of routines included, and that says of which device a call threw that:
/// `take_failure(m)`, true once for each failure. Data that only that device had are then lost.
template <class P>
concept ReportsFailures = Provider<P> && requires(P& p, memory m) {
  { p.take_failure(m) } -> std::same_as<bool>;
};
/// One that can also begin a copy to the host, in the order of its device's queue: `begin_to_host(batch)`. The host has
/// the data when `wait` for that device returns, and the device keeps them: there is nothing to answer. If a
/// provider lacks it, such copies begin when they are needed.
template <class P>
concept StartsToHost = Provider<P> && requires(P& p, std::span<transfer const> batch) {
  { p.begin_to_host(batch) } -> std::same_as<void>;
};

} // namespace keel::residency
