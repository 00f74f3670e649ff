// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How packs and masks are gone through: register by register, and element by element in constant expressions.

#include <keel/impl/block/registers.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace keel::block {
template <std::size_t Length, class T>
struct mask;
template <class T, std::size_t Length>
struct pack;
} // namespace keel::block

namespace keel::block::detail {

template <class P>
struct elements;
template <class T, std::size_t Length>
struct elements<pack<T, Length>> {
  using type = T;
  static constexpr std::size_t length = Length;
  KEEL_FORCE_INLINE KEEL_FUNCTION static constexpr auto& of(auto& p) { return p.values; }
};
template <std::size_t Length, class T>
struct elements<mask<Length, T>> {
  using type = lane<T>;
  static constexpr std::size_t length = Length;
  KEEL_FORCE_INLINE KEEL_FUNCTION static constexpr auto& of(auto& m) { return m.lanes; }
};

template <class P>
using element = typename elements<P>::type;
template <class P>
inline constexpr std::size_t width_of = register_width<element<P>, elements<P>::length>;
template <class P>
using register_of_pack = typename register_of<element<P>, width_of<P>>::type;

/// Register `i` of a pack or mask.
template <class P>
[[nodiscard]] KEEL_FORCE_INLINE register_of_pack<P> fetched(P const& p, std::size_t i) {
  register_of_pack<P> r;
  std::memcpy(&r, elements<P>::of(p) + i * width_of<P>, sizeof r);
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

/// `f` of the registers of the packs or masks `p`, all as wide as those of `Result`.
template <class Result, class F, class... P>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr Result each(F f, P const&... p) {
  constexpr std::size_t length = elements<Result>::length, width = width_of<Result>;
  static_assert(((width_of<P> == width) && ...));
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      Result out;
      repeated<length / width>([&](std::size_t i) {
        auto const r = static_cast<register_of_pack<Result>>(f(fetched(p, i)...));
        std::memcpy(elements<Result>::of(out) + i * width, &r, sizeof r);
      });
      return out;
    }
  }
  Result out{};
  for (std::size_t i = 0; i < length; ++i)
    elements<Result>::of(out)[i] = static_cast<element<Result>>(f(elements<P>::of(p)[i]...));
  return out;
}

/// A pack whose element `i` is `f(i)`.
template <class P, class F>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P made(F const& f) {
  constexpr std::size_t length = elements<P>::length, width = width_of<P>;
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      P out;
      repeated<length / width>([&](std::size_t i) {
        auto const r = [&]<std::size_t... E>(std::index_sequence<E...>) {
          return register_of_pack<P>{static_cast<element<P>>(f(i * width + E))...};
        }(std::make_index_sequence<width>{});
        std::memcpy(elements<P>::of(out) + i * width, &r, sizeof r);
      });
      return out;
    }
  }
  P out{};
  for (std::size_t i = 0; i < length; ++i) elements<P>::of(out)[i] = f(i);
  return out;
}

/// A pack with `value` everywhere. Subtracting nothing from it spreads an element over a register, in one instruction.
template <class P>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P uniform(element<P> value) {
  constexpr std::size_t length = elements<P>::length, width = width_of<P>;
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      P out;
      auto const r = value - register_of_pack<P>{};
      repeated<length / width>([&](std::size_t i) { std::memcpy(elements<P>::of(out) + i * width, &r, sizeof r); });
      return out;
    }
  }
  P out{};
  for (std::size_t i = 0; i < length; ++i) elements<P>::of(out)[i] = value;
  return out;
}

template <class P>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P loaded(element<P> const* source) {
  constexpr std::size_t length = elements<P>::length, width = width_of<P>;
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      P out;
      repeated<length / width>([&](std::size_t i) {
        register_of_pack<P> r;
        std::memcpy(&r, source + i * width, sizeof r);
        std::memcpy(elements<P>::of(out) + i * width, &r, sizeof r);
      });
      return out;
    }
  }
  P out{};
  for (std::size_t i = 0; i < length; ++i) elements<P>::of(out)[i] = source[i];
  return out;
}

template <class P>
KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void stored(P const& p, element<P>* target) {
  constexpr std::size_t length = elements<P>::length, width = width_of<P>;
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      repeated<length / width>([&](std::size_t i) {
        auto const r = fetched(p, i);
        std::memcpy(target + i * width, &r, sizeof r);
      });
      return;
    }
  }
  for (std::size_t i = 0; i < length; ++i) target[i] = elements<P>::of(p)[i];
}

/// A pack of the first `count` elements; `rest` stands after them.
template <class P>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr P loaded_part(element<P> const* source, std::size_t count,
                                                                      element<P> rest) {
  constexpr std::size_t length = elements<P>::length, width = width_of<P>;
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      P out;
      repeated<length / width>([&](std::size_t i) {
        std::size_t const here = i * width;
        auto const r = loaded_first(source + here, count > here ? count - here : 0, rest - register_of_pack<P>{});
        std::memcpy(elements<P>::of(out) + here, &r, sizeof r);
      });
      return out;
    }
  }
  P out{};
  for (std::size_t i = 0; i < length; ++i) elements<P>::of(out)[i] = i < count ? source[i] : rest;
  return out;
}

template <class P>
KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void stored_part(P const& p, element<P>* target, std::size_t count) {
  constexpr std::size_t length = elements<P>::length, width = width_of<P>;
  if constexpr (width > 1) {
    if (!std::is_constant_evaluated()) {
      repeated<length / width>([&](std::size_t i) {
        std::size_t const here = i * width;
        store_first(fetched(p, i), target + here, count > here ? count - here : 0);
      });
      return;
    }
  }
  for (std::size_t i = 0; i < length && i < count; ++i) target[i] = elements<P>::of(p)[i];
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
struct choice {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto m, auto a, auto b) const { return m ? a : b; }
};

/// A comparison of registers is 0 or -1 for each element; that of elements becomes so here.
template <class R>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto answer(R r) {
  if constexpr (std::is_same_v<R, bool>) return r ? -1 : 0;
  else return r;
}
struct equal {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a, auto b) const { return answer(a == b); }
};
struct less {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a, auto b) const { return answer(a < b); }
};
struct less_or_equal {
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto operator()(auto a, auto b) const { return answer(a <= b); }
};

} // namespace keel::block::detail
