// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A schedule as data, for fields with certain variables: what each entry asks for, and what a tracked step walks.

#include <keel/impl/residency/directory.hpp>
#include <keel/impl/residency/program.hpp>
#include <keel/residency/ledger.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace keel::residency::detail {

template <class App>
struct holdings;

/// The requests of a schedule's entries, which are numbered in the order written, groups before what is in them.
template <class Schedule, class Directory>
class script {
  struct piece {
    entry const* about = nullptr;
    std::uint32_t first = 0, size = 0;
    bool is_complete = true; // all variables were found
  };
  struct all {
    request list[count_accesses(Schedule::about) + 1]{};
    piece pieces[count_entries(Schedule::about)]{};
    std::size_t count = 0, used = 0, most = 0;

    constexpr void append(entry const& e) {
      piece& one = pieces[count++];
      one.about = &e;
      one.first = std::uint32_t(used);
      one.size = std::uint32_t(merge(e, list + used, [&](variable_info const* v) {
        int const number = Directory::find(v);
        one.is_complete = one.is_complete && number >= 0;
        return number;
      }));
      used += one.size;
      most = std::max(most, std::size_t(one.size));
      for (std::size_t i = 0; i < e.child_count; ++i) append(*e.children[i]);
    }
  };
  static constexpr all made = [] {
    all a;
    a.append(Schedule::about);
    return a;
  }();

public:
  static constexpr std::size_t entries = made.count, declarations = made.used, most_asked = made.most;

  [[nodiscard]] static constexpr entry const& about(std::size_t n) { return *made.pieces[n].about; }
  [[nodiscard]] static constexpr bool is_complete(std::size_t n) { return made.pieces[n].is_complete; }
  [[nodiscard]] static constexpr std::uint32_t cell_of(request const& r) {
    return Directory::first_cell[std::size_t(r.variable)] + std::uint32_t(r.level);
  }
  [[nodiscard]] static constexpr std::span<request const> asked(std::size_t n) {
    return {made.list + made.pieces[n].first, made.pieces[n].size};
  }
};

template <class X, class Directory>
inline constexpr bool is_in_fields = Directory::find(&item<X>::variable::about) >= 0;
template <class Directory, class X>
consteval void require_variable() {
  static_assert(is_in_fields<X, Directory>, "keel::residency: a routine or an exchange names a variable that these fields do not have (see the "
                                            "variable and the entry in the message). Add it to fields<App, ...>?");
}
/// Stops the compiler where the fields with this directory lack a variable that `E` names.
template <class E, class Directory>
consteval void require_variables() {
  auto const of = []<class... Xs>(keel::list<Xs...>) { (require_variable<Directory, Xs>(), ...); };
  if constexpr (E::about.what == entry_kind::routine) [&]<class... Clauses>(keel::list<Clauses...>) { (of(typename Clauses::parts{}), ...); }(typename E::clause_types{});
  else of(typename E::parts{});
}

/// The numbers of the children of group `G`, which has number `N`.
template <class G, std::size_t N>
inline constexpr auto numbers_in = [] {
  std::array<std::size_t, G::about.child_count + 1> made{N + 1};
  for (std::size_t i = 0; i < G::about.child_count; ++i) made[i + 1] = made[i] + count_entries(*G::about.children[i]);
  return made;
}();

/// What can be done about an exchange.
template <class App>
struct exchange_verbs {
  using verb = void (holdings<App>::*)(std::span<request const>, memory, component_range);
  verb now, set_off, land;
};

/// An entry as data. What no entry of the schedule does is not named here, so it is not compiled.
template <class App, class Arguments>
struct node {
  entry const* about = nullptr;
  std::span<request const> asked = {};
  memory where = host;
  void (*prepare)(holdings<App>&, std::string_view) = nullptr; ///< of a device that is not at hand from the start
  void (*run)(holdings<App>&, std::span<request const>, component_range, Arguments const&) = nullptr;
  bool (*holds)(Arguments const&) = nullptr;
  exchange_verbs<App> exchange = {};
  void (*copy_back)(holdings<App>&, entry const&, component_range) = nullptr; ///< what is below it wrote
  node const* children = nullptr;
  std::size_t const *during = nullptr, *before = nullptr; ///< see `exchanges`
  void (*begin_copies)(holdings<App>&, component_range) = nullptr; ///< those that are certain behind it
};

} // namespace keel::residency::detail
