// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a messenger calls the messages of its environment.

#include <keel/exchange/transport.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/policy/error.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace keel::residency {

namespace detail {
/// The hardware threads that a rank may run on, as bytes that travel; all if the system does not say.
struct hardware_threads {
  std::array<std::uint64_t, 64> bits;
  [[nodiscard]] static hardware_threads own();
};
/// Whether so many ranks are more than the hardware threads that one at least may run on.
[[nodiscard]] bool outnumber(int ranks, std::span<hardware_threads const> of_each);
} // namespace detail

template <class Ranks>
struct messenger::model {
  explicit model(std::shared_ptr<machine::basic_environment<Ranks> const> of)
      : environment(std::move(of)), messages(*environment) {}

  static std::shared_ptr<void> another(std::shared_ptr<void> const& m) {
    return std::make_shared<model>(static_cast<model*>(m.get())->environment);
  }
  static void require_running() {
    if (!Ranks::is_running())
      throw error("residency", "other ranks cannot be reached",
                  "their environment has ended, or this is the child of a fork", "Exchange where it runs");
  }
  static bool outnumber_cores(void const* m) {
    auto const here = static_cast<model const*>(m)->environment->node();
    return detail::outnumber(here.size(), machine::all_gather(here, detail::hardware_threads::own()));
  }
  static void reserve(void* m, std::size_t count) { static_cast<model*>(m)->messages.reserve(count); }
  static void receive(void* m, void* to, std::size_t bytes, int from) {
    static_cast<model*>(m)->messages.receive(to, bytes, from, 0);
  }
  static void send(void* m, void const* from, std::size_t bytes, int to) {
    static_cast<model*>(m)->messages.send(from, bytes, to, 0);
  }
  static void wait(void* m) { static_cast<model*>(m)->messages.wait(); }

  static constexpr calls all{&another, &require_running, &outnumber_cores, &reserve, &receive, &send, &wait};

  std::shared_ptr<machine::basic_environment<Ranks> const> environment; // a duplicate
  machine::messages<Ranks> messages;
};

template <class Ranks>
messenger::messenger(machine::basic_environment<Ranks> const& of)
    : messages_(std::make_shared<model<Ranks>>(std::make_shared<machine::basic_environment<Ranks> const>(of.comm()))),
      calls_(&model<Ranks>::all), rank_(of.rank()), size_(of.size()),
      reaches_device_memory_(machine::reaches_device_memory<Ranks>()) {}

template <class Ranks>
std::shared_ptr<machine::basic_environment<Ranks> const> messenger::environment() const {
  return static_cast<model<Ranks> const*>(messages_.get())->environment;
}

#if KEEL_COMPILED && KEEL_WITH_MPI
extern template messenger::messenger(machine::basic_environment<machine::mpi> const&);
#endif

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/exchange/messenger.ipp>
#endif
