// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The queue of a device as keel's own copying code sees it: with the kernels that move boxes; and what a queue does,
/// without the type of its space.

#include <keel/exchange/queue.hpp>
#include <keel/impl/exchange/moves.hpp>
#include <keel/policy/error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

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
  /// See `copy_queue`.
  [[nodiscard]] virtual bool can_record() const = 0;
  virtual void record() const = 0;
  [[nodiscard]] virtual std::shared_ptr<void const> recorded() const = 0;
  [[nodiscard]] virtual std::shared_ptr<void const> joined(std::span<std::shared_ptr<void const> const> parts,
                                                           std::span<std::vector<std::size_t> const> before) const = 0;
  virtual void replay(void const* work) const = 0;
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

/// A queue with the kernels that move boxes; that of the host moves them at once.
class copy_queue : public queue {
public:
  copy_queue() = default;
  explicit copy_queue(std::shared_ptr<queue_model const> model) : queue(std::move(model)) {}

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
  /// Moves the words of boxes that do not overlap where they go, by as few kernels as hold them.
  void move(std::span<job const> all) const {
    if (!*this)
      for (job const& one : all) move_on_host(one);
    while (*this && !all.empty()) {
      move_words words;
      all = all.subspan(words.add(all));
      move(words);
    }
  }
  /// Moves words by one kernel, as for boxes whose list lies there.
  void move(move_words const& words) const {
    if (words.pieces != 0) model()->reporting([&] { model()->move(words); });
  }
  /// The digest of these elements; waits for it.
  [[nodiscard]] std::uint64_t digest(shape const& lies, void const* array, index_set const& box) const {
    if (!*this) return digest_on_host(lies, array, box);
    std::uint64_t sum = 0;
    strip const which = strip_of(lies, box, numbers(box));
    model()->reporting([&] { sum = model()->digest(array, which); });
    return sum;
  }
  /// The numbers of the list, there: the first time the list is sent. Null if it is a box. Without a queue, on
  /// the host.
  [[nodiscard]] std::int32_t const* numbers(index_set const& p) const {
    if (!*this) return p.numbers();
    return p.numbers_in(model().get(), [&](void const* here, std::size_t bytes) {
      auto made = send("keel: lists of elements", here, bytes);
      fence();
      return made;
    });
  }
  /// Sends a list to these bytes there, where `numbers` finds it from then on.
  void bring(element_list const& list, std::shared_ptr<std::byte> const& into) const {
    (void)list.in(model().get(), [&](void const* here, std::size_t bytes) {
      to_device(into.get(), here, bytes);
      return into;
    });
  }
  /// Another queue of the same device, whose copies do not hold up what this one has; a thread of its own may wait for
  /// it. None if there can be none, or a tool of Kokkos' listens, which may not bear a second thread.
  [[nodiscard]] copy_queue beside() const {
    auto other = *this ? model()->beside() : nullptr;
    return other ? copy_queue(std::move(other)) : copy_queue();
  }
  /// Whether what it gets can be recorded. From `record` on it is, and not run, until `recorded` returns it, which
  /// throws `keel::error` if something was not, or would not be so when it is run; null if that was nothing. Of such
  /// parts, and the numbers of those before each, `joined` makes what `replay` runs.
  [[nodiscard]] bool can_record() const { return *this && model()->can_record(); }
  void record() const { model()->record(); }
  [[nodiscard]] std::shared_ptr<void const> recorded() const { return model()->recorded(); }
  [[nodiscard]] std::shared_ptr<void const> joined(std::span<std::shared_ptr<void const> const> parts,
                                                   std::span<std::vector<std::size_t> const> before) const {
    return model()->joined(parts, before);
  }
  void replay(void const* work) const {
    model()->reporting([&] { model()->replay(work); });
  }
  /// Whether a call since the last time that this was asked threw what work in the queue threw, a kernel of a routine
  /// for example. What was in the queue then may not have run.
  [[nodiscard]] bool take_failure() const { return *this && model()->take_failure(); }
};

/// Calls `begin`, which gives these queues work, and returns when that is done, also if the rest of it cannot begin:
/// memory of the caller that the work uses may go then.
void until_done(std::span<copy_queue const* const> queues, auto const& begin) {
  auto const fence = [&] {
    for (copy_queue const* q : queues) q->fence();
  };
  try {
    begin();
  } catch (...) {
    try {
      fence();
    } catch (...) { // the first one tells more
    }
    throw;
  }
  fence();
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/queue.ipp>
#endif
