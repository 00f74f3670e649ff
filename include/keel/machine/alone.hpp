// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ranks without MPI: one process, rank 0 of 1.

#include <keel/machine/concepts.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keel::machine {

namespace detail {

/// Buffers noted by `send` and `receive`, copied by `wait`: per tag the n-th sent
/// meets the n-th received.
class self_requests {
public:
  template <class Communicator>
  void receive(Communicator const&, void* to, std::size_t bytes, int, int tag) {
    receives_.push_back({to, bytes, tag});
  }
  template <class Communicator>
  void send(Communicator const&, void const* from, std::size_t bytes, int, int tag) {
    sends_.push_back({from, bytes, tag});
  }

  /// Throws `keel::error`, and forgets all that was noted, if a message has no partner or does not fit.
  void wait();

private:
  template <class Pointer>
  struct message {
    Pointer data;
    std::size_t bytes;
    int tag;
  };

  std::vector<message<void const*>> sends_;
  std::vector<message<void*>> receives_;
};

inline void self_requests::wait() {
  auto const by_tag = [](auto const& a, auto const& b) { return a.tag < b.tag; };
  std::stable_sort(sends_.begin(), sends_.end(), by_tag);
  std::stable_sort(receives_.begin(), receives_.end(), by_tag);
  auto const pairs = [](auto const& s, auto const& r) { return s.tag == r.tag && s.bytes == r.bytes; };
  bool const all = std::equal(sends_.begin(), sends_.end(), receives_.begin(), receives_.end(), pairs);
  for (std::size_t i = 0; all && i != sends_.size(); ++i)
    if (sends_[i].bytes != 0) std::memcpy(receives_[i].data, sends_[i].data, sends_[i].bytes);
  auto const counts = std::to_string(sends_.size()) + " sent, " + std::to_string(receives_.size()) + " received";
  sends_.clear();
  receives_.clear();
  if (!all)
    throw error("machine::messages", "a message of this rank to itself has no partner, or one of another length",
                counts, "Give each send a receive of the same tag and size");
}

} // namespace detail

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
