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

template <class Ranks>
class messages_of final : public any_messages {
public:
  using environment_type = std::shared_ptr<machine::basic_environment<Ranks> const>;
  messages_of(environment_type of, int tag) : environment(std::move(of)), messages_(*environment), tag_(tag) {}

  std::shared_ptr<any_messages> another() const override { return std::make_shared<messages_of>(environment, tag_); }
  void require_running() const override {
    if (!Ranks::is_running())
      throw error("residency", "other ranks cannot be reached",
                  "their environment has ended, or this is the child of a fork", "Exchange where it runs");
  }
  bool outnumber_cores() const override {
    auto const here = environment->node();
    return outnumber(here.size(), machine::all_gather(here, hardware_threads::own()));
  }
  void reserve(std::size_t count) override { messages_.reserve(count); }
  void receive(void* to, std::size_t bytes, int from) override { messages_.receive(to, bytes, from, tag_); }
  void send(void const* from, std::size_t bytes, int to) override { messages_.send(from, bytes, to, tag_); }
  void wait() override { messages_.wait(); }

  environment_type environment; // a duplicate

private:
  machine::messages<Ranks> messages_;
  int tag_;
};

/// What hangs on an environment once its ranks had messages: a duplicate of it, and the tag of the next messenger, so
/// that all of them take one communicator.
template <class Ranks>
struct shared_messages {
  typename messages_of<Ranks>::environment_type environment;
  int next = 0;

  [[nodiscard]] static std::shared_ptr<any_messages> another(machine::basic_environment<Ranks> const& of) {
    constexpr int tags = 32768; // that MPI grants
    auto* found = of.data().template find<shared_messages>();
    if (found == nullptr)
      found = &of.data().template add<shared_messages>(
          shared_messages{std::make_shared<machine::basic_environment<Ranks> const>(of.comm())});
    return std::make_shared<messages_of<Ranks>>(found->environment, found->next++ % tags);
  }
};
} // namespace detail

template <class Ranks>
messenger::messenger(machine::basic_environment<Ranks> const& of)
    : messages_(detail::shared_messages<Ranks>::another(of)), rank_(of.rank()), size_(of.size()),
      reaches_device_memory_(machine::reaches_device_memory<Ranks>()) {}

template <class Ranks>
std::shared_ptr<machine::basic_environment<Ranks> const> messenger::environment() const {
  return static_cast<detail::messages_of<Ranks> const&>(*messages_).environment;
}

#if KEEL_COMPILED && KEEL_WITH_MPI
extern template messenger::messenger(machine::basic_environment<machine::mpi> const&);
#endif

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/exchange/messenger.ipp>
#endif
