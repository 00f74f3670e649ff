// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What moves packed messages between ranks: `using transports = keel::list<keel::residency::staged, …>;`
///
/// | transport | messages go | ordered by |
/// |---|---|---|
/// | `staged` | through memory of the host, and MPI | the host, which waits |
/// | `direct` | by an MPI that reaches the memory of a device | the host, which waits |
/// | `nccl` | by NCCL or RCCL | the device's queue |
/// | `peer` | into memory of the other rank that this one has mapped: shared pages, or a GPU's memory over NVLink or PCIe | the device's queue |

#include <keel/exchange/queue.hpp>
#include <keel/machine/environment.hpp>
#include <keel/machine/messages.hpp>
#include <keel/policy/list.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace keel::residency {

namespace detail {
/// See `messenger`.
class any_messages {
public:
  virtual ~any_messages() = default;
  [[nodiscard]] virtual std::shared_ptr<any_messages> another() const = 0;
  virtual void require_running() const = 0;
  [[nodiscard]] virtual bool outnumber_cores() const = 0;
  virtual void reserve(std::size_t count) = 0;
  virtual void receive(void* to, std::size_t bytes, int from) = 0;
  virtual void send(void const* from, std::size_t bytes, int to) = 0;
  virtual void wait() = 0;
};
template <class Ranks>
class messages_of;
class repeatable;
} // namespace detail

/// The ranks of an application and messages between their hosts, of any kind of ranks, without its type. They do not
/// meet messages of the application, nor those of another messenger, though all of an environment travel in one
/// duplicate of it, which ends with it. Copies are of the same ranks, and each waits for its own messages.
class messenger {
public:
  /// Collective over the environment; ranks make messengers in the same order.
  template <class Ranks>
  explicit messenger(machine::basic_environment<Ranks> const& of);
  messenger(messenger&&) = default;
  messenger& operator=(messenger&&) = default;
  messenger(messenger const& other)
      : messages_(other.messages_->another()), rank_(other.rank_), size_(other.size_),
        reaches_device_memory_(other.reaches_device_memory_) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// Its environment, a duplicate of that which it was made for, whose `Ranks` these are.
  template <class Ranks>
  [[nodiscard]] std::shared_ptr<machine::basic_environment<Ranks> const> environment() const;
  /// Whether messages may be sent from, and received in, the memory of a GPU, as far as the ranks' model says.
  [[nodiscard]] bool reaches_device_memory() const { return reaches_device_memory_; }

  /// Throws `keel::error` if the ranks cannot be reached any more, for example from the child of a fork. To be asked
  /// before memory is written that other ranks have mapped.
  void require_running() const { messages_->require_running(); }
  /// Whether the ranks of this node are more than the hardware threads that they may run on. Collective.
  [[nodiscard]] bool outnumber_cores() const { return messages_->outnumber_cores(); }
  /// Makes room for so many messages; see `machine::messages`.
  void reserve(std::size_t count) { messages_->reserve(count); }
  /// Messages of one rank to another arrive in the order sent.
  void receive(void* to, std::size_t bytes, int from) { messages_->receive(to, bytes, from); }
  void send(void const* from, std::size_t bytes, int to) { messages_->send(from, bytes, to); }
  /// Returns when all that this object began is done; see `machine::messages`.
  void wait() { messages_->wait(); }
  /// Sends `mine(i)`, of so many bytes, to each of these ranks, and gets theirs, one after the other.
  template <class F>
  void swap(std::span<int const> ranks, F const& mine, void* theirs, std::size_t bytes) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      receive(static_cast<std::byte*>(theirs) + i * bytes, bytes, ranks[i]);
      send(mine(i), bytes, ranks[i]);
    }
    wait();
  }

private:
  std::shared_ptr<detail::any_messages> messages_;
  int rank_, size_;
  bool reaches_device_memory_;
};

/// What moves the messages of one exchange after another. `queue` is that of packing and unpacking, the device's or the
/// host's. All calls are collective over the ranks that exchange.
///
/// | member | contract |
/// |---|---|
/// | `T(messenger const&)` | collective over its ranks |
/// | copy | moves the messages of another exchange, which may be under way at the same time |
/// | `name` | what `--keel-exchange-through` calls it |
/// | `reaches_device_memory` | if not, its messages are copied to memory of the host, and from it |
/// | `is_ordered_by_queue` | `begin` and `finish` do not wait, and what they do comes between packing and unpacking in the queue; if not, the queue is fenced before `begin`, and `finish` returns when the data are there |
/// | `begin(queue, sends, receives)` | each rank at most once in each; sizes from 0 to more than 2^31 bytes, the same on both sides |
/// | `finish(queue)` | of what `begin` began |
/// | `connect(queue, ranks)` | optional, collective over all ranks of the messenger, each of which names those that it exchanges with: for each of these, why it cannot be reached, empty if it can be |
/// | `reserve(count)` | optional: so many messages of at most a GiB take no memory then |
/// | `reserve(queue, sends, receives)` | optional instead: these, whose data are not set, take none then; calls no other rank |
/// | `place(queue, sends, receives)` | optional, before packing: sets where messages are packed and where they arrive, so that `begin` copies nothing, and may set their flags |
///
/// Models: `staged`, `direct`, `peer`, `nccl`. Laws: test/laws/transport.hpp. A failure is a `keel::error` that names
/// the rank.
template <class T>
concept Transport = std::copy_constructible<T> && std::constructible_from<T, messenger const&> &&
                    requires(T& t, queue const& by, std::span<message const> all) {
                      { T::name } -> std::convertible_to<std::string_view>;
                      { T::reaches_device_memory } -> std::convertible_to<bool>;
                      { T::is_ordered_by_queue } -> std::convertible_to<bool>;
                      t.begin(by, all, all);
                      t.finish(by);
                    };

/// Through memory of the host.
class staged {
public:
  static constexpr std::string_view name = "staged";
  static constexpr bool reaches_device_memory = false, is_ordered_by_queue = false;
  explicit staged(messenger const& ranks) : messages_(ranks) {}

  void begin(auto const&, std::span<message const> sends, std::span<message const> receives) { begin(sends, receives); }
  void finish(auto const&) { messages_.wait(); }
  void reserve(std::size_t count) { messages_.reserve(count); }

protected:
  void begin(std::span<message const> sends, std::span<message const> receives) {
    for (message const& m : receives)
      if (m.bytes != 0) messages_.receive(m.data, m.bytes, m.rank);
    for (message const& m : sends)
      if (m.bytes != 0) messages_.send(m.data, m.bytes, m.rank);
  }
  messenger messages_;
};

class direct;
class nccl;
class peer;
/// The default of `transports`.
using all_transports = keel::list<staged, direct, peer, nccl>;

} // namespace keel::residency

#include <keel/impl/exchange/any_transport.hpp>
#include <keel/impl/exchange/messenger.hpp>
