// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory whose pages are inaccessible while no device thread is at work.

#include <keel/policy/macros.hpp>

#include <atomic>
#include <cstddef>
#include <memory>

namespace keel::space::detail {

/// All such memory of the process. What Kokkos writes before the data, `ahead`
/// bytes, lies on an open page of its own; the data begins on the next.
class guarded_pages {
public:
  static guarded_pages& all();

  void turn(bool on) { on_ = on; }
  [[nodiscard]] bool is_on() const { return on_; }

  /// Null if the system has no room.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t ahead);
  /// Closes what `allocate` gave, once it is filled.
  void close(void* pointer);
  /// False if the memory is none of these.
  bool deallocate(void* pointer);

  /// A device thread begins or ends its work.
  void enter();
  void leave();

private:
  struct spans;
  guarded_pages();

  std::atomic<bool> on_ = false;
  std::unique_ptr<spans> spans_;
};

} // namespace keel::space::detail

#if !KEEL_COMPILED
#include <keel/impl/space/guarded_pages.ipp>
#endif
