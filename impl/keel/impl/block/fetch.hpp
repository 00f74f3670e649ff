// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Copies from the memory of a device to that of a team, in the background where the device can: cp.async of CUDA from
/// compute capability 8.0 on, see "Asynchronous Data Copies" in NVIDIA's programming guide. Elsewhere plain copies.
/// Rests on the standard library alone.

#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define KEEL_ASYNC_COPIES 1
#else
#define KEEL_ASYNC_COPIES 0
#endif

namespace keel::block::detail {

/// Starts the copy of a value, of 4 or 8 bytes.
template <class T>
KEEL_FORCE_INLINE KEEL_FUNCTION void fetch(T* to, T const* from) {
#if KEEL_ASYNC_COPIES
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    auto const place = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(sizeof(T)) : "memory");
    return;
  }
#endif
  *to = *from;
}

/// Starts the copy of two neighbouring values of 8 bytes, both addresses divisible by 16.
template <class T>
KEEL_FORCE_INLINE KEEL_FUNCTION void fetch_pair(T* to, T const* from) {
#if KEEL_ASYNC_COPIES
  if constexpr (sizeof(T) == 8) {
    auto const place = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
    return;
  }
#endif
  to[0] = from[0], to[1] = from[1];
}

/// What was started since the last call is a stage.
KEEL_FORCE_INLINE KEEL_FUNCTION void end_of_stage() {
#if KEEL_ASYNC_COPIES
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Until all but the last `Left` stages have arrived; with `together` those of the whole warp.
template <int Left>
KEEL_FORCE_INLINE KEEL_FUNCTION void wait_for_stages([[maybe_unused]] bool together) {
#if KEEL_ASYNC_COPIES
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
  if (together) __syncwarp();
#endif
}

/// Two neighbouring threads of a warp that may copy for each other: the even one takes the even levels of both, the odd
/// one the odd levels.
class pair_of_threads {
public:
  /// With the addresses of this thread's first value in the memory of the team and of its first two levels elsewhere.
  /// All threads of the warp are asked where `in_warp` says that they are there.
  template <class T>
  KEEL_FORCE_INLINE KEEL_FUNCTION pair_of_threads([[maybe_unused]] bool in_warp, [[maybe_unused]] T const* to,
                                                  [[maybe_unused]] T const* from, [[maybe_unused]] T const* next) {
#if KEEL_ASYNC_COPIES
    if constexpr (sizeof(T) == 8) {
      if (!in_warp) return;
      auto const address = reinterpret_cast<std::uintptr_t>(from), place = reinterpret_cast<std::uintptr_t>(to);
      unsigned const odd = static_cast<unsigned>(place / sizeof(T) % 2);
      auto const other = __shfl_xor_sync(~0U, address, 1);
      bool const mine = address % 16 == 8 * odd && (reinterpret_cast<std::uintptr_t>(next) - address) % 16 == 0 &&
                        other == (odd == 1 ? address - 8 : address + 8);
      together_ = __all_sync(~0U, mine) != 0;
      odd_ = odd;
    }
#endif
  }
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION bool together() const { return together_; }
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION std::size_t odd() const { return odd_; }

private:
  bool together_ = false;
  unsigned odd_ = 0;
};

} // namespace keel::block::detail
