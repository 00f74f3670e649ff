// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/moves.hpp>

#include <algorithm>
#include <cstring>

namespace keel::residency::detail {

// Moves the words of a strip on the calling thread, row by row: a row is what the first dimension counts.
struct move_rows {
  motion how;
  addend added_as;
  void* array_bytes;
  void* buffer_bytes;
  strip const s; // its own, so that no word that is written may be part of it

  template <class Word>
  void run() const {
    auto* const array = static_cast<Word*>(array_bytes);
    auto* const buffer = how == motion::poison ? array : static_cast<Word*>(buffer_bytes); // poison has none
    if (s.elements != nullptr) return run_listed(array, buffer);
    std::int64_t at = s.first, other = 0, done[strip::max]{};
    for (std::int64_t i = 0; i < s.words; i += s.count[0]) {
      row(array + at, buffer + (is_copy(how) ? other : i), s.count[0]);
      for (int d = 1; d < s.rank; ++d) { // to the next row, without a division
        at += s.stride[d], other += s.from[d];
        if (++done[d] < s.count[d]) break;
        at -= s.count[d] * s.stride[d], other -= s.count[d] * s.from[d], done[d] = 0;
      }
    }
  }

private:
  // A dimension may come before that of the elements, and one after it. Elements that follow on each other here and
  // there, without gaps between them, are one row; not so words alone, if few of them do.
  template <class Word>
  void run_listed(Word* array, Word* buffer) const {
    int const d = s.listed;
    std::int64_t const count = s.count[d], stride = s.stride[d], words = d == 0 ? 1 : s.count[0],
                       outer = d + 1 < s.rank ? s.count[d + 1] : 1;
    bool const copies = is_copy(how);
    std::int32_t const *const to = s.elements, *const from = to + count;
    if (d > 1 || s.rank > d + 2) return run_each(array, buffer);
    auto const follows = [](std::int32_t const* list, std::int64_t n) { return list[n] == list[n - 1] + 1; };
    std::int64_t joined = 0;
    if (d == 0)
      for (std::int64_t n = 1; n < count; ++n) joined += follows(to, n) ? 1 : 0;
    bool const can_join = d == 0 ? joined * 4 >= count * 3 : s.count[0] * s.stride[0] == stride;
    for (std::int64_t k = 0, i = 0; k < outer; ++k) {
      std::int64_t const at = s.first + (d + 1 < s.rank ? k * s.stride[d + 1] : 0);
      auto const place = [&](auto n) { return to[n] * stride; };
      if (d != 0 || can_join)
        for (std::int64_t e = 0, end = 0; e < count; e = end) {
          for (++end; can_join && end < count && follows(to, end) && (!copies || follows(from, end));) ++end;
          row(array + at + place(e), buffer + (copies ? at + from[e] * stride : i + e * words), (end - e) * words);
        }
      else if (copies) move(array + at, buffer + at, count, place, [&](auto n) { return from[n] * stride; });
      else move(array + at, buffer + i, count, place, [](auto n) { return n; });
      i += count * words;
    }
  }
  // Whatever the dimensions: one word after the other.
  template <class Word>
  void run_each(Word* array, Word* buffer) const {
    for (std::int64_t i = 0; i < s.words; ++i)
      move(
          array + s.place<true>(i, s.elements), buffer + (is_copy(how) ? s.place<true>(i, s.origins()) : i), 1,
          [](auto) { return 0; }, [](auto) { return 0; });
  }
  template <class Word>
  void row(Word* at, Word* packed, std::int64_t length) const {
    std::int64_t const stride = s.stride[0], step = is_copy(how) ? s.from[0] : 1;
    std::size_t const bytes = std::size_t(length) * sizeof(Word);
    bool const is_plain = stride == 1 && step == 1 && !is_sum(how) && how != motion::poison && how != motion::negate;
    if (is_plain && length >= 8)
      std::memcpy(how == motion::gather ? packed : at, how == motion::gather ? at : packed, bytes);
    else move(at, packed, length, [=](auto n) { return n * stride; }, [=](auto n) { return n * step; });
  }
  template <class Word>
  void move(Word* at, Word* packed, std::int64_t length, auto const& place, auto const& other) const {
    if (is_sum(how))
      for (std::int64_t n = 0; n < length; ++n) at[place(n)] = sum_of(added_as, at[place(n)], packed[other(n)]);
    else if (how == motion::poison)
      for (std::int64_t n = 0; n < length; ++n) at[place(n)] = static_cast<Word>(~Word{0});
    else if (how == motion::negate)
      for (std::int64_t n = 0; n < length; ++n) at[place(n)] = negative_of(added_as, packed[other(n)]);
    else if (how == motion::gather)
      for (std::int64_t n = 0; n < length; ++n) packed[other(n)] = at[place(n)];
    else
      for (std::int64_t n = 0; n < length; ++n) at[place(n)] = packed[other(n)];
  }
};

KEEL_INLINE std::size_t move_words::add(std::span<job const> given) {
  std::size_t taken = 0;
  for (; taken < given.size() && count < most; ++taken)
    if (given[taken].which.words != 0) enter(jobs[count] = given[taken]);
  return taken;
}

KEEL_INLINE std::vector<std::int32_t> starts_of(std::span<job const> all) {
  std::vector<std::int32_t> made;
  for (std::int32_t k = 0; job const& p : all) {
    std::int64_t const part = p.piece_bytes / move_words::parts, end = p.first + p.which.words * p.which.word_bytes;
    made.resize(std::max(made.size(), std::size_t((end + part - 1) / part)), k++);
  }
  made.resize(all.empty() ? 0 : std::size_t(all.back().end) * move_words::parts, std::int32_t(all.size()));
  return made;
}

KEEL_INLINE void move_on_host(job const& what) {
  with_word(what.which, move_rows{what.how, what.added_as, what.array, what.buffer, what.which});
}

} // namespace keel::residency::detail
