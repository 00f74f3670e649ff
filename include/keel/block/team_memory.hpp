// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory that the threads of a team share, which on a GPU is on the chip, and columns streamed into it. Depends only
/// on the standard library.

#include <keel/impl/block/fetch.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>

namespace keel::block {

/// What a kernel asks for, in values.
struct team_room {
  std::size_t own;        ///< of each thread
  std::size_t common = 0; ///< of all threads together, the same for each team
  constexpr team_room(std::size_t of_each, std::size_t of_all = 0) : own(of_each), common(of_all) {}
};

/// Values of a thread in the memory of its team; neighbouring threads side by side.
template <class T>
struct team_memory {
  T* first;
  std::size_t stride;        ///< to the next value of the same thread, in values
  T const* common = nullptr; ///< what `fill` of the kernel wrote for the team
  bool in_warp = false;      ///< 32 threads in step, this one at its rank modulo 32, all of them with work

  /// The values from number `begin` on as others of the same size.
  template <class U>
  struct array {
    U* first;
    std::size_t stride;
    [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION U& operator[](std::size_t k) const { return first[k * stride]; }
  };
  template <class U>
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION array<U> as(std::size_t begin) const {
    static_assert(sizeof(U) == sizeof(T));
    return {reinterpret_cast<U*>(first + begin * stride), stride};
  }

  /// Copies `*from(k)` into value k for all k < n and calls `use(k, value)` upwards, which may overwrite value k. On a
  /// CUDA card the copies of 64 levels are under way at once, past the registers; if neighbouring threads read
  /// neighbouring addresses, past the first cache too. `from` is an affine function of k.
  KEEL_CALLS_USER
  template <class From, class Use>
  KEEL_FORCE_INLINE KEEL_FUNCTION void stream(std::size_t n, From const& from, Use const& use) const {
    constexpr std::size_t stage = 16, stages = 4;
    if (n == 0) return;
    detail::pair_of_threads const pair(in_warp, first, from(0), from(n > 1 ? 1 : 0));
    auto const begin = [&](std::size_t from_level) {
      if (sizeof(T) == 8 && pair.together()) {
        KEEL_UNROLL
        for (std::size_t a = 0; a < stage; a += 2) {
          std::size_t const k = from_level + a + pair.odd();
          if (k < n) detail::start_copy<2 * sizeof(T)>(first + k * stride - pair.odd(), from(k) - pair.odd());
        }
      } else {
        KEEL_UNROLL
        for (std::size_t a = 0; a < stage; ++a)
          if (from_level + a < n) detail::fetch(first + (from_level + a) * stride, from(from_level + a));
      }
      detail::end_of_stage();
    };
    for (std::size_t s = 0; s < stages; ++s) begin(s * stage);
    for (std::size_t k = 0; k < n; k += stage) {
      detail::wait_for_stages<stages - 1>(pair.together());
      if (k + stage <= n) {
        KEEL_UNROLL
        for (std::size_t a = 0; a < stage; ++a) use(k + a, first[(k + a) * stride]);
      } else {
        for (std::size_t a = k; a < n; ++a) use(a, first[a * stride]);
      }
      begin(k + stages * stage);
    }
  }
};

} // namespace keel::block
