// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Resources of host memory that tests make: what a user writes at least, and one that counts.

#include <keel/space/memory.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace keel::test {

/// Host memory.
struct host_bytes {
  static constexpr char const* name = "host bytes";
  static constexpr space::reach reached_from = space::reach::host;
  void* allocate(std::size_t bytes, std::size_t alignment) const {
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void deallocate(void* p, std::size_t, std::size_t) const { std::free(p); }
};

/// Counts, from any thread, and refuses more than its limit.
struct counted_bytes : host_bytes {
  static constexpr char const* name = "counted";
  static inline std::atomic<int> given = 0, taken = 0;
  static inline std::atomic<std::size_t> asked = 0, returned = 0; // of the last call
  static inline std::size_t limit = 1 << 30;

  void* allocate(std::size_t bytes, std::size_t alignment) const {
    if (bytes > limit) return nullptr;
    ++given;
    asked = bytes;
    return host_bytes::allocate(bytes, alignment);
  }
  void deallocate(void* p, std::size_t bytes, std::size_t alignment) const {
    ++taken;
    returned = bytes;
    host_bytes::deallocate(p, bytes, alignment);
  }
};

} // namespace keel::test
