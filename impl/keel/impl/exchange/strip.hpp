// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which elements of an array make a region, as strided runs of words, whatever the array's
/// type: so one kernel for each word length packs them all.

#include <keel/impl/layout/id_table.hpp>
#include <keel/impl/layout/index_set.hpp>
#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace keel::residency::detail {

class geometry;

/// A dimension of an array in the order of its words: one of the grid's, or else so many elements beyond it.
struct dimension_run {
  int of_grid = -1;
  std::int64_t count = 1, stride = 1;
};

/// How the elements of one variable lie: `inner` elements at each point of the grid.
struct shape {
  int rank = 0;                         ///< dimensions of the grid that the variable lies on; 0 if it lies on none
  std::int64_t stride[max_grid_rank]{}; ///< in elements
  std::int64_t inner = 1, inner_stride = 1;
  std::span<dimension_run const> order =
      {}; ///< all dimensions, that which words follow first, if they lie in another way
  std::int64_t element_bytes = 1, elements = 1, alignment = 8;
  std::int64_t unused = 0; ///< how many at the end are room for later ones; -1 if such lie between others
  bool has_ghosts = true;
  addend added_as = addend::none;
  share const* part = nullptr;  ///< what this rank has of the variable, if it lies on a geometry
  geometry const* on = nullptr; ///< that; null if regions of the share are boxes
};

/// What makes a region of such an array.
[[nodiscard]] index_sets boxes_of(shape const& s, region where);

/// Elements of a box in words of 8, 4 or 1 bytes, fastest dimension first, dimensions that follow on each other joined.
/// Or listed elements: then one dimension counts these.
struct strip {
  static constexpr int max = max_grid_rank + 2;
  std::int64_t count[max]{}, stride[max]{};
  std::int64_t from[max]{}; ///< the strides of the elements that the words of a copy come from
  std::int64_t first = 0, words = 0;
  std::int32_t const* elements = nullptr; ///< in a copy those that words come from follow on those that they go to
  std::int16_t rank = 0, word_bytes = 8, listed = -1; ///< `listed`: which dimension counts `elements`

  friend bool operator==(strip const&, strip const&) = default;
  /// Where word number `i` of the strip lies in the array.
  KEEL_FUNCTION std::int64_t operator[](std::int64_t i) const {
    return elements == nullptr ? place<false>(i, nullptr) : place<true>(i, elements);
  }
  /// The elements that words come from in a copy between listed elements.
  [[nodiscard]] KEEL_FUNCTION std::int32_t const* origins() const { return elements + count[listed]; }
  /// The place of word `i`, if it is known whether elements are listed, and with other numbers of these.
  template <bool IsListed>
  KEEL_FUNCTION std::int64_t place(std::int64_t i, std::int32_t const* numbers) const {
    return first + (words >> 32 == 0
                        ? way_to<IsListed>(std::uint32_t(i), numbers, stride) // a GPU divides long numbers slowly
                        : way_to<IsListed>(i, numbers, stride));
  }
  /// Where a word of a copy of a box comes from, counted from the first.
  [[nodiscard]] KEEL_FUNCTION std::int64_t origin(std::int64_t i) const {
    return words >> 32 == 0 ? way_to<false>(std::uint32_t(i), nullptr, from) : way_to<false>(i, nullptr, from);
  }

private:
  template <bool IsListed, class Number>
  KEEL_FUNCTION std::int64_t way_to(Number i, std::int32_t const* numbers, std::int64_t const* by) const {
    std::int64_t at = 0;
    for (int d = 0; d + 1 < rank; ++d) {
      Number const next = i / Number(count[d]);
      at += index<IsListed>(d, i - next * Number(count[d]), numbers) * by[d];
      i = next;
    }
    return at + index<IsListed>(rank - 1, i, numbers) * by[rank - 1];
  }
  template <bool IsListed, class Number>
  KEEL_FUNCTION std::int64_t index(int d, Number k, std::int32_t const* numbers) const {
    if constexpr (IsListed)
      if (d == listed) return numbers[k];
    return std::int64_t(k);
  }
};

/// `elements`: where the numbers of listed elements lie, if the box counts some. `from`: how the array lies that a copy
/// comes from, if it is another one. `own`: the order in which the box is gone through, forwards or backwards.
[[nodiscard]] strip strip_of(shape const& s, bounds const& box, std::int32_t const* elements = nullptr,
                             shape const* from = nullptr, origin_steps const& steps = {}, origin_steps const& own = {});

/// Calls `kernel.run<Word>(arguments...)` for the words that a strip is made of.
KEEL_CALLS_USER
template <class Kernel, class... Arguments>
KEEL_FUNCTION void with_word(strip const& s, Kernel const& kernel, Arguments&... arguments) {
  if (s.word_bytes == 8) kernel.template run<std::uint64_t>(arguments...);
  else if (s.word_bytes == 4) kernel.template run<std::uint32_t>(arguments...);
  else kernel.template run<std::uint8_t>(arguments...);
}

[[nodiscard]] inline std::int64_t bytes_of(shape const& s, bounds const& box, origin_steps const& steps = {}) {
  return box.size(s.rank) * s.inner * s.element_bytes / (steps.part < 0 ? 1 : 2);
}
/// Whether the first dimension of the grid is the fastest one.
[[nodiscard]] inline bool is_ascending(shape const& s) { return s.rank > 1 && s.stride[0] < s.stride[s.rank - 1]; }
/// Where that component of vectors begins, which is the last dimension beyond the grid's, in elements.
[[nodiscard]] inline std::int64_t part_begin(shape const& s, origin_steps const& steps) {
  return steps.part <= 0 ? 0 : s.inner_stride * (is_ascending(s) ? s.inner / 2 : 1);
}

/// What one word adds: another number for each place and value.
KEEL_FUNCTION inline std::uint64_t digest_of(std::uint64_t place, std::uint64_t value) {
  return mixed(value ^ (place + 1) * 0x9e3779b97f4a7c15U);
}

/// The kernel of a digest, by which undeclared writes are found: a sum, so that the order does not matter.
struct digest_words {
  void const* array;
  strip which;

  KEEL_FUNCTION void operator()(std::int64_t i, std::uint64_t& sum) const { with_word(which, *this, i, sum); }
  template <class Word>
  KEEL_FUNCTION void run(std::int64_t i, std::uint64_t& sum) const {
    auto const at = std::size_t(which[i]);
    sum += digest_of(at, static_cast<Word const*>(array)[at]);
  }
};
/// The digest of these elements, by the calling thread.
[[nodiscard]] inline std::uint64_t digest_on_host(shape const& lies, void const* array, index_set const& box) {
  digest_words const words{array, strip_of(lies, box, box.numbers())};
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < words.which.words; ++i) words(i, sum);
  return sum;
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/strip.ipp>
#endif
