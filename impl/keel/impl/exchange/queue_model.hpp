// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a queue does, without the type of its space.

#include <keel/impl/exchange/moves.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace keel::space {
class peer_memory;
}
namespace keel::residency {
struct message;
}

namespace keel::residency::detail {

/// What a `queue` does, for a space of some type.
class queue_model {
public:
  queue_model() = default;
  queue_model(queue_model const&) = delete;
  queue_model& operator=(queue_model const&) = delete;
  virtual ~queue_model() = default;

  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate(char const* label, std::size_t bytes) const = 0;
  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate_on_host(char const* label, std::size_t bytes) const = 0;
  virtual void to_device(void* to, void const* host_from, std::size_t bytes) const = 0;
  virtual void to_host(void* host_to, void const* from, std::size_t bytes) const = 0;
  virtual void copy(void* to, void const* from, std::size_t bytes) const = 0;
  virtual void move(move_words const& words) const = 0;
  [[nodiscard]] virtual std::uint64_t digest(void const* array, strip const& which) const = 0;
  virtual void fence() const = 0;
  [[nodiscard]] virtual bool is_reached_by_host() const = 0;
  [[nodiscard]] virtual bool waits_in_kernels() const = 0;
  [[nodiscard]] virtual space::peer_memory* peers() const = 0;
  [[nodiscard]] virtual void* native() const = 0;
  /// See `copy_queue::beside`.
  [[nodiscard]] virtual std::shared_ptr<queue_model const> beside() const = 0;

  void move_flags(motion how, std::span<message const> all) const;
  /// Calls what gives work to the queue, or waits for it.
  void reporting(auto const& call) const {
    try {
      call();
    } catch (...) {
      has_failed_ = true;
      throw;
    }
  }
  [[nodiscard]] bool take_failure() const { return std::exchange(has_failed_, false); }

private:
  mutable bool has_failed_ = false;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/queue_model.ipp>
#endif
