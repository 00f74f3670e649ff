// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory whose pages are closed to everyone while no device thread is at work.

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

namespace keel::space::detail {

/// All such memory of the process. What Kokkos writes before the data, `ahead`
/// bytes, lies on an open page of its own; the data begins on the next.
class guarded_pages {
public:
  static guarded_pages& all() {
    static guarded_pages instance;
    return instance;
  }

  void turn(bool on) { on_ = on; }
  [[nodiscard]] bool is_on() const { return on_; }

  /// Null where the system has no room.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t ahead) {
    std::size_t const closed = bytes > ahead ? (bytes - ahead + page_ - 1) / page_ * page_ : 0;
    void* const at = mmap(nullptr, page_ + closed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    auto* const data = static_cast<std::byte*>(at) + page_;
    std::lock_guard const lock(mutex_);
    closed_.emplace(data - ahead, span{data, closed});
    return data - ahead;
  }
  /// Closes what `allocate` gave, once it is filled.
  void close(void* pointer) {
    std::lock_guard const lock(mutex_);
    if (at_work_ == 0) protect(closed_.at(static_cast<std::byte*>(pointer)), PROT_NONE);
  }
  /// False where the memory is none of these.
  bool deallocate(void* pointer) {
    std::lock_guard const lock(mutex_);
    auto const found = closed_.find(static_cast<std::byte*>(pointer));
    if (found == closed_.end()) return false;
    munmap(found->second.data - page_, page_ + found->second.bytes);
    closed_.erase(found);
    return true;
  }

  /// A device thread begins or ends its work.
  void enter() {
    std::lock_guard const lock(mutex_);
    if (at_work_++ == 0) protect_all(PROT_READ | PROT_WRITE);
  }
  void leave() {
    std::lock_guard const lock(mutex_);
    if (--at_work_ == 0) protect_all(PROT_NONE);
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

private:
  struct span {
    std::byte* data;
    std::size_t bytes;
  };
  static void protect(span const& s, int access) {
    if (s.bytes > 0) mprotect(s.data, s.bytes, access);
  }
  void protect_all(int access) const {
    for (auto const& [pointer, s] : closed_) protect(s, access);
  }

  std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::atomic<bool> on_ = false;
  std::mutex mutex_;
  std::map<std::byte*, span> closed_;
  int at_work_ = 0;
};

} // namespace keel::space::detail
