// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How words are moved between arrays and messages: one kernel for all boxes.

#include <keel/exchange/queue.hpp>
#include <keel/impl/exchange/numbers.hpp>
#include <keel/impl/exchange/strip.hpp>
#include <keel/policy/macros.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sched.h>

namespace keel::residency::detail {

/// What becomes of ghosts and what their owners hold: the ghosts are replaced, or added to it.
enum class combine : std::uint8_t { replace, add };

/// What happens to the words of a strip: they go to packed words, come from them, come from another box, are poisoned;
/// `add` and `add_copy` add what `scatter` and `copy` put there; `extend` and `negate` bring them, or them with the
/// other sign, from elements that lie in another order; `raise` and `await` move none, for the sake of a flag.
enum class motion : std::uint8_t { gather, scatter, copy, poison, add, add_copy, extend, negate, raise, await };
[[nodiscard]] KEEL_FUNCTION constexpr bool is_extension(motion m) { return m == motion::extend || m == motion::negate; }
[[nodiscard]] KEEL_FUNCTION constexpr bool is_sum(motion m) { return m == motion::add || m == motion::add_copy; }
/// Whether words come from other elements, not from packed words.
[[nodiscard]] KEEL_FUNCTION constexpr bool is_copy(motion m) {
  return m == motion::copy || m == motion::add_copy || is_extension(m);
}

/// Before flags are raised: what this thread wrote, or has seen of others, is seen by a process that sees a flag.
/// Numbers of flags are compared as they were counted, whatever the overflow.
KEEL_FUNCTION inline void publish() {
#if defined(__CUDA_ARCH__)
  __threadfence_system(); // elsewhere each flag does it
#endif
}
KEEL_FUNCTION inline void raise_flag(std::uint32_t* flag, std::uint32_t number) {
#if defined(__CUDA_ARCH__)
  *static_cast<std::uint32_t volatile*>(flag) = number;
#else
  __atomic_store_n(flag, number, __ATOMIC_RELEASE);
#endif
}
/// Whether waiting for a flag gives the core away, which others may keep for milliseconds; ranks may have to share it.
inline std::atomic<bool> waits_yield{true};
KEEL_FUNCTION inline void await_flag(std::uint32_t const* flag, std::uint32_t number) {
#if defined(__CUDA_ARCH__)
  while (std::int32_t(*static_cast<std::uint32_t const volatile*>(flag) - number) < 0) {
  }
  __threadfence_system();
#else
  for (int turns = 0; std::int32_t(__atomic_load_n(flag, __ATOMIC_ACQUIRE) - number) < 0; ++turns) {
#if !KEEL_ON_ACCELERATOR
    if (turns > 1000 && waits_yield.load(std::memory_order_relaxed)) sched_yield();
#endif
  }
#endif
}
/// One box of an array, or so many listed elements, and the packed words that it is moved from or to. In a copy of a
/// box `buffer` is where the element lies that its first one gets; of listed elements it is the array.
struct job {
  motion how;
  addend added_as;
  std::uint32_t* flag;  ///< of the message's first piece, if packing and unpacking care for it
  std::uint32_t* count; ///< see `message`
  void* array;
  void* buffer;
  strip which;
  std::uint32_t piece_bytes = 0; ///< of its message
  std::int32_t end = 0;          ///< one past its last piece, of the pieces of all jobs
  std::int64_t first = 0;        ///< its first byte in the message, then among pieces of this length

  [[nodiscard]] KEEL_FUNCTION bool raises() const {
    return flag != nullptr && (how == motion::gather || how == motion::raise);
  }
  [[nodiscard]] KEEL_FUNCTION bool awaits() const { return flag != nullptr && !raises(); }
  /// Whether it has none of that piece, nor of those before it.
  [[nodiscard]] KEEL_FUNCTION bool is_after(std::int64_t piece) const {
    return first >= (piece + 1) * std::int64_t(piece_bytes);
  }
  friend bool operator==(job const&, job const&) = default;
};
/// The job of a box of an array; `elements` and what follows as of `strip_of`.
[[nodiscard]] inline job job_of(motion how, shape const& lies, void* array, void* buffer, bounds const& box,
                                std::int32_t const* elements = nullptr, shape const* from = nullptr,
                                origin_steps const& steps = {}) {
  return {how, lies.added_as, nullptr, nullptr, array, buffer, strip_of(lies, box, elements, from, steps)};
}

/// The kernel that moves boxes: `array` and `buffer` in the memory where it runs. One for all words, because each costs
/// the compiler time; many boxes at once, because most are so small that a GPU needs longer for the launch. A few boxes
/// travel with the kernel; of more the list lies in that memory. A team moves one piece after another: it awaits the
/// flag of what it unpacks, and raises that of what it packed. Each 32 threads have a part of the piece, so that they
/// do not wait for boxes of others. If one kernel does both, what is packed comes first, and half of the teams unpack
/// meanwhile. Extensions have a kernel of their own, so that the other needs no registers for them; they do not go with
/// other motions.
struct move_words {
  static constexpr int most = 16; ///< a kernel's arguments have 4 KiB
  static constexpr int parts = 8; ///< of a piece at most, which a team shares
  job jobs[most];
  int count = 0;
  bool raises = false, awaits = false;    ///< whether a job does
  bool extends = false;                   ///< whether all do
  job const* listed = nullptr;            ///< `count` jobs, instead of those above
  std::int32_t const* starts = nullptr;   ///< with these the first job of each part
  std::int32_t pieces = 0, raised = 0;    ///< of all jobs; of those that raise flags, which are the first
  std::int32_t base = 0;                  ///< the first piece of the message that is entered
  std::uint32_t const* entered = nullptr; ///< its flag

  /// Adds as many as there is room for, and says how many.
  std::size_t add(std::span<job const> given);
  /// Counts a job; those of a message follow on each other as they lie there.
  void enter(job& p) {
    auto const bytes = p.which.words * p.which.word_bytes;
    if (p.flag == nullptr) { // a GPU is full of many pieces, and long ones keep it busy
      std::int64_t const some = bytes / (128 * 256) * 256;
      p.first = 0, p.piece_bytes = std::uint32_t(some < 2048 ? 2048 : some < 65536 ? some : 65536);
    }
    if (p.flag == nullptr || p.flag != entered) base = pieces;
    entered = p.flag, ++count;
    p.first += base * std::int64_t(p.piece_bytes);
    pieces = p.end = std::int32_t((p.first + bytes + p.piece_bytes - 1) / p.piece_bytes);
    if (p.flag != nullptr) p.flag -= base, p.count -= base;
    raises = raises || p.raises(), awaits = awaits || p.awaits();
    if (p.raises()) raised = pieces;
  }
  /// Adds a message's flags and nothing else, if there is room.
  bool add_flag(motion how, message const& of) {
    if (count == most) return false;
    job& p = jobs[count] = {};
    p.how = how, p.flag = of.flag, p.count = of.count;
    p.which.words = std::int64_t(of.pieces()), p.piece_bytes = std::uint32_t(p.which.word_bytes);
    enter(p);
    return true;
  }

  /// Every `step`th piece from `piece` to `last`, by one team of so many threads; each moves some words at a time,
  /// because a GPU waits for memory.
  template <bool Extends, int Threads>
  KEEL_FUNCTION void run(auto const& team, std::int32_t piece, std::int32_t last, std::int32_t step) const {
    constexpr int width = Threads < 32 ? Threads : 32;
    using by = std::conditional_t<Extends, extender<width>, mover<width>>;
    if (listed != nullptr) run<by, Threads, width>(team, listed, piece, last, step);
    else run<by, Threads, width>(team, jobs, piece, last, step); // which a GPU reads faster
  }

private:
  /// The first job that has a piece.
  [[nodiscard]] KEEL_FUNCTION int find(job const* all, std::int32_t piece) const {
    if (starts != nullptr) return starts[piece * parts];
    int at = 0, half = 1;
    while (2 * half <= count) half *= 2;
    for (; half != 0; half /= 2)
      if (at + half <= count && all[at + half - 1].end <= piece) at += half;
    return at;
  }
  template <class By, int Threads, int Width>
  KEEL_FUNCTION void run(auto const& team, job const* all, std::int32_t piece, std::int32_t last,
                         std::int32_t step) const {
    int const thread = team.team_rank();
    By const by{thread % Width};
    for (; piece < last; piece += step) {
      int at = find(all, piece);
      job const& one = all[at];
      if (one.flag != nullptr && thread == 0) {
        std::uint32_t const number = one.count[piece] + 1;
        if (one.awaits()) await_flag(one.flag + piece, number);
        one.count[piece] = number;
      }
      if (one.awaits()) team.team_barrier();
      std::uint32_t const some = one.piece_bytes / (Threads / Width);
      std::int64_t const part = (piece * std::int64_t(Threads / Width) + thread / Width) * some;
      if (starts != nullptr) at = starts[piece * parts + thread / Width * (parts * Width / Threads)];
      if (one.how < motion::raise)
        for (; at < count && !all[at].is_after(piece); ++at) {
          job const& p = all[at];
          std::int64_t begin = part - p.first, end = begin + some;
          if (begin < 0) begin = 0;
          with_word(p.which, by, p, begin, end);
          if (end <= p.which.words * p.which.word_bytes) break; // the next one is not looked for in memory
        }
      if (!one.raises()) continue;
      team.team_barrier();
      if (thread == 0) publish(), raise_flag(one.flag + piece, one.count[piece]);
    }
  }

  // Bytes as words.
  template <class Word>
  [[nodiscard]] KEEL_FUNCTION static std::int64_t stop_word(job const& p, std::int64_t end) {
    std::int64_t const word = end / std::int64_t(sizeof(Word));
    return word < p.which.words ? word : p.which.words;
  }
  template <int Width>
  struct extender {
    int lane;
    template <class Word>
    KEEL_FUNCTION void run(job const& p, std::int64_t begin, std::int64_t end) const {
      std::int64_t const stop = stop_word<Word>(p, end);
      for (std::int64_t i = begin / std::int64_t(sizeof(Word)) + lane; i < stop; i += Width) {
        std::int64_t const at = p.which.place<false>(i, nullptr);
        Word const word = static_cast<Word const*>(p.buffer)[p.which.origin(i)];
        static_cast<Word*>(p.array)[at] = p.how == motion::negate ? negative_of(p.added_as, word) : word;
      }
    }
  };
  /// Moves every `Width`th word from `i` on; of listed elements one at a time, which needs fewer registers.
  template <int Width>
  struct mover {
    int lane;
    template <class Word>
    KEEL_FUNCTION void run(job const& p, std::int64_t begin, std::int64_t end) const {
      std::int64_t i = begin / std::int64_t(sizeof(Word)) + lane;
      std::int64_t const stop = stop_word<Word>(p, end);
      if (p.which.elements != nullptr) {
        for (; i < stop; i += Width) move<true, Word, 1>(p, i);
        return;
      }
      if constexpr (Width > 1) {
        for (; i + 3 * Width < stop; i += 4 * Width) move<false, Word, 4>(p, i);
      }
      for (; i < stop; i += Width) move<false, Word, 1>(p, i);
    }
    template <bool IsListed, class Word, int Count>
    KEEL_FUNCTION static void move(job const& p, std::int64_t i) {
      auto* const array = static_cast<Word*>(p.array);
      auto* const buffer = static_cast<Word*>(p.buffer);
      std::int64_t at[Count];
      Word word[Count];
      KEEL_UNROLL
      for (int k = 0; k < Count; ++k) {
        at[k] = p.which.place<IsListed>(i + k * Width, p.which.elements);
        if (p.how == motion::gather) word[k] = array[at[k]];
        else if (p.how == motion::poison) word[k] = static_cast<Word>(~Word{0});
        else if (!is_copy(p.how)) word[k] = buffer[i + k * Width];
        else if constexpr (IsListed) word[k] = buffer[p.which.place<true>(i + k * Width, p.which.origins())];
        else word[k] = buffer[p.which.origin(i + k * Width)];
        if (is_sum(p.how)) word[k] = sum_of(p.added_as, array[at[k]], word[k]);
      }
      KEEL_UNROLL
      for (int k = 0; k < Count; ++k) (p.how == motion::gather ? buffer[i + k * Width] : array[at[k]]) = word[k];
    }
  };
};
static_assert(sizeof(move_words) <= 3840);
/// The first one of jobs, which a kernel has entered, that has each part of a piece.
[[nodiscard]] std::vector<std::int32_t> starts_of(std::span<job const> all);
/// On the calling thread.
void move_on_host(job const& what);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/moves.ipp>
#endif
