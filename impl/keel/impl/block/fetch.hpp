// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Copies from the memory of a device to that of a team, in the background if the device can: cp.async of CUDA from
/// compute capability 8.0 on, see "Asynchronous Data Copies" in NVIDIA's programming guide. Elsewhere plain copies.
/// Depends only on the standard library.

#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace keel::block::detail {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

/// Starts to copy 4 or 8 bytes, or 16 past the first cache; addresses are divisible by that.
template <std::size_t Bytes>
KEEL_FORCE_INLINE KEEL_FUNCTION void start_copy(void* to, void const* from) {
  auto const place = std::uint32_t(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(Bytes) : "memory");
}

/// What was started since the last call is a stage.
KEEL_FORCE_INLINE KEEL_FUNCTION void end_of_stage() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Until all but the last `Left` stages have arrived; with `together` those of the whole warp.
template <int Left>
KEEL_FORCE_INLINE KEEL_FUNCTION void wait_for_stages(bool together) {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
  if (together) __syncwarp();
}

/// Whether all threads of the warp answer yes, and what the neighbour of a thread answers: 0 and 1, 2 and 3 and so on.
KEEL_FORCE_INLINE KEEL_FUNCTION bool all_of_warp(bool yes) { return __all_sync(~0U, yes) != 0; }
KEEL_FORCE_INLINE KEEL_FUNCTION std::uintptr_t of_neighbour(std::uintptr_t x) { return __shfl_xor_sync(~0U, x, 1); }

#else

template <std::size_t Bytes>
KEEL_FORCE_INLINE KEEL_FUNCTION void start_copy(void* to, void const* from) {
  std::memcpy(to, from, Bytes);
}
KEEL_FORCE_INLINE KEEL_FUNCTION void end_of_stage() {}
template <int Left>
KEEL_FORCE_INLINE KEEL_FUNCTION void wait_for_stages(bool) {}
KEEL_FORCE_INLINE KEEL_FUNCTION bool all_of_warp(bool) { return false; }
KEEL_FORCE_INLINE KEEL_FUNCTION std::uintptr_t of_neighbour(std::uintptr_t x) { return x; }

#endif

/// Starts the copy of a value.
template <class T>
KEEL_FORCE_INLINE KEEL_FUNCTION void fetch(T* to, T const* from) {
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) start_copy<sizeof(T)>(to, from);
  else *to = *from;
}

/// Two neighbouring threads of a warp that may copy for each other: the even one takes the even levels of both, the odd
/// one the odd levels.
class pair_of_threads {
public:
  /// With the addresses of this thread's first value in the memory of the team and of its first two levels elsewhere.
  /// All threads of the warp are asked if `in_warp` is true, that is, if they are there.
  template <class T>
  KEEL_FORCE_INLINE KEEL_FUNCTION pair_of_threads(bool in_warp, T const* to, T const* from, T const* next)
      : odd_(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % 2) {
    if constexpr (sizeof(T) == 8) {
      if (!in_warp) return;
      auto const address = reinterpret_cast<std::uintptr_t>(from);
      auto const step = reinterpret_cast<std::uintptr_t>(next) - address;
      together_ = all_of_warp(address % 16 == 8 * odd_ && step % 16 == 0 &&
                              of_neighbour(address) == (odd_ == 1 ? address - 8 : address + 8));
    }
  }
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION bool together() const { return together_; }
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION std::size_t odd() const { return odd_; }

private:
  bool together_ = false;
  std::size_t odd_;
};

} // namespace keel::block::detail
