// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ranks without MPI: one process, rank 0 of 1.

#include <keel/impl/machine/self_requests.hpp>
#include <keel/machine/concepts.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace keel::machine {

/// One rank, which never waits. Every collective is a copy at most.
struct alone {
  /// Takes the place of MPI's communicator.
  enum class handle : int { null, self };

  class communicator {
  public:
    constexpr communicator() = default;
    constexpr explicit communicator(handle h) noexcept : handle_(h) {}
    constexpr communicator(communicator&& other) noexcept : handle_(std::exchange(other.handle_, handle::null)) {}
    constexpr communicator& operator=(communicator&& other) noexcept {
      handle_ = std::exchange(other.handle_, handle::null);
      return *this;
    }
    [[nodiscard]] constexpr handle get() const noexcept { return handle_; }

  private:
    handle handle_ = handle::null;
  };

  using requests = detail::self_requests;

  static constexpr handle null() noexcept { return handle::null; }
  /// Throws in a build without MPI if a launcher started several processes, because each would take itself for the
  /// only one.
  static bool start(int*, char***, thread_level);
  static constexpr void stop() noexcept {}
  static constexpr bool is_running() noexcept { return true; }
  static constexpr thread_level level() noexcept { return thread_level::multiple; }
  /// There are no messages.
  static constexpr bool reaches_device_memory() noexcept { return true; }

  static communicator world() noexcept { return communicator{handle::self}; }
  static communicator borrow(handle h) noexcept { return communicator{h}; }
  static communicator duplicate(communicator const& c) noexcept { return communicator{c.get()}; }
  static communicator subset(communicator const& c, strided const&) noexcept { return communicator{c.get()}; }
  static communicator subset(communicator const& c, chosen const&) noexcept { return communicator{c.get()}; }
  static communicator split(communicator const& c, std::optional<int> color, int) noexcept {
    return communicator{color ? c.get() : handle::null};
  }
  static communicator by_node(communicator const& c) noexcept { return communicator{c.get()}; }
  static std::pair<communicator, int> lead_nodes(communicator const& c, communicator const&) noexcept {
    return {communicator{c.get()}, 1};
  }
  static int rank(communicator const&) noexcept { return 0; }
  static int size(communicator const&) noexcept { return 1; }

  static void barrier(communicator const&) noexcept {}
  static void broadcast(communicator const&, void*, std::size_t, int) noexcept {}
  static std::vector<int> gather_counts(communicator const&, int count, int) { return {count}; }
  static void gather(communicator const&, void const* from, int count, std::size_t element_bytes, void* to,
                     std::vector<int> const&, int) noexcept {
    if (count != 0) std::memcpy(to, from, std::size_t(count) * element_bytes);
  }
  static void all_gather(communicator const&, void const* from, void* to, std::size_t bytes) noexcept {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  static bool all_of(communicator const&, bool mine) noexcept { return mine; }

  /// Raises SIGABRT: there is no launcher to hand the code to.
  [[noreturn]] static void abort(communicator const&, int) noexcept { std::abort(); }
};

} // namespace keel::machine

#if !KEEL_COMPILED
#include <keel/impl/machine/alone.ipp>
#endif
