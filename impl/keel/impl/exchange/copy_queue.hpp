// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A device's memory as the copying code sees it: without its type, so that the code is compiled once.

#include <keel/impl/exchange/moves.hpp>
#include <keel/policy/error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>

namespace keel::space {
class peer_memory;
}

namespace keel::residency::detail {

/// A device's memory with the queue that copies to it and from it. What the queue is given runs in order, after the
/// kernels that it has. Pointers are to that memory, unless their name says host.
class copy_queue {
public:
  /// What it does, for a queue of some type.
  struct calls {
    std::shared_ptr<std::byte> (*allocate)(char const* label, std::size_t bytes),
        (*allocate_on_host)(char const* label, std::size_t bytes);
    void (*to_device)(void const* queue, void* to, void const* host_from, std::size_t bytes);
    void (*to_host)(void const* queue, void* host_to, void const* from, std::size_t bytes);
    void (*copy)(void const* queue, void* to, void const* from, std::size_t bytes);
    void (*move)(void const* queue, move_words const& words);
    std::uint64_t (*digest)(void const* queue, void const* array, strip const& which);
    void (*fence)(void const* queue);
    bool (*is_reached_by_host)();
    bool (*waits_in_kernels)();
    space::peer_memory* (*peers)();
    void* (*native)(void const* queue);
  };

  copy_queue() = default;
  copy_queue(std::shared_ptr<void> queue, calls const& how) : queue_(std::move(queue)), calls_(&how) {}
  [[nodiscard]] explicit operator bool() const { return queue_ != nullptr; }

  /// Bytes there; and bytes of the host that the device copies from and to without a detour. Tools see the label.
  [[nodiscard]] auto allocate(char const* label, std::size_t bytes) const { return calls_->allocate(label, bytes); }
  [[nodiscard]] auto allocate_on_host(char const* label, std::size_t bytes) const {
    return calls_->allocate_on_host(label, bytes);
  }
  /// New bytes there, and what they are to hold is on its way. Throws `keel::error`.
  [[nodiscard]] std::shared_ptr<std::byte> send(char const* label, void const* here, std::size_t bytes) const {
    try {
      auto made = allocate(label, bytes);
      to_device(made.get(), here, bytes);
      return made;
    } catch (error const&) {
      throw;
    } catch (std::exception const& e) {
      throw error("residency", "what an exchange moves cannot be listed on the device", reason_of(e));
    }
  }
  void to_device(void* to, void const* host_from, std::size_t bytes) const {
    queued([&] { calls_->to_device(queue_.get(), to, host_from, bytes); });
  }
  void to_host(void* host_to, void const* from, std::size_t bytes) const {
    queued([&] { calls_->to_host(queue_.get(), host_to, from, bytes); });
  }
  void copy(void* to, void const* from, std::size_t bytes) const {
    queued([&] { calls_->copy(queue_.get(), to, from, bytes); });
  }
  /// Moves the words of boxes that do not overlap where they go, by as few kernels as hold them.
  void move(std::span<box_move const> boxes) const {
    while (!boxes.empty()) {
      move_words words;
      boxes = boxes.subspan(words.add(boxes));
      move(words);
    }
  }
  /// The same by one kernel, for boxes whose list lies there.
  void move(move_words const& words) const {
    if (words.words != 0) queued([&] { calls_->move(queue_.get(), words); });
  }
  /// The digest of a patch; waits for it.
  [[nodiscard]] std::uint64_t digest(shape const& lies, void const* array, patch const& box) const {
    std::uint64_t sum = 0;
    strip const which = strip_of(lies, box, numbers(box));
    queued([&] { sum = calls_->digest(queue_.get(), array, which); });
    return sum;
  }
  /// The numbers that a patch lists, there: the first time the list is sent. Null if it is a box. Without a queue, on
  /// the host.
  [[nodiscard]] std::int32_t const* numbers(patch const& p) const {
    if (p.list == nullptr || queue_ == nullptr) return p.numbers();
    return p.first + p.list->in(queue_.get(), [&](void const* here, std::size_t bytes) {
      auto made = send("keel: lists of elements", here, bytes);
      fence();
      return made;
    });
  }
  void fence() const {
    queued([&] { calls_->fence(queue_.get()); });
  }
  /// Whether the host reaches that memory by its pointers, and so does any MPI.
  [[nodiscard]] bool is_reached_by_host() const { return calls_ == nullptr || calls_->is_reached_by_host(); }
  /// Whether a kernel may wait for another rank's: not if both run at once on one device, and the one that waits could
  /// keep the other from running.
  [[nodiscard]] bool waits_in_kernels() const { return calls_ != nullptr && calls_->waits_in_kernels(); }
  /// Memory of its kind that other processes map; null if they cannot.
  [[nodiscard]] space::peer_memory* peers() const;
  /// CUDA's or HIP's stream; null for any other queue.
  [[nodiscard]] void* native() const { return calls_ != nullptr ? calls_->native(queue_.get()) : nullptr; }
  /// Whether a call since the last time that this was asked threw what work in the queue threw, a kernel of a routine
  /// for example. What was in the queue then may not have run.
  [[nodiscard]] bool take_failure() const { return std::exchange(has_failed_, false); }

private:
  void queued(auto const& call) const {
    try {
      call();
    } catch (...) {
      has_failed_ = true;
      throw;
    }
  }

  std::shared_ptr<void> queue_;
  calls const* calls_ = nullptr;
  mutable bool has_failed_ = false;
};

} // namespace keel::residency::detail
