// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Huge pages for large arrays, if a knob asks for them.

#include <atomic>
#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace keel::space::detail {

/// A page of 2 MiB spares a processor 511 of 512 entries in its table of pages.
struct huge_pages {
  static constexpr std::uintptr_t size = std::uintptr_t{2} << 20, page = 4096;
  static inline std::atomic<bool> wanted = false;

  /// Advises the system to use them for `bytes` at `pointer`; it decides.
  static void advise(void* pointer, std::size_t bytes) {
#if defined(__linux__)
    if (bytes < size || !wanted.load(std::memory_order_relaxed)) return;
    auto const begin = (reinterpret_cast<std::uintptr_t>(pointer) + page - 1) / page * page;
    auto const end = (reinterpret_cast<std::uintptr_t>(pointer) + bytes) / page * page;
    (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
    (void)pointer, (void)bytes;
#endif
  }
};

} // namespace keel::space::detail
