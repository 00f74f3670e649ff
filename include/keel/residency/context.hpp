// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a routine gets: views of what it declared, the space it runs in, and its share of the grid.

#include <keel/impl/residency/holdings.hpp>
#include <keel/residency/grid.hpp>
#include <keel/residency/routine.hpp>

#include <cstddef>
#include <type_traits>

namespace keel::residency {

namespace detail {

/// Where a level of a variable stands among the requests of an entry, -1 where it does not, and whether it is written.
struct finding {
  int at = -1;
  bool is_written = false;
};
[[nodiscard]] constexpr finding find_declared(entry const& e, variable_info const& v, int level) {
  finding found;
  int before = 0;
  for_each_access(e, [&, number = std::size_t{0}](access const& a) mutable {
    bool const is_meant = a.level == level && *a.variable == v;
    if (is_meant && found.at < 0) found.at = before;
    found.is_written = found.is_written || (is_meant && does_write(a.how));
    bool is_new = true;
    for_each_access(e, [&, other = std::size_t{0}](access const& b) mutable {
      if (other++ < number) is_new = is_new && (a.level != b.level || *a.variable != *b.variable);
    });
    before += int(is_new);
    ++number;
  });
  return found;
}

/// What the context of every routine has.
template <class App>
class surroundings {
public:
  surroundings(holdings<App> const& h, request const* declared, component_range which)
      : held(h), asked(declared), first(which.begin), last(which.end) {}

  [[nodiscard]] bounds owned() const { return local().owned(); }
  [[nodiscard]] bounds core() const { return local().core(); }
  [[nodiscard]] bounds everywhere() const { return local().everywhere(); }
  [[nodiscard]] share const& local(component which) const { return held.local(which); }
  [[nodiscard]] indices global_begin() const { return local().global_begin; }
  [[nodiscard]] indices global_extents() const { return local().global_extents; }
  [[nodiscard]] bool is_wall(int d, side s) const { return local().is_wall(d, s); }
  [[nodiscard]] share const& local() const { return held.local(component{first}); }
  [[nodiscard]] int components() const { return held.components(); }

protected:
  holdings<App> const& held;
  request const* asked; ///< what the routine declares, in order, with the numbers of the variables
  int first, last;      ///< components that it runs for
};

} // namespace detail

/// Whether `R` declares that level of that variable.
template <class R, class X>
inline constexpr bool declares =
    residency::declared(R::about, &detail::item<X>::variable::about, detail::item<X>::level).where != region::none;

/// The `v` of `static void run(V v, …)`. Host only, and cheap to copy; views are taken out of it
/// before a kernel. Lives as long as the call.
///
/// | | |
/// |---|---|
/// | `v(eta{})`, `v(past<eta, 1>{})` | a view in the memory of `v.execution_space()`; of const elements where it is only read |
/// | `v(eta{}, component{i})` | that of another component; refused in a routine that was run for one alone |
/// | `v.execution_space()`, `V::space` | where kernels run |
/// | `v.owned()`, `v.core()`, `v.everywhere()` | local bounds: `begin`, `end` |
/// | `v.global_begin()`, `v.global_extents()` | where the first owned cell lies in the grid, and how large that is |
/// | `v.local(component{i})` | the same of another component, where they differ in size |
/// | `v.is_wall(d, side::low)` | whether the grid ends there: those ghosts have no neighbour |
///
/// `Directory` is there for an `output`, which may ask for any variable of the fields.
template <class App, class R, class Tag, class Directory = void>
struct context : detail::surroundings<App> {
  using space = detail::space_of<Tag>;

  template <Part X>
  [[nodiscard]] auto operator()(X) const {
    using item = detail::item<X>;
    using variable = typename item::variable;
    using data = typename variable::data_type;
    constexpr int level = item::level, levels = variable::about.levels;
    if constexpr (R::about.what == entry_kind::output) {
      constexpr int number = Directory::find(&variable::about);
      static_assert(number >= 0, "keel::residency: an output asks for a variable that these fields do not have (see the "
                                 "types in the message). Add it to fields<App, ...>?");
      this->held.require_copied_back(number, level, this->first, R::about.name);
      return this->held.template const_array<data, Tag>(number, levels, level, this->first);
    } else {
      constexpr detail::finding found = detail::find_declared(R::about, variable::about, level);
      if constexpr (found.at < 0)
        static_assert(declares<R, X>, "keel::residency: a routine reaches a variable, or a level, that it does not declare "
                                      "(the rest is not passed). Add it to its reads, writes or updates?");
      else if constexpr (found.is_written)
        return this->held.template array<data, Tag>(this->asked[found.at].variable, levels, level, this->first);
      else
        return this->held.template const_array<data, Tag>(this->asked[found.at].variable, levels, level, this->first);
    }
  }
  template <Part X>
  [[nodiscard]] auto operator()(X part, component which) const {
    this->held.check(which, {this->first, this->last}, R::about.name);
    return context{{this->held, this->asked, {which.index, which.index + 1}}}(part);
  }

  [[nodiscard]] space const& execution_space() const { return this->held.template instance<Tag>(); }
};

} // namespace keel::residency
