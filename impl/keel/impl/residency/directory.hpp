// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The cells of a list of variables, and what an entry does to them, as constants.

#include <keel/impl/residency/merge.hpp>
#include <keel/residency/routine.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// A list of variables: each has a number, and its levels stand one behind the other.
template <class... Vars>
struct directory {
  static constexpr variable_info const* list[sizeof...(Vars) + 1] = {&Vars::about..., nullptr};

  /// The variable's number; -1 where the list lacks it.
  static constexpr int find(variable_info const* v) {
    for (std::size_t i = 0; i < sizeof...(Vars); ++i)
      if (*list[i] == *v) return int(i);
    return -1;
  }
  static constexpr std::array<std::uint32_t, sizeof...(Vars) + 1> first_cell = [] {
    std::array<std::uint32_t, sizeof...(Vars) + 1> first{};
    for (std::size_t i = 0; i < sizeof...(Vars); ++i) first[i + 1] = first[i] + std::uint32_t(list[i]->levels);
    return first;
  }();
  static constexpr bool is_unique = [] {
    for (std::size_t i = 0; i < sizeof...(Vars); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (list[i]->name == list[j]->name) return false;
    return true;
  }();
};

/// Requests of an entry, one for each level of a variable that it names.
template <std::size_t Most>
struct requests {
  request list[Most + 1]{};
  std::size_t size = 0;
  bool is_complete = true; ///< all variables were found

  [[nodiscard]] constexpr std::span<request const> all() const { return {list, size}; }
};

template <class E, class Directory>
constexpr auto requests_of() {
  requests<E::access_count> made;
  made.size = merge(E::about, made.list, [&](variable_info const* v) {
    int const number = Directory::find(v);
    made.is_complete = made.is_complete && number >= 0;
    return number;
  });
  return made;
}

/// The numbers of the variables that `e`, and what is below it, writes.
template <class Directory>
std::vector<int> written_by(entry const& e) {
  std::vector<int> numbers;
  auto const look = [&](auto const& self, entry const& one) -> void {
    if (one.what == entry_kind::routine)
      for_each_access(one, [&](access const& a) {
        int const number = Directory::find(a.variable);
        if (does_write(a.how) && std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
      });
    for (std::size_t i = 0; i < one.child_count; ++i) self(self, *one.children[i]);
  };
  look(look, e);
  return numbers;
}

/// What stands in for a plan where there is none: nothing is known.
struct no_plan {
  static constexpr region known(std::size_t) { return region::none; }
  static constexpr bool lacks_exchange(std::size_t, std::size_t) { return false; }
};

/// What has to be done to one cell around an entry: masks alone.
struct duty {
  std::uint32_t at = 0;
  cell must_be_clear = 0; ///< tested in any case
  cell unknown = 0;       ///< the part of it that is tested in a planned step
  cell clear = 0, raise = 0;
};

/// The duties of entry `E` in memory `M`, the requests they come from, and what plan `P` knows of
/// the occurrence with `At` declarations before it. `Copies`: whether there is another memory, so
/// that a copy may be under way that a write on the host must not overtake.
template <class E, memory M, class Directory, bool Copies, class P = no_plan, std::size_t At = 0>
struct duties {
  static constexpr auto asked = requests_of<E, Directory>();
  static constexpr std::size_t size = asked.size;
  static constexpr std::array<duty, size + 1> list = [] {
    std::array<duty, size + 1> made{};
    for (std::size_t i = 0; i < size; ++i) {
      request const& r = asked.list[i];
      write_masks const masks = masks_of_write(r.writes, M);
      cell const may_overtake = Copies && M == host && r.writes != region::none ? any_flight : 0;
      made[i] = {Directory::first_cell[std::size_t(r.variable)] + std::uint32_t(r.level), bits_of(r.reads, M) | may_overtake,
                 (bits_of(r.reads, M) & ~bits_of(P::known(At + i), M)) | may_overtake, masks.clear, masks.raise};
    }
    return made;
  }();
};

/// The bits that have to be clear for a step to go by plan `P`.
template <class P, class Directory>
struct needs {
  static constexpr std::size_t size = [] {
    std::size_t n = 0;
    P::for_each_need([&](variable_info const*, int, cell) { ++n; });
    return n;
  }();
  static constexpr std::array<duty, size + 1> list = [] {
    std::array<duty, size + 1> made{};
    std::size_t n = 0;
    P::for_each_need([&](variable_info const* v, int level, cell bits) {
      if (int const number = Directory::find(v); number >= 0)
        made[n++] = {Directory::first_cell[std::size_t(number)] + std::uint32_t(level), bits, bits, 0, 0};
    });
    return made;
  }();
};

} // namespace keel::residency::detail
