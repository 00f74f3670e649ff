// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which elements of an array make a region, as strided runs of words, whatever the array's
/// type: so one kernel for each word length packs them all. The bodies stand in boxes.hpp.

#include <keel/policy/macros.hpp>
#include <keel/residency/grid.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sched.h>

namespace keel::residency::detail {

/// Disjoint boxes that make a region.
struct box_set {
  bounds boxes[2 * 2 * max_grid_rank];
  int count = 0;

  [[nodiscard]] bounds const* begin() const { return boxes; }
  [[nodiscard]] bounds const* end() const { return boxes + count; }
};

/// The boxes of a region. Without ghosts all owned cells are core.
[[nodiscard]] box_set boxes_of(share const& s, region where, bool has_ghosts = true);

/// How the elements of one variable lie: `inner` elements at each point of the grid.
struct shape {
  int rank = 0;                         ///< dimensions of the grid that the variable lies on; 0 if it lies on none
  std::int64_t stride[max_grid_rank]{}; ///< in elements
  std::int64_t inner = 1, inner_stride = 1;
  std::int64_t element_bytes = 1, elements = 1;
  bool has_ghosts = true;
  addend added_as = addend::none;
  share const* part = nullptr; ///< what this rank has of the variable, if it lies on the grid
  region all = region::none;   ///< the regions that, together, are the whole array; none if there are no regions
};

/// The boxes of a region of such an array.
[[nodiscard]] inline box_set boxes_of(shape const& s, region where) {
  return boxes_of(s.part != nullptr ? *s.part : share{}, where, s.has_ghosts);
}

/// The owned cells in the order in which a routine in pieces computes them: boxes of those that other ranks wait for,
/// so many cells deep, then the rest as one box. Only one box, all of them, if no other rank waits or nothing would be
/// left. `with_own`: the rim of sides where the rank is its own neighbour comes first, too.
[[nodiscard]] box_set rim_first(share const& s, indices const& depth, bool with_own);

/// Elements of a box in words of 8, 4 or 1 bytes, fastest dimension first, dimensions that follow on each other joined.
struct strip {
  static constexpr int max = max_grid_rank + 2;
  std::int64_t count[max]{}, stride[max]{};
  std::int64_t first = 0, words = 0;
  int rank = 0, word_bytes = 8;

  /// Where word number `i` of the strip lies in the array.
  KEEL_FUNCTION std::int64_t operator[](std::int64_t i) const {
    std::int64_t at = first;
    for (int d = 0; d < rank; ++d) {
      std::int64_t const next = i / count[d];
      at += (i - next * count[d]) * stride[d];
      i = next;
    }
    return at;
  }
};

[[nodiscard]] strip strip_of(shape const& s, bounds const& box);

/// Calls `kernel.run<Word>(arguments...)` for the words that a strip is made of.
template <class Kernel, class... Arguments>
KEEL_FUNCTION void with_word(strip const& s, Kernel const& kernel, Arguments&... arguments) {
  if (s.word_bytes == 8) kernel.template run<std::uint64_t>(arguments...);
  else if (s.word_bytes == 4) kernel.template run<std::uint32_t>(arguments...);
  else kernel.template run<std::uint8_t>(arguments...);
}

/// What happens to the words of a strip: they go to packed words, come from them, come from another box, are poisoned;
/// `add` and `add_copy` add what `scatter` and `copy` put there. The word of a flag that processes share is raised to a
/// number, or waited for until it has that number.
enum class motion : std::uint8_t { gather, scatter, copy, poison, add, add_copy, raise, await };
[[nodiscard]] KEEL_FUNCTION constexpr bool is_sum(motion m) { return m == motion::add || m == motion::add_copy; }
/// Whether words come from their own places in another box.
[[nodiscard]] KEEL_FUNCTION constexpr bool is_copy(motion m) { return m == motion::copy || m == motion::add_copy; }

/// The sum of two words that hold numbers of type `T`, one or more each.
template <class T, class Word>
[[nodiscard]] KEEL_FUNCTION Word sum_as(Word a, [[maybe_unused]] Word b) {
  if constexpr (sizeof(T) <= sizeof(Word)) {
    struct numbers {
      T of[sizeof(Word) / sizeof(T)];
    };
    auto sum = std::bit_cast<numbers>(a);
    auto const more = std::bit_cast<numbers>(b);
    for (std::size_t k = 0; k < sizeof(Word) / sizeof(T); ++k) sum.of[k] += more.of[k];
    a = std::bit_cast<Word>(sum);
  }
  return a;
}
template <class Word>
[[nodiscard]] KEEL_FUNCTION Word sum_of(addend as, Word a, Word b) {
  if (as == addend::float64) return sum_as<double>(a, b);
  if (as == addend::float32) return sum_as<float>(a, b);
  if (as == addend::int64) return sum_as<std::uint64_t>(a, b);
  return sum_as<std::uint32_t>(a, b);
}

/// Raises a flag after all that this thread, and what ran before it in its queue, has written, to be seen by a process
/// that awaits it. Numbers are compared as they were counted, whatever the overflow.
KEEL_FUNCTION inline void raise_flag(std::uint32_t* flag, std::uint32_t number) {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
  *static_cast<std::uint32_t volatile*>(flag) = number;
#else
  __atomic_store_n(flag, number, __ATOMIC_RELEASE);
#endif
}
KEEL_FUNCTION inline void await_flag(std::uint32_t const* flag, std::uint32_t number) {
#if defined(__CUDA_ARCH__)
  while (std::int32_t(*static_cast<std::uint32_t const volatile*>(flag) - number) < 0) {
  }
  __threadfence_system();
#else
  for (int turns = 0; std::int32_t(__atomic_load_n(flag, __ATOMIC_ACQUIRE) - number) < 0; ++turns) {
#if !KEEL_ON_ACCELERATOR
    if (turns > 1000) sched_yield(); // the other rank may want this core
#endif
  }
#endif
}

/// One box of an array, and the packed words that it is moved from or to. In a copy `buffer` is the array moved by the
/// way from this box to the other one, so that a word comes from its own place there.
struct box_move {
  motion how;
  shape const* lies;
  void* array;
  void* buffer;
  bounds box;

  friend bool operator==(box_move const&, box_move const&) = default;
};

/// The kernel that moves boxes: `array` and `buffer` in the memory where it runs. One for all words, because each costs
/// the compiler time; many boxes at once, because most are so small that a GPU needs longer for the launch. A few boxes
/// travel with the kernel; of more the list lies in that memory.
struct move_words {
  struct piece {
    motion how;
    addend added_as;
    void* array;
    void* buffer;
    strip which;
    std::int64_t end; ///< one past its last word, of the words of all pieces
  };
  static constexpr int most = 24; ///< a kernel's arguments have 4 KiB
  piece pieces[most];
  int count = 0;
  piece const* listed = nullptr; ///< `count` pieces, instead of those above
  std::int64_t words = 0;

  /// Adds as many of the boxes as there is room for, and says how many.
  std::size_t add(std::span<box_move const> boxes);
  /// Adds a flag, if there is room.
  bool add_flag(motion how, std::uint32_t* flag, std::uint32_t number) {
    if (count == most) return false;
    piece& p = pieces[count++] = {};
    p.how = how, p.array = flag, p.which.first = number, p.end = ++words;
    return true;
  }

  KEEL_FUNCTION void operator()(std::int64_t i) const {
    piece const* const all = listed != nullptr ? listed : pieces;
    int at = 0, half = 1; // the first piece that ends after i
    while (2 * half <= count) half *= 2;
    for (; half != 0; half /= 2)
      if (at + half <= count && all[at + half - 1].end <= i) at += half;
    piece const& p = all[at];
    auto* const flag = static_cast<std::uint32_t*>(p.array);
    if (p.how == motion::raise) return raise_flag(flag, std::uint32_t(p.which.first));
    if (p.how == motion::await) return await_flag(flag, std::uint32_t(p.which.first));
    std::int64_t const word = at != 0 ? i - all[at - 1].end : i;
    with_word(p.which, *this, p, word);
  }
  template <class Word>
  KEEL_FUNCTION void run(piece const& p, std::int64_t i) const {
    std::int64_t const at = p.which[i];
    Word& there = static_cast<Word*>(p.array)[at];
    if (p.how == motion::gather) static_cast<Word*>(p.buffer)[i] = there;
    else if (p.how == motion::poison) there = static_cast<Word>(~Word{0});
    else {
      Word const from = static_cast<Word const*>(p.buffer)[is_copy(p.how) ? at : i];
      there = is_sum(p.how) ? sum_of(p.added_as, there, from) : from;
    }
  }
};
static_assert(sizeof(move_words) <= 3840);
/// The pieces of any number of boxes.
[[nodiscard]] std::vector<move_words::piece> pieces_of(std::span<box_move const> boxes);
/// The same on the calling thread.
void move_on_host(box_move const& what);

[[nodiscard]] inline std::int64_t bytes_of(shape const& s, bounds const& box) {
  return box.size(s.rank) * s.inner * s.element_bytes;
}

/// What one word adds: another number for each place and value (the finaliser of S. Vigna's splitmix64).
KEEL_FUNCTION inline std::uint64_t digest_of(std::uint64_t place, std::uint64_t value) {
  std::uint64_t x = value ^ (place + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
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
/// The same on the calling thread.
[[nodiscard]] inline std::uint64_t digest_on_host(shape const& lies, void const* array, bounds const& box) {
  digest_words const words{array, strip_of(lies, box)};
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < words.which.words; ++i) words(i, sum);
  return sum;
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/boxes.hpp>
#endif
