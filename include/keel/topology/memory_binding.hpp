// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory whose pages lie on chosen memories of this machine, and where the pages of any memory lie.

#include <keel/policy/macros.hpp>
#include <keel/topology/id_set.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace keel::topology {

// Memories are named here by the system's numbers, `memory::os_index`, as `numactl` names them.

/// The ordinary memories that this process may use: main memory, and none that is faster, slower or a device's.
[[nodiscard]] id_set ordinary_memories();

/// Why no page can be bound to these memories: one is not there or withheld, or the system refuses, as
/// containers may. Empty if pages can be bound. Tries it with one page.
[[nodiscard]] std::string why_not_bindable(id_set const& memories);

/// `bytes`, whole pages of them, on one memory, or page by page in turns on several, whichever thread touches them
/// first. Throws `keel::error` if the memories cannot be bound to, or are smaller. Each call is one to the system:
/// for few large areas. A page that does not fit later ends the process, as the system has it.
[[nodiscard]] void* allocate_pages(id_set const& memories, std::size_t bytes);

/// Takes back what `allocate_pages` gave, with the same number.
void free_pages(void* pages, std::size_t bytes) noexcept;

/// The memories that the pages of `[at, at + bytes)` lie on now, asked of the system; a page that no thread touched
/// lies nowhere. Throws `keel::error` if the system does not report it.
[[nodiscard]] id_set memories_of(void const* at, std::size_t bytes);

/// As long as it lives, pages that the calling thread touches first, and threads that it starts meanwhile, lie on
/// one memory while that has room. If the system refuses, nothing changes, and `why_not()` gives the reason.
class memory_preference {
public:
  explicit memory_preference(int memory);
  memory_preference(memory_preference const&) = delete;
  memory_preference& operator=(memory_preference const&) = delete;
  ~memory_preference();
  [[nodiscard]] std::string why_not() const;

private:
  static constexpr std::size_t bits = 4096; // Linux has 1,024 memories at most
  using mask = std::array<std::uint64_t, bits / 64>;
  static long set(int policy, mask const& nodes);

  int policy_ = 0, code_ = 0;
  mask before_{};
};

} // namespace keel::topology

#if !KEEL_COMPILED
#include <keel/impl/topology/memory_binding.ipp>
#endif
