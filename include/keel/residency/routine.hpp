// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Routines as types: where they run, and what they read, write and update.

#include <keel/policy/list.hpp>
#include <keel/policy/tags.hpp>
#include <keel/residency/variable.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace keel::residency {

/// What a routine does to a part. `updates` is both others: needs it valid, may change any of it.
enum class access_kind : std::uint8_t { reads = 1, writes = 2, updates = 3 };

[[nodiscard]] constexpr bool does_read(access_kind k) { return (std::uint8_t(k) & 1) != 0; }
[[nodiscard]] constexpr bool does_write(access_kind k) { return (std::uint8_t(k) & 2) != 0; }

/// One declaration, as data.
struct access {
  variable_info const* variable;
  std::uint8_t level;
  region where;
  access_kind how;
};

/// The declarations of one `reads`, `writes` or `updates`.
struct clause {
  access const* first;
  std::size_t size;
};

namespace detail {

constexpr region region_meant(variable_info const& v, region said, region otherwise) {
  if (!v.has_ghosts) return region::everywhere;
  return said == region::none ? otherwise : said;
}

template <class X>
inline constexpr bool is_part = Part<X>; // a concept would bring its own errors along
template <class X>
struct checked_part {
  static_assert(is_part<X>, "keel::residency: a clause of a routine names what is no variable, nor a part of one (it is in the message). "
                         "Derive it from keel::residency::variable?");
  using type = std::conditional_t<Part<X>, keel::list<X>, keel::list<>>;
};
template <class... Lists>
struct joined : std::type_identity<keel::list<>> {};
template <class... Xs, class... Ys, class... Lists>
struct joined<keel::list<Xs...>, keel::list<Ys...>, Lists...> : joined<keel::list<Xs..., Ys...>, Lists...> {};
template <class... Xs>
struct joined<keel::list<Xs...>> : std::type_identity<keel::list<Xs...>> {};

template <access_kind How, region Default, class Parts>
struct accesses_of;
template <access_kind How, region Default, class... Xs>
struct accesses_of<How, Default, keel::list<Xs...>> {
  using parts = keel::list<Xs...>;
  static constexpr access list[sizeof...(Xs) + 1] = {
      access{&item<Xs>::variable::about, item<Xs>::level,
             region_meant(item<Xs>::variable::about, item<Xs>::where, Default), How}...,
      access{}};
  static constexpr clause about{list, sizeof...(Xs)};
};
// What is no part is left out where it was refused, so that no other error follows.
template <access_kind How, region Default, class... Xs>
using accesses = accesses_of<How, Default, typename joined<typename checked_part<Xs>::type...>::type>;

} // namespace detail

/// Needs valid data, everywhere where no region is said; may not change them. Walls that were never written are accepted,
/// unless the clause says `walls<x>`; see `region`.
template <class... Xs>
struct reads : detail::accesses<access_kind::reads, region::everywhere, Xs...> {};
/// Promises to overwrite the whole region, `owned` where none is said; so nothing is copied for it.
template <class... Xs>
struct writes : detail::accesses<access_kind::writes, region::owned, Xs...> {};
/// Needs valid data and may change any part of the region, `owned` where none is said.
template <class... Xs>
struct updates : detail::accesses<access_kind::updates, region::owned, Xs...> {};

/// Where an entry runs: on the host, on the device chosen at the start, on a certain one, or where the
/// application exchanges ghosts.
struct place {
  enum class kind : std::uint8_t { at_host, at_chosen, at_named, at_exchange } what = kind::at_host;
  std::string_view device = {};
};

struct on_host {
  static constexpr place where{place::kind::at_host};
};
struct on_device {
  static constexpr place where{place::kind::at_chosen};
};
template <class Tag>
struct on {
  static_assert(policy::DeviceTag<Tag>, "keel::residency::on: what it names is no tag of a device (it is in the message). "
                                        "Say keel::serial, keel::cuda, or another tag?");
};
template <policy::DeviceTag Tag>
struct on<Tag> {
  using tag = Tag;
  static constexpr place where{place::kind::at_named, Tag::name};
};

/// What an entry of a schedule is.
enum class entry_kind : std::uint8_t { routine, cycle, exchange, every, repeat, when, sequence, analysis, output };

/// A routine, or any other entry of a schedule, as data: a tree that constexpr functions walk.
struct entry {
  entry_kind what;
  std::string_view name;
  place where;
  clause const* clauses;
  std::size_t clause_count;
  entry const* const* children;
  std::size_t child_count;
  int count; ///< N of `every` and `repeat`
};

/// A routine: `struct rhs : routine<"rhs", on_device, reads<…>, writes<…>>`, whose
/// `template <class V> static void run(V v, …)` gets views of what is declared here and of nothing else.
template <text Name, class Place, class... Clauses>
struct routine {
  using place_type = Place;
  using clause_types = keel::list<Clauses...>;
  static constexpr std::size_t access_count = (Clauses::about.size + ... + 0);
  static constexpr clause clauses[sizeof...(Clauses) + 1] = {Clauses::about..., clause{}};
  static constexpr entry about{
      entry_kind::routine, {Name.letters, sizeof(Name.letters) - 1}, Place::where, clauses, sizeof...(Clauses),
      nullptr,             0,                                        1};
};

/// A type that is a routine.
template <class R>
concept Routine = requires { typename R::place_type; } && R::about.what == entry_kind::routine;

/// Calls `f(access)` for each declaration of `e` itself, in the order written.
template <class F>
constexpr void for_each_access(entry const& e, F&& f) {
  for (std::size_t i = 0; i < e.clause_count; ++i)
    for (std::size_t j = 0; j < e.clauses[i].size; ++j) f(e.clauses[i].first[j]);
}

/// What `e` declares for level `level` of `v`, all its declarations joined: `how` and `where`;
/// `where` is `none` where it declares nothing.
[[nodiscard]] constexpr access declared(entry const& e, variable_info const* v, int level) {
  access all{v, std::uint8_t(level), region::none, access_kind{}};
  for_each_access(e, [&](access const& a) {
    if (a.level != level || *a.variable != *v) return;
    all.where = all.where | a.where;
    all.how = access_kind(std::uint8_t(all.how) | std::uint8_t(a.how));
  });
  return all;
}

} // namespace keel::residency
