// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory that the threads of a team share, which on a GPU is on the chip. Depends only on the standard library.

#include <keel/policy/macros.hpp>

#include <cstddef>

namespace keel::block {

/// Values of a thread in the memory of its team; neighbouring threads side by side.
template <class T>
struct team_memory {
  T* first;
  std::size_t stride; ///< to the next value of the same thread, in values

  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION T& operator[](std::size_t k) const { return first[k * stride]; }
};

} // namespace keel::block
