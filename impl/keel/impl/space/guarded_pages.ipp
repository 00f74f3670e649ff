// SPDX-License-Identifier: MIT
#include <keel/impl/space/guarded_pages.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

namespace keel::space::detail {

/// The closed part of each allocation, by the pointer that was given out.
struct guarded_pages::spans {
  struct span {
    std::byte* data;
    std::size_t bytes;
  };
  static void protect(span const& s, int access) {
    if (s.bytes > 0) mprotect(s.data, s.bytes, access);
  }
  void protect_all(int access) const {
    for (auto const& [pointer, s] : closed) protect(s, access);
  }

  std::size_t const page = std::size_t(sysconf(_SC_PAGESIZE));
  std::mutex mutex;
  std::map<std::byte*, span> closed;
  int at_work = 0;
};

// Never destroyed, because memory may be given back while the process ends, after main.
KEEL_INLINE guarded_pages& guarded_pages::all() {
  static guarded_pages& instance = *new guarded_pages;
  return instance;
}
KEEL_INLINE guarded_pages::guarded_pages() : spans_(std::make_unique<spans>()) {}

KEEL_INLINE void* guarded_pages::allocate(std::size_t bytes, std::size_t ahead) {
  auto const page = spans_->page;
  std::size_t const closed = bytes > ahead ? (bytes - ahead + page - 1) / page * page : 0;
  void* const at = mmap(nullptr, page + closed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* const data = static_cast<std::byte*>(at) + page;
  std::lock_guard const lock(spans_->mutex);
  spans_->closed.emplace(data - ahead, spans::span{data, closed});
  return data - ahead;
}
KEEL_INLINE void guarded_pages::close(void* pointer) {
  std::lock_guard const lock(spans_->mutex);
  if (spans_->at_work == 0) spans::protect(spans_->closed.at(static_cast<std::byte*>(pointer)), PROT_NONE);
}
KEEL_INLINE bool guarded_pages::deallocate(void* pointer) {
  std::lock_guard const lock(spans_->mutex);
  auto const found = spans_->closed.find(static_cast<std::byte*>(pointer));
  if (found == spans_->closed.end()) return false;
  munmap(found->second.data - spans_->page, spans_->page + found->second.bytes);
  spans_->closed.erase(found);
  return true;
}

KEEL_INLINE void guarded_pages::enter() {
  std::lock_guard const lock(spans_->mutex);
  if (spans_->at_work++ == 0) spans_->protect_all(PROT_READ | PROT_WRITE);
}
KEEL_INLINE void guarded_pages::leave() {
  std::lock_guard const lock(spans_->mutex);
  if (--spans_->at_work == 0) spans_->protect_all(PROT_NONE);
}

} // namespace keel::space::detail
