// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How packs are gone through: register by register on a processor; element by element in constant expressions, in
/// device code, where the compiler has no vector types, and for lengths that no register divides.

#include <keel/block/length.hpp>
#include <keel/policy/macros.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace keel::block::detail {

/// `Width` elements of `T` in one register.
template <class T, std::size_t Width>
struct register_of {
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  static constexpr std::size_t most_bytes = register_bytes;
  typedef T type __attribute__((vector_size(Width * sizeof(T))));
#else
  static constexpr std::size_t most_bytes = 0;
  using type = T;
#endif
};

/// Elements of `T` in a register of a pack of `Length`: the most that divide the length, so that nothing is left over.
template <class T, std::size_t Length>
inline constexpr std::size_t register_width = [] {
  std::size_t const fewest = 16 / sizeof(T); // no instruction works on less
  std::size_t width = register_of<T, 1>::most_bytes / sizeof(T);
  while (width >= fewest && Length % width != 0) width /= 2;
  return std::is_same_v<T, bool> || sizeof(T) < 4 || sizeof(T) > 8 || width < fewest ? std::size_t{1} : width;
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

template <class P>
using element = typename P::value_type;
template <class P>
inline constexpr std::size_t width_of = register_width<element<P>, P::size()>;
template <class P>
using register_of_pack = typename register_of<element<P>, width_of<P>>::type;

/// Register `i` of a pack.
template <class P>
[[nodiscard]] KEEL_FORCE_INLINE register_of_pack<P> fetched(P const& p, std::size_t i) {
  register_of_pack<P> r;
  std::memcpy(&r, p.values + i * width_of<P>, sizeof r);
  return r;
}

/// Calls `f(i)` for i < Count; few calls are written out, so that what they share stays in registers.
template <std::size_t Count, class F>
KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void repeated(F const& f) {
  if constexpr (Count <= 16) {
    KEEL_UNROLL
    for (std::size_t i = 0; i < Count; ++i) f(i);
  } else {
    for (std::size_t i = 0; i < Count; ++i) f(i);
  }
}

/// A pack whose register `i` is `of_register(i)`, and whose element `i` is `of_element(i)` where there are no
/// registers: in constant expressions, in device code, and if none divides the length. (`of_register` is generic, so
/// that it is compiled only if there are.)
template <class P, class R, class E>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P built([[maybe_unused]] R const& of_register,
                                                                E const& of_element) {
  constexpr std::size_t width = width_of<P>;
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      P out;
      repeated<P::size() / width>([&](std::size_t i) {
        register_of_pack<P> const r = of_register(i);
        std::memcpy(out.values + i * width, &r, sizeof r);
      });
      return out;
    }
  }
  P out{};
  for (std::size_t i = 0; i < P::size(); ++i) out.values[i] = static_cast<element<P>>(of_element(i));
  return out;
}

/// `f` of the registers, or of the elements, of packs.
template <class F, class P, class... Q>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P each(F f, P const& p, Q const&... q) {
  return built<P>([&](auto i) { return f(fetched(p, i), fetched(q, i)...); },
                  [&](std::size_t i) { return f(p.values[i], q.values[i]...); });
}

/// A pack whose element `i` is `f(i)`.
template <class P, class F>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P made(F const& f) {
  return built<P>(
      [&](auto i) {
        return [&]<std::size_t... E>(std::index_sequence<E...>) {
          return register_of_pack<P>{static_cast<element<P>>(f(i * width_of<P> + E))...};
        }(std::make_index_sequence<width_of<P>>{});
      },
      f);
}

/// A pack with `value` everywhere. Subtracting nothing from it spreads an element over a register, in one instruction.
template <class P>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P uniform(element<P> value) {
  return built<P>([&](auto) { return value - register_of_pack<P>{}; }, [&](std::size_t) { return value; });
}

template <class P>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P loaded(element<P> const* source) {
  return built<P>(
      [&](auto i) {
        register_of_pack<P> r;
        std::memcpy(&r, source + i * width_of<P>, sizeof r);
        return r;
      },
      [&](std::size_t i) { return source[i]; });
}
/// A pack of the first `count` elements; `rest` stands after them.
template <class P>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P loaded(element<P> const* source, std::size_t count,
                                                                 element<P> rest) {
  return built<P>(
      [&](auto i) {
        std::size_t const here = i * width_of<P>;
        return loaded_first(source + here, count > here ? count - here : 0, rest - register_of_pack<P>{});
      },
      [&](std::size_t i) { return i < count ? source[i] : rest; });
}

/// Writes the first `count` elements.
template <class P>
KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void stored(P const& p, element<P>* target, std::size_t count) {
  constexpr std::size_t width = width_of<P>;
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      repeated<P::size() / width>([&](std::size_t i) {
        std::size_t const here = i * width;
        store_first(fetched(p, i), target + here, count > here ? count - here : 0);
      });
      return;
    }
  }
  for (std::size_t i = 0; i < P::size() && i < count; ++i) target[i] = p.values[i];
}
template <class P>
KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void stored(P const& p, element<P>* target) {
  constexpr std::size_t width = width_of<P>;
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      repeated<P::size() / width>([&](std::size_t i) {
        auto const r = fetched(p, i);
        std::memcpy(target + i * width, &r, sizeof r);
      });
      return;
    }
  }
  for (std::size_t i = 0; i < P::size(); ++i) target[i] = p.values[i];
}

// Structs, not lambdas: they are called on devices, too, and on registers as on elements.
struct plus {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a, auto b) const { return a + b; }
};
struct minus {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a, auto b) const { return a - b; }
};
struct times {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a, auto b) const { return a * b; }
};
struct over {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a, auto b) const { return a / b; }
};
struct negative {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a) const { return -a; }
};
struct smaller {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a, auto b) const { return b < a ? b : a; }
};
struct larger {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a, auto b) const { return a < b ? b : a; }
};

} // namespace keel::block::detail
