// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory of a device that is simulated on the host: host code that touches an element aborts.

#include <keel/space/memory.hpp>

#include <keel/impl/space/guarded_pages.hpp>
#include <keel/impl/space/queue.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace keel::space {

class simulated;

/// Every four bytes of poisoned memory. Two make a signalling NaN of a double,
/// one a NaN of a float, and 2,146,754,221 of an int.
inline constexpr std::uint32_t poison_word = 0x7ff4'dead;

namespace detail {

inline void fill_with_poison(void* at, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(at);
  for (std::size_t done = 0; done < bytes; done += sizeof(poison_word))
    std::memcpy(to + done, &poison_word, std::min(sizeof(poison_word), bytes - done));
}

} // namespace detail

/// What keeps the host from simulated memory.
enum class guard {
  views, ///< Kokkos checks each element that host code reaches through a view
  pages  ///< so do the pages: closed outside kernels and copies, they stop raw pointers too
};

/// Chooses the guard of simulated memory that is allocated from now on. With
/// `guard::pages` kernels and copies run while their caller waits, and each opens
/// and closes all of it: for finding mistakes, not for speed.
inline void set_guard(guard chosen) { detail::guarded_pages::all().turn(chosen == guard::pages); }

[[nodiscard]] inline guard chosen_guard() { return detail::guarded_pages::all().is_on() ? guard::pages : guard::views; }

/// Host memory that stands for a device's: poisoned when allocated, freed when every queue is empty.
struct simulated_resource {
  static constexpr char const* name = "simulated";
  static constexpr reach reached_from = reach::device;
  using execution_space = simulated;

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const {
    detail::queue::require_running("makes memory");
    auto& pages = detail::guarded_pages::all();
    bool const guarded = pages.is_on();
    void* const pointer = guarded ? pages.allocate(bytes, detail::bytes_ahead)
                                  : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (pointer != nullptr) detail::fill_with_poison(pointer, bytes);
    if (pointer != nullptr && guarded) pages.close(pointer);
    return pointer;
  }
  void deallocate(void* pointer, std::size_t, std::size_t) const {
    detail::queues::all().drain(); // a kernel that was started may still use it
    if (!detail::guarded_pages::all().deallocate(pointer)) std::free(pointer);
  }
};

/// The memory space of `keel::space::simulated`.
using simulated_memory = memory<simulated_resource>;

} // namespace keel::space

#include <keel/space/simulated.hpp>
