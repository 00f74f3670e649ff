// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Vector registers as values: the type of one, how wide it is, and the few instructions that operators do not give.
///
/// Code over registers is written once: if a register holds one element, it is the element itself. So it is in
/// device code, where the compiler has no vector types, and for lengths that no register divides.

#include <keel/block/length.hpp>
#include <keel/policy/macros.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace keel::block::detail {

/// `Width` elements of `T` in one register.
template <class T, std::size_t Width>
struct register_of {
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  typedef T type __attribute__((vector_size(Width * sizeof(T))));
#endif
};
template <class T>
struct register_of<T, 1> {
  using type = T;
};

/// Elements of `T` in a register of a pack of `Length`: the most that divide the length, so that nothing is left over.
template <class T, std::size_t Length>
inline constexpr std::size_t register_width = [] {
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  if (std::is_same_v<T, bool> || sizeof(T) < 4 || sizeof(T) > 8) return std::size_t{1};
  std::size_t const most = register_bytes / sizeof(T);
  std::size_t width = 1;
  while (width < most && Length % (2 * width) == 0) width *= 2;
  return width * sizeof(T) < 16 ? std::size_t{1} : width; // no instruction works on less
#else
  return std::size_t{1};
#endif
}();

/// The alignment of a pack: its own size if that is a power of two, as vector loads like it, at most 64 bytes.
template <class T, std::size_t Length>
inline constexpr std::size_t alignment_of_pack =
    std::has_single_bit(sizeof(T) * Length) ? (sizeof(T) * Length < 64 ? sizeof(T) * Length : 64) : alignof(T);

#if defined(__AVX512VL__) && !defined(__CUDACC__) && !defined(__HIPCC__)
/// Which of the 16 elements of a register are the first `count`.
[[nodiscard]] KEEL_FORCE_INLINE std::uint16_t first_of_sixteen(std::size_t count) {
  return std::uint16_t(count < 16 ? (1U << count) - 1 : 0xffffU);
}
#endif

/// The first `count` elements from `source` on, and those of `rest` after them; reads no further.
template <class T, class V>
[[nodiscard]] KEEL_FORCE_INLINE V loaded_first(T const* source, std::size_t count, V rest) {
  constexpr std::size_t width = sizeof(V) / sizeof(T);
#if defined(__AVX512VL__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  auto const& whole = *reinterpret_cast<T const(*)[width]>(source);
  if constexpr (sizeof(T) == 8) asm("vmovupd %1, %0%{%2%}" : "+v"(rest) : "m"(whole), "Yk"(first_of_sixteen(count)));
  else asm("vmovups %1, %0%{%2%}" : "+v"(rest) : "m"(whole), "Yk"(first_of_sixteen(count)));
#else
  for (std::size_t i = 0; i < width && i < count; ++i) rest[i] = source[i];
#endif
  return rest;
}

/// Writes the first `count` elements.
template <class T, class V>
KEEL_FORCE_INLINE void store_first(V v, T* target, std::size_t count) {
  constexpr std::size_t width = sizeof(V) / sizeof(T);
#if defined(__AVX512VL__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  auto& whole = *reinterpret_cast<T(*)[width]>(target);
  if constexpr (sizeof(T) == 8) asm("vmovupd %1, %0%{%2%}" : "+m"(whole) : "v"(v), "Yk"(first_of_sixteen(count)));
  else asm("vmovups %1, %0%{%2%}" : "+m"(whole) : "v"(v), "Yk"(first_of_sixteen(count)));
#else
  for (std::size_t i = 0; i < width && i < count; ++i) target[i] = v[i];
#endif
}

} // namespace keel::block::detail
