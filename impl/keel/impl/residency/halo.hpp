// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The exchange of ghosts between the arrays of neighbouring ranks.

#include <keel/impl/residency/observers.hpp>
#include <keel/impl/residency/packing.hpp>
#include <keel/machine/environment.hpp>
#include <keel/machine/messages.hpp>
#include <keel/residency/transitions.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace keel::residency::detail {

/// Messages of an environment of any kind of ranks, without its type. Copies share them, and a duplicate of the
/// application's environment, so that no message meets one of the application's.
class messenger {
public:
  template <class Ranks>
  explicit messenger(machine::basic_environment<Ranks> const& of) : calls_(&calls_of<Ranks>) {
    struct both {
      explicit both(typename Ranks::handle comm) : environment(comm) {}
      machine::basic_environment<Ranks> environment;
      machine::messages<Ranks> messages{environment};
    };
    auto const held = std::make_shared<both>(of.comm());
    messages_ = {held, &held->messages};
  }
  void receive(void* to, std::size_t bytes, int from) { calls_->receive(messages_.get(), to, bytes, from); }
  void send(void const* from, std::size_t bytes, int to) { calls_->send(messages_.get(), from, bytes, to); }
  void wait() { calls_->wait(messages_.get()); }

private:
  struct calls {
    void (*receive)(void*, void* to, std::size_t bytes, int from);
    void (*send)(void*, void const* from, std::size_t bytes, int to);
    void (*wait)(void*);
  };
  template <class Ranks>
  static constexpr calls calls_of{[](void* m, void* to, std::size_t bytes, int from) {
                                    static_cast<machine::messages<Ranks>*>(m)->receive(to, bytes, from, 0);
                                  },
                                  [](void* m, void const* from, std::size_t bytes, int to) {
                                    static_cast<machine::messages<Ranks>*>(m)->send(from, bytes, to, 0);
                                  },
                                  [](void* m) { static_cast<machine::messages<Ranks>*>(m)->wait(); }};

  std::shared_ptr<void> messages_;
  calls const* calls_;
};

#if KEEL_COMPILED && KEEL_WITH_MPI
extern template messenger::messenger(machine::basic_environment<machine::mpi> const&);
#endif

/// What the exchange of one component needs. It fills ghosts in one round, or adds them to their owners.
struct halo_channel {
  halo_channel(messenger with, decomposition cut) : plan_(std::move(cut)), messages_(std::move(with)) {}

  /// Collective over the environment, with the same arrays in the same order. Receives stand before
  /// anything is packed on the host; on a device, the last exchange has to be unpacked first. Until `finish` the owned
  /// cells may be read, the ghosts not touched.
  void start(std::span<halo_array const> arrays, packing& where, combine how) {
    plan_.lay_out(arrays, where);
    if (!where.is_behind_caller()) receive(where);
    plan_.pack(arrays, where, how);
    if (plan_.messages().empty()) return;
    where.settle();
    if (where.is_behind_caller()) receive(where);
    for (auto const& m : plan_.messages()) messages_.send(where.mail_out() + m.begin, m.bytes, m.rank);
  }
  /// With the same arguments as `start`, and an observer of the wait for messages.
  void finish(std::span<halo_array const> arrays, packing& where, combine how, any_observer& observer) {
    if (!plan_.messages().empty()) {
      observer.before_wait();
      messages_.wait();
      observer.after_wait();
      where.collect();
    }
    plan_.unpack(arrays, where, how);
  }
  [[nodiscard]] std::uint64_t bytes_sent(shape const& lies) const { return plan_.bytes_sent(lies); }

  std::array<packing, max_memories> packings; ///< by memory

private:
  void receive(packing const& where) {
    for (auto const& m : plan_.messages()) messages_.receive(where.mail_in() + m.begin, m.bytes, m.rank);
  }

  halo_plan plan_;
  messenger messages_;
};

} // namespace keel::residency::detail
