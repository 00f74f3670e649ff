// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a messenger calls the messages of its environment.

#include <keel/policy/error.hpp>
#include <keel/residency/transport.hpp>

#include <memory>

namespace keel::residency {

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
  static void reserve(void* m, std::size_t count) { static_cast<model*>(m)->messages.reserve(count); }
  static void receive(void* m, void* to, std::size_t bytes, int from) {
    static_cast<model*>(m)->messages.receive(to, bytes, from, 0);
  }
  static void send(void* m, void const* from, std::size_t bytes, int to) {
    static_cast<model*>(m)->messages.send(from, bytes, to, 0);
  }
  static void wait(void* m) { static_cast<model*>(m)->messages.wait(); }

  static constexpr calls all{&another, &require_running, &reserve, &receive, &send, &wait};

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
