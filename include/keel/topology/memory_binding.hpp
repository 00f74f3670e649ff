// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory whose pages lie on chosen memories of this machine, and where the pages of any memory lie.

#include <keel/policy/macros.hpp>
#include <keel/topology/id_set.hpp>

#include <cstddef>
#include <string>

namespace keel::topology {

// Memories are named here by the system's numbers, `memory::os_index`, as `numactl` names them.

/// The ordinary memories that this process may use: main memory, and none that is faster, slower or a device's.
[[nodiscard]] id_set ordinary_memories();

/// Why no page can be bound to these memories: one is not there or withheld, or the system refuses, as
/// containers may. Empty where pages can be bound. Tries it with one page.
[[nodiscard]] std::string why_not_bindable(id_set const& memories);

/// `bytes`, whole pages of them, on one memory, or page by page in turns on several, whoever touches
/// them first. Throws `keel::error` where the memories cannot be bound to, or are smaller. Each call is one
/// to the system: for few large areas. A page that does not fit later ends the process, as the system has it.
[[nodiscard]] void* allocate_pages(id_set const& memories, std::size_t bytes);

/// Takes back what `allocate_pages` gave, with the same number.
void free_pages(void* pages, std::size_t bytes) noexcept;

/// The memories that the pages of `[at, at + bytes)` lie on now, asked of the system; a page that no thread touched
/// lies nowhere. Throws `keel::error` where the system does not say.
[[nodiscard]] id_set memories_of(void const* at, std::size_t bytes);

} // namespace keel::topology

#if !KEEL_COMPILED
#include <keel/impl/topology/memory_binding.hpp>
#endif
