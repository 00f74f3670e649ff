// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Routines as types: where they run, and what they read, write and update.

#include <keel/policy/list.hpp>
#include <keel/policy/tags.hpp>
#include <keel/schedule/entry_kind.hpp>
#include <keel/schedule/part.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace keel::residency {

/// The value of a reduction, whose parts `routine` returns, or of an argument, which none makes; known by its address.
struct value_info {
  std::string_view name, routine;

  friend constexpr bool operator==(value_info const&, value_info const&) = default; ///< while compiling, see `is_value`
};

/// What an entry declares for one level of a variable: the regions that have to be valid before it, and those that it
/// overwrites. Or a value that it reads.
struct declaration {
  variable_info const* variable = nullptr;
  std::uint8_t level = 0;
  region reads = region::none, writes = region::none;
  std::uint8_t read_layers = 0, written_layers = 0; ///< of the halo, if that is among the regions
  value_info const* value = nullptr;
  bool is_value = false; ///< told apart: addresses are no constants to a compiler that looks for undefined behaviour

  /// Joins what another clause says of this level of this variable.
  constexpr void join(declaration const& one) {
    reads = reads | one.reads, writes = writes | one.writes;
    read_layers = std::max(read_layers, one.read_layers);
    written_layers = std::max(written_layers, one.written_layers);
  }
};

namespace detail {

template <bool Reads, bool Writes>
constexpr declaration declare(variable_info const& v, int level, region said, int layers, region otherwise) {
  if (layers != all_layers && otherwise == region::owned) otherwise = region::inside; // what else has layers
  region const where = !v.has_ghosts ? region::everywhere : said == region::none ? otherwise : said;
  declaration made{&v, std::uint8_t(level), Reads ? where : region::none, Writes ? where : region::none};
  if (overlap(made.reads, region::halo)) made.read_layers = std::uint8_t(layers);
  if (overlap(made.writes, region::halo)) made.written_layers = std::uint8_t(layers);
  return made;
}

template <class X>
inline constexpr bool is_part = Part<X>; // a concept would bring its own errors along
/// What a clause says by `X`, a part or a reduction.
template <bool Reads, bool Writes, region Default, class X>
constexpr declaration declared_by() {
  if constexpr (is_part<X>)
    return declare<Reads, Writes>(item<X>::variable::about, item<X>::level, item<X>::where, item<X>::layers, Default);
  else {
    static_assert(!Writes, "keel::residency: a clause writes or updates the value of a reduction (only its entry makes "
                           "it; it is in the message). Say reads.");
    return {.value = &X::value, .is_value = true};
  }
}
template <class X>
consteval bool require_part() {
  if constexpr (is_part<X>) return true;
  else {
    constexpr bool is_value = requires { X::value; };
    static_assert(
        is_value,
        "keel::residency: a clause of a routine names what is no variable, nor a part of one (it is in the message). "
        "Derive it from keel::residency::variable.");
    return is_value; // of a class that failed, clang would say more
  }
}
template <class X>
using checked_part = std::bool_constant<require_part<X>()>;

template <bool Reads, bool Writes, region Default, class Parts>
struct clause_of;
template <bool Reads, bool Writes, region Default, class... Xs>
struct clause_of<Reads, Writes, Default, keel::list<Xs...>> {
  using parts = keel::list<Xs...>;
  static constexpr std::array<declaration, sizeof...(Xs)> declared{declared_by<Reads, Writes, Default, Xs>()...};
};
// A type that is no part is left out after its error, so that no other error follows.
template <bool Reads, bool Writes, region Default, class... Xs>
using clause = clause_of<Reads, Writes, Default, policy::filter<keel::list<Xs...>, checked_part>>;

/// Declarations, each level of a variable once, and values apart. `Most` is an upper bound.
template <std::size_t Most>
struct declarations {
  std::array<declaration, Most> list{};
  std::size_t size = 0, value_count = 0;
  value_info const* values[Most + 1]{};

  constexpr void add(declaration const& one) {
    if (one.is_value) {
      values[value_count++] = one.value;
      return;
    }
    for (std::size_t i = 0; i < size; ++i)
      if (list[i].level == one.level && *list[i].variable == *one.variable) {
        list[i].join(one);
        return;
      }
    list[size++] = one;
  }
};
template <std::size_t... Sizes>
constexpr auto join(std::array<declaration, Sizes> const&... clauses) {
  declarations<(Sizes + ... + 0)> all;
  [[maybe_unused]] auto const add = [&](auto const& clause) {
    for (declaration const& one : clause) all.add(one);
  };
  (add(clauses), ...);
  return all;
}

} // namespace detail

/// Needs valid data, everywhere if no region is named; may not change them. So where a grid ends, a boundary condition
/// has to write the walls before; `inside<x>` does without them.
template <class... Xs>
struct reads : detail::clause<true, false, region::everywhere, Xs...> {};
/// Promises to overwrite the whole region, `owned` if none is named; so nothing is copied for it.
template <class... Xs>
struct writes : detail::clause<false, true, region::owned, Xs...> {};
/// Needs valid data and may change any part of the region, `owned` if none is named.
template <class... Xs>
struct updates : detail::clause<true, true, region::owned, Xs...> {};

/// May be called for pieces of what it writes: `v.owned()` is the piece, and all calls together have each owned cell
/// once. So the exchange that follows the routine in its group can begin as soon as the cells that other ranks wait for
/// are done, and messages travel while the routine runs for the rest.
///
/// A cell may depend on any cells of what is only read, and on itself of what is written. Such a routine writes and
/// updates owned cells of variables on the grid, and its `run` returns nothing: else it does not compile. It must not
/// count its calls or sum up in its arguments, nor take its bounds from `v.local()`. It is called once, for all owned
/// cells, on a rank without neighbours or without a core, for several components, by `run`, under `checked`, and if all
/// messages go by transports that the device's queue orders, because nothing would travel meanwhile.
struct in_pieces {
  using parts = keel::list<>;
  static constexpr std::array<declaration, 0> declared{};
};

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
  static_assert(policy::DeviceTag<Tag>,
                "keel::residency::on: what it names is no tag of a device (it is in the message). "
                "Say keel::serial, keel::cuda, or another tag.");
};
template <policy::DeviceTag Tag>
struct on<Tag> {
  using tag = Tag;
  static constexpr place where{place::kind::at_named, Tag::name};
};

/// A routine, or any other entry of a schedule, as data: a tree that constexpr functions walk.
struct entry {
  entry_kind what;
  std::string_view name;
  place where = {};
  declaration const* first = nullptr;
  std::size_t declaration_count = 0;
  entry const* const* children = nullptr;
  std::size_t child_count = 0;
  int count = 1;                             ///< N of `every` and `repeat`; 0 of a graph that is parallel
  bool in_pieces = false;                    ///< of a routine: it may be called for pieces
  value_info const* const* values = nullptr; ///< of reductions, which it reads
  std::size_t value_count = 0;
  value_info const* makes = nullptr;                 ///< of a reduction
  struct wall_condition const* conditions = nullptr; ///< at walls; one without a variable ends them

  /// What it declares itself, each level of a variable once. Of `cycle` and `rewind`: the variables.
  [[nodiscard]] constexpr std::span<declaration const> declared() const { return {first, declaration_count}; }
  [[nodiscard]] constexpr bool reads_value(value_info const* of) const {
    for (std::size_t i = 0; i < value_count; ++i)
      if (values[i] == of) return true;
    return false;
  }
};

namespace detail {
/// Whether a routine with these clauses may be called for pieces. If it declares `in_pieces`, all that it writes has to
/// be made of owned cells, which pieces are made of.
template <class R, class... Clauses>
consteval bool is_in_pieces() {
  if constexpr ((std::is_same_v<Clauses, in_pieces> || ...)) {
    constexpr bool writes_owned_only = [] {
      for (std::size_t i = 0; i < R::declared.size; ++i) {
        declaration const& d = R::declared.list[i];
        if (d.writes != region::none && (!d.variable->lies_on_grid || !d.variable->on.mesh.empty() ||
                                         d.writes != (d.variable->has_ghosts ? region::owned : region::everywhere)))
          return false;
      }
      return true;
    }();
    static_assert(writes_owned_only,
                  "keel::residency::in_pieces: a routine writes more or less than the owned cells of variables on the "
                  "grid (those are its pieces). Leave in_pieces out, or write owned.");
    return writes_owned_only;
  }
  return false;
}
} // namespace detail

/// A routine: `struct rhs : routine<"rhs", on_device, reads<…>, writes<…>>`, whose
/// `template <class V> static void run(V v, …)` gets views of what is declared here and of nothing else.
template <text Name, class Place, class... Clauses>
struct routine {
  using place_type = Place;
  using clause_types = keel::list<Clauses...>;
  static constexpr auto declared = detail::join(Clauses::declared...);
  static constexpr entry about{.what = entry_kind::routine,
                               .name = Name.view(),
                               .where = Place::where,
                               .first = declared.list.data(),
                               .declaration_count = declared.size,
                               .in_pieces = detail::is_in_pieces<routine, Clauses...>(),
                               .values = declared.values,
                               .value_count = declared.value_count};
};

/// A type that is a routine.
template <class R>
concept Routine = requires { typename R::place_type; } && R::about.what == entry_kind::routine;

} // namespace keel::residency
