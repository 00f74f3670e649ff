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

/// What hangs on an environment once its ranks had messages: a duplicate of it, and the tag of the next messenger, so
/// that all of them take one communicator.
template <class Ranks>
struct messenger::shared {
  std::shared_ptr<machine::basic_environment<Ranks> const> environment;
  int next = 0;

  [[nodiscard]] static shared& of(machine::basic_environment<Ranks> const& all) {
    if (auto* const found = all.data().template find<shared>()) return *found;
    auto made = std::make_shared<machine::basic_environment<Ranks> const>(all.comm());
    return all.data().template add<shared>(shared{std::move(made)});
  }
  [[nodiscard]] std::shared_ptr<model<Ranks>> another() {
    constexpr int tags = 32768; // that MPI grants
    return std::make_shared<model<Ranks>>(environment, next++ % tags);
  }
};

template <class Ranks>
struct messenger::model {
  model(std::shared_ptr<machine::basic_environment<Ranks> const> of, int number)
      : environment(std::move(of)), messages(*environment), tag(number) {}

  static std::shared_ptr<void> another(std::shared_ptr<void> const& m) {
    auto const* const it = static_cast<model*>(m.get());
    return std::make_shared<model>(it->environment, it->tag);
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
    static_cast<model*>(m)->messages.receive(to, bytes, from, static_cast<model*>(m)->tag);
  }
  static void send(void* m, void const* from, std::size_t bytes, int to) {
    static_cast<model*>(m)->messages.send(from, bytes, to, static_cast<model*>(m)->tag);
  }
  static void wait(void* m) { static_cast<model*>(m)->messages.wait(); }

  static constexpr calls all{&another, &require_running, &outnumber_cores, &reserve, &receive, &send, &wait};

  std::shared_ptr<machine::basic_environment<Ranks> const> environment; // a duplicate
  machine::messages<Ranks> messages;
  int tag;
};

template <class Ranks>
messenger::messenger(machine::basic_environment<Ranks> const& of)
    : messages_(shared<Ranks>::of(of).another()), calls_(&model<Ranks>::all), rank_(of.rank()), size_(of.size()),
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
