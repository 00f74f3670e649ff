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
/// Counts this team as finished; true for the last of `count`, which sees what all of them wrote and sets the counter
/// to 0.
KEEL_FUNCTION inline bool is_last(std::uint32_t* done, std::uint32_t count) {
  if (count == 1) return true;
#if defined(__CUDA_ARCH__)
  __threadfence();
  if (atomicAdd(done, 1U) != count - 1) return false;
#else
  if (__atomic_fetch_add(done, 1U, __ATOMIC_ACQ_REL) != count - 1) return false;
#endif
  *done = 0;
  return true;
}

/// One box of an array, or so many listed elements, and the packed words that it is moved from or to. In a copy of a
/// box `buffer` is where the element lies that its first one gets; of listed elements it is the array.
struct job {
  motion how;
  addend added_as;
  std::uint16_t link;   ///< whose number is added, if numbers lie in memory
  std::uint32_t number; ///< to which the flag is raised, counted from `number` of all
  std::uint32_t* flag;  ///< of the message in which the packed words lie, if packing and unpacking care for it
  void* array;
  void* buffer;
  strip which;
  std::int64_t end; ///< one past its last word, of the words of all jobs

  [[nodiscard]] KEEL_FUNCTION bool raises() const {
    return flag != nullptr && (how == motion::gather || how == motion::raise);
  }
  [[nodiscard]] KEEL_FUNCTION bool awaits() const { return flag != nullptr && !raises(); }
  friend bool operator==(job const&, job const&) = default;
};
/// The job of a box of an array; `elements` and what follows as of `strip_of`.
[[nodiscard]] inline job job_of(motion how, shape const& lies, void* array, void* buffer, bounds const& box,
                                std::int32_t const* elements = nullptr, shape const* from = nullptr,
                                origin_steps const& steps = {}) {
  return {how, lies.added_as, 0, 0, nullptr, array, buffer, strip_of(lies, box, elements, from, steps), 0};
}

/// The kernel that moves boxes: `array` and `buffer` in the memory where it runs. One for all words, because each costs
/// the compiler time; many boxes at once, because most are so small that a GPU needs longer for the launch. A few boxes
/// travel with the kernel; of more the list lies in that memory. Teams have a share of the words each. Before a team
/// unpacks it awaits the flags of the messages, and the last that is done packing raises those of all. Extensions have
/// a kernel of their own, so that the other needs no registers for them; they do not go with other motions.
struct move_words {
  static constexpr int most = 17; ///< a kernel's arguments have 4 KiB
  job jobs[most];
  int count = 0;
  bool raises = false, awaits = false; ///< whether a job does
  bool extends = false;                ///< whether all do
  std::uint32_t number = 0;
  std::uint32_t const* later = nullptr; ///< see `message`
  std::uint32_t* done = nullptr;        ///< counts teams that are done, if any flag is raised by more than one
  job const* listed = nullptr;          ///< `count` jobs, instead of those above
  std::int64_t words = 0, share = 0;    ///< of all jobs, of a team

  /// Adds as many as there is room for, and says how many.
  std::size_t add(std::span<job const> given);
  /// Counts a job, in the order in which they lie.
  void enter(job& p) {
    p.end = words += p.which.words;
    ++count;
    raises = raises || p.raises(), awaits = awaits || p.awaits();
  }
  /// Adds a flag and nothing else, if there is room.
  bool add_flag(motion how, message const& of) {
    if (count == most) return false;
    job& p = jobs[count] = {};
    p.how = how, p.flag = of.flag, p.number = of.number, p.link = of.link, p.which.words = 1;
    later = of.later;
    enter(p);
    return true;
  }

  /// The share of a team, of which each thread moves `Some` words at a time, because a GPU waits for memory.
  template <int Some, class Team>
  KEEL_FUNCTION void run(Team const& team) const {
    if (listed != nullptr) run<Some>(team, listed);
    else run<Some>(team, jobs); // which a GPU reads faster
  }

  /// The share of a thread, of extensions.
  KEEL_FUNCTION void extend(std::int64_t thread) const {
    if (listed != nullptr) extend(thread, listed);
    else extend(thread, jobs);
  }

private:
  [[nodiscard]] KEEL_FUNCTION std::uint32_t number_of(job const& p) const {
    return number + p.number + (later != nullptr ? later[p.link] : 0);
  }
  /// The first job that ends after word `begin`.
  [[nodiscard]] KEEL_FUNCTION int find(job const* all, std::int64_t begin) const {
    int at = 0, half = 1;
    while (2 * half <= count) half *= 2;
    for (; half != 0; half /= 2)
      if (at + half <= count && all[at + half - 1].end <= begin) at += half;
    return at;
  }
  KEEL_FUNCTION void extend(std::int64_t thread, job const* all) const {
    std::int64_t const begin = thread * share, end = begin + share < words ? begin + share : words;
    int at = find(all, begin);
    for (std::int64_t i = begin; i < end; ++i) {
      while (all[at].end <= i) ++at;
      std::int64_t const word = i - (at != 0 ? all[at - 1].end : 0);
      with_word(all[at].which, extender{}, all[at], word);
    }
  }
  struct extender {
    template <class Word>
    KEEL_FUNCTION void run(job const& p, std::int64_t const& i) const {
      std::int64_t const at = p.which.place<false>(i, nullptr);
      Word const word = static_cast<Word const*>(p.buffer)[p.which.origin(i)];
      static_cast<Word*>(p.array)[at] = p.how == motion::negate ? negative_of(p.added_as, word) : word;
    }
  };
  template <int Some, class Team>
  KEEL_FUNCTION void run(Team const& team, job const* all) const {
    std::int64_t const begin = std::int64_t(team.league_rank()) * share,
                       end = begin + share < words ? begin + share : words;
    int at = find(all, begin);
    if (awaits) {
      if (team.team_rank() == 0)
        for (int k = at; k < count && (k == at || all[k - 1].end < end); ++k)
          if (all[k].awaits() && (k == at || all[k].flag != all[k - 1].flag))
            await_flag(all[k].flag, number_of(all[k]));
      team.team_barrier();
    }
    std::int64_t const lanes = team.team_size();
    for (std::int64_t i = begin + team.team_rank(); i < end;) {
      while (all[at].end <= i) ++at;
      job const& p = all[at];
      std::int64_t const before = at != 0 ? all[at - 1].end : 0, stop = (p.end < end ? p.end : end) - before;
      i -= before;
      if (p.how < motion::raise) with_word(p.which, mover<Some>{}, p, i, stop, lanes);
      else i = stop;
      i += before;
    }
    if (!raises) return;
    team.team_barrier();
    if (team.team_rank() != 0 || !is_last(done, std::uint32_t(team.league_size()))) return;
    publish();
    for (int k = 0; k < count; ++k)
      if (all[k].raises() && (k == 0 || all[k].flag != all[k - 1].flag)) raise_flag(all[k].flag, number_of(all[k]));
  }

  /// Moves every `lanes`th word from `i` on; of listed elements one at a time, which needs fewer registers.
  template <int Some>
  struct mover {
    template <class Word>
    KEEL_FUNCTION void run(job const& p, std::int64_t& i, std::int64_t stop, std::int64_t lanes) const {
      if (p.which.elements != nullptr) {
        for (; i < stop; i += lanes) move<true, Word, 1>(p, i, lanes);
        return;
      }
      if constexpr (Some > 1) {
        for (; i + (Some - 1) * lanes < stop; i += Some * lanes) move<false, Word, Some>(p, i, lanes);
      }
      for (; i < stop; i += lanes) move<false, Word, 1>(p, i, lanes);
    }
    template <bool IsListed, class Word, int Count>
    KEEL_FUNCTION static void move(job const& p, std::int64_t i, std::int64_t lanes) {
      auto* const array = static_cast<Word*>(p.array);
      auto* const buffer = static_cast<Word*>(p.buffer);
      std::int64_t at[Count];
      Word word[Count];
      KEEL_UNROLL
      for (int k = 0; k < Count; ++k) {
        at[k] = p.which.place<IsListed>(i + k * lanes, p.which.elements);
        if (p.how == motion::gather) word[k] = array[at[k]];
        else if (p.how == motion::poison) word[k] = static_cast<Word>(~Word{0});
        else if (!is_copy(p.how)) word[k] = buffer[i + k * lanes];
        else if constexpr (IsListed) word[k] = buffer[p.which.place<true>(i + k * lanes, p.which.origins())];
        else word[k] = buffer[p.which.origin(i + k * lanes)];
        if (is_sum(p.how)) word[k] = sum_of(p.added_as, array[at[k]], word[k]);
      }
      KEEL_UNROLL
      for (int k = 0; k < Count; ++k) (p.how == motion::gather ? buffer[i + k * lanes] : array[at[k]]) = word[k];
    }
  };
};
static_assert(sizeof(move_words) <= 3840);
/// On the calling thread.
void move_on_host(job const& what);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/moves.ipp>
#endif
