// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the entries of a group mean to each other: how long an exchange may stay under way, and which copies
/// are certain to be wanted further on. Constants, from the declarations alone.

#include <keel/impl/residency/directory.hpp>
#include <keel/policy/list.hpp>
#include <keel/residency/routine.hpp>
#include <keel/residency/transitions.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace keel::residency::detail {

/// What `e`, with all below it, may do to a level of a variable: the regions that it makes stale elsewhere or
/// moves away.
constexpr region spoils(entry const& e, access const& what) {
  region all = region::none;
  for_each_access(e, [&](access const& a) {
    if (*a.variable != *what.variable) return;
    if (e.what == entry_kind::cycle) all = all | (a.variable->levels > 1 ? region::everywhere : region::none);
    else if (a.level == what.level && does_write(a.how)) all = all | spoiled_by(a.where);
  });
  for (std::size_t i = 0; i < e.child_count; ++i) all = all | spoils(*e.children[i], what);
  return all;
}

/// The entry of a group before which its exchange number `i` has to be finished: the first behind it that is no
/// routine, or one that meets the ghosts of what is exchanged or writes any of it. `i + 1` where nothing can overlap.
constexpr std::size_t lands_before(entry const& group, std::size_t i) {
  entry const& exchange = *group.children[i];
  std::size_t j = i + 1;
  for (; j < group.child_count && group.children[j]->what == entry_kind::routine; ++j) {
    bool meets = false;
    for_each_access(exchange, [&](access const& mine) {
      for_each_access(*group.children[j], [&](access const& a) {
        bool const is_same = *a.variable == *mine.variable && a.level == mine.level;
        meets = meets || (is_same && (overlap(a.where, region::ghosts) || does_write(a.how)));
      });
    });
    if (meets) break;
  }
  return j;
}

/// The type number `N` of a list.
template <std::size_t N, class List>
struct nth_of;
template <std::size_t N, class... Ts>
struct nth_of<N, keel::list<Ts...>> : std::tuple_element<N, std::tuple<Ts...>> {};
template <std::size_t N, class List>
using nth = typename nth_of<N, List>::type;

inline constexpr std::size_t none_open = ~std::size_t{0};

/// For each entry of a group, the exchange that is under way while it runs, and the one that ends just before it; or `none_open`.
template <std::size_t Entries>
struct exchanges {
  std::size_t during[Entries + 1], before[Entries + 1];
};
template <class G>
inline constexpr auto exchanges_in = [] {
  constexpr std::size_t entries = G::about.child_count;
  exchanges<entries> made{};
  for (std::size_t i = 0; i <= entries; ++i) made.during[i] = made.before[i] = none_open;
  for (std::size_t j = entries; j-- > 0;) {
    if (G::about.children[j]->what != entry_kind::exchange) continue;
    std::size_t const end = lands_before(G::about, j);
    if (end == j + 1) continue;
    for (std::size_t i = j + 1; i < end; ++i) made.during[i] = j;
    made.before[end] = j;
  }
  return made;
}();

/// Requests, and for each the first entry that makes it.
template <std::size_t Most>
struct early_copies : requests<Most> {
  std::string_view reader[Most + 1]{};

  /// Calls `f(part, reader)` for each run of requests of one reader.
  template <class F>
  void for_each_reader(F&& f) const {
    for (std::size_t first = 0, last = 0; first < this->size; first = last) {
      while (last < this->size && reader[last] == reader[first]) ++last;
      f(this->all().subspan(first, last - first), reader[first]);
    }
  }
};

/// Whether `e` has a place, so that it reads and writes there.
constexpr bool has_place(entry const& e) { return e.what == entry_kind::routine || e.what == entry_kind::exchange; }

/// The first declaration of `e` that writes the same level as `a`, and all that `e` writes of it.
constexpr access const* first_write(entry const& e, access const& a) {
  access const* first = nullptr;
  for_each_access(e, [&](access const& b) {
    if (first == nullptr && does_write(b.how) && *b.variable == *a.variable && b.level == a.level) first = &b;
  });
  return first;
}
constexpr region all_written(entry const& e, access const& a) {
  region all = region::none;
  for_each_access(e, [&](access const& b) {
    if (does_write(b.how) && *b.variable == *a.variable && b.level == a.level) all = all | (b.where & region::everywhere);
  });
  return all;
}

/// Copies to memory `to` that can begin when entry `i` of a group has run, one of both on the host: of what it wrote,
/// all that a later entry of the group reads there before anybody writes it again. The very next one is left out, it
/// asks itself. What goes to the host counts there when it is read, and not if any of the level was written till then.
/// `memory_of(place)` says which memory is meant.
template <class Directory, std::size_t Most, class F>
constexpr early_copies<Most> certain_copies(entry const& group, std::size_t i, memory to, F const& memory_of) {
  early_copies<Most> found;
  entry const& writer = *group.children[i];
  if (!has_place(writer) || memory_of(writer.where) == to || (memory_of(writer.where) != host && to != host)) return found;
  for_each_access(writer, [&](access const& a) {
    if (!does_write(a.how) || &a != first_write(writer, a)) return;
    region left = all_written(writer, a), wanted = region::none;
    std::string_view& reader = found.reader[found.size];
    for (std::size_t j = i + 1; j < group.child_count && left != region::none; ++j) {
      entry const& next = *group.children[j];
      bool const reads_there = has_place(next) && memory_of(next.where) == to;
      region read = region::none;
      for_each_access(next, [&](access const& b) {
        if (reads_there && *b.variable == *a.variable && b.level == a.level && does_read(b.how)) read = read | (b.where & left);
      });
      if (j > i + 1 && wanted == region::none) reader = next.name;
      if (j > i + 1) wanted = wanted | read;
      region const spoiled = spoils(next, a);
      left = to == host && spoiled != region::none ? region::none : without(left, spoiled | read);
    }
    if (wanted != region::none) found.list[found.size++] = {Directory::find(a.variable), a.level, wanted, region::none};
  });
  return found;
}

/// For each entry of group `G`, the memories to which such copies begin behind it, one bit each.
template <class G, class Directory, auto MemoryOf>
inline constexpr auto begins_copies = [] {
  constexpr std::size_t entries = G::about.child_count;
  constexpr std::size_t most = [] {
    std::size_t n = 0;
    for (std::size_t i = 0; i < entries; ++i) n = std::max(n, count_accesses(*G::about.children[i]));
    return n;
  }();
  std::array<std::uint8_t, entries + 1> made{};
  unsigned readers = 0;
  for (std::size_t i = 0; i < entries; ++i)
    if (has_place(*G::about.children[i])) readers |= 1U << unsigned(MemoryOf(G::about.children[i]->where));
  for (std::size_t i = 0; i < entries; ++i)
    for (unsigned m = 0; m < unsigned(max_memories); ++m)
      if ((readers >> m & 1U) != 0 && certain_copies<Directory, most>(G::about, i, memory(m), MemoryOf).size != 0)
        made[i] = std::uint8_t(made[i] | 1U << m);
  return made;
}();

} // namespace keel::residency::detail
