// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A device's memory as those see it who copy: without its type, so that they are compiled once.

#include <keel/impl/residency/strip.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace keel::residency::detail {

/// A device's memory with the queue that copies to it and from it. What the queue is given runs in order, behind the
/// kernels that it has. Pointers are to that memory, but where it says host.
class lane {
public:
  virtual ~lane() = default;
  lane(lane const&) = delete;
  lane& operator=(lane const&) = delete;

  /// Bytes there; and bytes of the host that the device copies from and to without a detour. Tools see the label.
  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate(char const* label, std::size_t bytes) = 0;
  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate_on_host(char const* label, std::size_t bytes) = 0;
  virtual void to_device(void* to, void const* host_from, std::size_t bytes) = 0;
  virtual void to_host(void* host_to, void const* from, std::size_t bytes) = 0;
  virtual void copy(void* to, void const* from, std::size_t bytes) = 0;
  /// Moves the words of a box between `array` and `buffer` by a kernel.
  virtual void move(motion how, shape const& lies, void* array, void* buffer, bounds const& box) = 0;
  /// The digest of a box; waits for it.
  [[nodiscard]] virtual std::uint64_t digest(shape const& lies, void const* array, bounds const& box) = 0;
  virtual void fence() = 0;

protected:
  lane() = default;
};

} // namespace keel::residency::detail
