// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages, and the queue of a device with its memory: what a transport allocates, copies and orders by. Without a
/// type of Kokkos, so that transports are compiled once; `queue_of` (kokkos_queue.hpp) makes one of a Kokkos space.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace keel::space {
class peer_memory;
}

namespace keel::residency {

namespace detail {
class queue_model;
}

/// Bytes that go to another rank, or come from it.
struct message {
  int rank;
  std::byte* data = nullptr;
  std::size_t bytes = 0; ///< 0: there is nothing, but for `peer`'s signal
  /// A word that `place` may set: who sends raises it by one when the message is there. If `begin` still finds it set,
  /// the transport has to raise it, or to wait for it in `finish`, by `queue`; else kernels that pack and unpack do.
  std::uint32_t* flag = nullptr;
  /// If there is a flag, a word in the queue's memory in which this rank counts how often it raised it, or awaited it:
  /// so the same work can be done again. Both ranks begin with what the flag has.
  std::uint32_t* count = nullptr;
  /// If not 0, the message goes in pieces of so many bytes, a multiple of 256, each with words of its own from `flag`
  /// and `count` on: what came is unpacked while the rest is on its way.
  std::uint32_t piece_bytes = 0;

  [[nodiscard]] std::size_t pieces() const {
    return bytes == 0 || piece_bytes == 0 ? 1 : (bytes + piece_bytes - 1) / piece_bytes;
  }
  friend bool operator==(message const&, message const&) = default;
};

/// A device's queue of kernels and copies, and the device's memory. What it is given runs in order, after the kernels
/// that it has. Pointers are to that memory, unless their name says host. One made from nothing is the host's: it tests
/// false, and each call is done when it returns. Copies are of the same queue. A call throws what earlier work in the
/// queue threw.
class queue {
public:
  queue() = default;
  [[nodiscard]] explicit operator bool() const { return model_ != nullptr; }

  /// Bytes there; and bytes of the host that the device copies from and to without a detour. They are freed with the
  /// last copy of the pointer, which has to outlive the work that uses them. Tools see the label.
  [[nodiscard]] std::shared_ptr<std::byte> allocate(char const* label, std::size_t bytes) const;
  [[nodiscard]] std::shared_ptr<std::byte> allocate_on_host(char const* label, std::size_t bytes) const;
  void to_device(void* to, void const* host_from, std::size_t bytes) const;
  void to_host(void* host_to, void const* from, std::size_t bytes) const;
  void copy(void* to, void const* from, std::size_t bytes) const;
  /// Raises the flags of those messages that have one, or waits until they are raised.
  void raise(std::span<message const> all) const;
  void await(std::span<message const> all) const;
  /// Returns when all that it was given is done.
  void fence() const;

  /// Whether the host reaches that memory by its pointers, and so does any MPI.
  [[nodiscard]] bool is_reached_by_host() const;
  /// Whether a kernel may wait for another rank's: not if both run at once on one device, and the one that waits could
  /// keep the other from running.
  [[nodiscard]] bool waits_in_kernels() const;
  /// Memory of its kind that other processes map; null if they cannot.
  [[nodiscard]] space::peer_memory* peers() const;
  /// CUDA's or HIP's stream; null for any other queue.
  [[nodiscard]] void* native() const;

protected:
  explicit queue(std::shared_ptr<detail::queue_model const> model) : model_(std::move(model)) {}
  [[nodiscard]] std::shared_ptr<detail::queue_model const> const& model() const { return model_; }

private:
  std::shared_ptr<detail::queue_model const> model_;
};

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/exchange/copy_queue.hpp>
#endif
