// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a routine gets: views of what it declared, the space it runs in, and its share of the grid.

#include <keel/impl/residency/bounded_view.hpp>
#include <keel/impl/residency/faults.hpp>
#include <keel/impl/residency/fields_base.hpp>
#include <keel/layout/grid.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/schedule/graph.hpp>
#include <keel/schedule/reduce.hpp>
#include <keel/schedule/routine.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace keel::residency {

namespace detail {

inline constexpr int any_level = -1;
/// Where a level of a variable stands among the declarations of an entry; their number if it is not there.
[[nodiscard]] constexpr std::size_t place_in(entry const& e, variable_info const& v, int level) {
  std::size_t at = 0;
  while (at < e.declaration_count && ((level != any_level && e.first[at].level != level) || *e.first[at].variable != v))
    ++at;
  return at;
}

/// What the context of every routine has.
template <class App>
class context_base {
public:
  context_base(fields_base<App> const& b, request const* declared, component_range which, bounds const* part = nullptr)
      : base(b), asked(declared), piece(part), first(which.begin), last(which.end) {}

  [[nodiscard]] bounds owned() const { return piece != nullptr ? *piece : local().owned(); }
  [[nodiscard]] bounds core() const { return local().core(); }
  [[nodiscard]] bounds everywhere() const { return local().everywhere(); }
  [[nodiscard]] share const& local(component which) const { return base.arrays_.local(counted(which)); }
  [[nodiscard]] indices global_begin() const { return local().global_begin; }
  [[nodiscard]] indices global_extents() const { return local().global_extents; }
  [[nodiscard]] bool is_wall(int d, side s) const { return local().is_wall(d, s); }
  [[nodiscard]] share const& local() const { return base.arrays_.local(component{first}); }
  [[nodiscard]] int components() const { return base.arrays_.has_blocks() ? 1 : base.arrays_.components(); }

protected:
  friend struct reduction_memory;
  /// A routine that is called for a block knows only this, as component 0.
  [[nodiscard]] component counted(component which) const {
    return {which.index + (base.arrays_.has_blocks() ? first : 0)};
  }
  [[nodiscard]] share const& local_of(int variable) const { return base.arrays_.local(component{first}, variable); }
  [[nodiscard]] bounds owned_of(int variable) const {
    return base.arrays_.owned_in(owned(), component{first}, variable);
  }

  /// A level of a variable as `Result`; the same function for all routines.
  template <class View, class Result, class Tag>
  [[nodiscard]] Result view(int variable, int levels, int level) const {
    return base.template array<View, Tag>(variable, levels, level, first);
  }

  fields_base<App> const& base;
  request const* asked; ///< what the routine declares, in order, with the numbers of the variables
  bounds const* piece;  ///< the owned cells that it is called for, if not all
  int first, last;      ///< components that it runs for
};

} // namespace detail

/// Whether `R` declares that level of that variable.
template <class R, class X>
inline constexpr bool declares =
    detail::place_in(R::about, detail::item<X>::variable::about, detail::item<X>::level) < R::about.declaration_count;

namespace detail {
/// Stops the compiler if it does not; once, whatever device the routine is compiled for.
template <class R, class X>
consteval bool require_declared() {
  static_assert(declares<R, X>, "keel::residency: a routine reaches a variable, or a level, that it does not declare "
                                "(the rest is not passed). Add it to its reads, writes or updates.");
  return declares<R, X>;
}
template <class R, class X>
inline constexpr bool declares_value = R::about.what == entry_kind::output || R::about.reads_value(&X::value);
template <class R, class X>
consteval void require_value_declared() {
  static_assert(declares_value<R, X>,
                "keel::residency: a routine asks for the value of a reduction, or an argument, that it does not "
                "declare (the rest is not passed). Add it to its reads.");
}

/// `Named` is `int R::*` for the routine `R`: nvcc writes the name of a class whose members have kernels into
/// namespaces of Kokkos without `::`, where a routine called `begin` or `initialize` is a function, unless it is that
/// of such a pointer.
template <class App, class Named, class Tag, class Index, bool IsBounded>
struct context_of;
} // namespace detail

/// The `v` of `static void run(V v, …)`. Host only, and cheap to copy; views are taken out of it
/// before a kernel. Lives as long as the call.
///
/// | | |
/// |---|---|
/// | `v(eta{})`, `v(past<eta, 1>{})` | a view in the memory of `v.execution_space()`; of const elements if it is only read |
/// | `v(dt{})` | the value of a reduction; of an argument a view without dimensions, in that memory |
/// | `v(eta{}, component{i})` | that of another component; refused in a routine that was run for only one |
/// | `v.execution_space()`, `V::space` | where kernels run |
/// | `v.owned()`, `v.core()`, `v.everywhere()` | local bounds: `begin`, `end`; `owned` is the piece in a routine `in_pieces` |
/// | `v.owned(x{})`, `v.everywhere(x{})`, `v.local(x{})` | the same of a variable that lies on the grid in its own way: at vertices, along a dimension, with ghosts of its own |
/// | `v.owned(cells{})`, `v.ghosts(cells{})`, `v.layer(cells{}, 1)` | local ranges of the elements of a mesh |
/// | `v.global_begin()`, `v.global_extents()` | where the first owned cell lies in the grid, and how large that is |
/// | `v.local(component{i})` | the same of another component, if they differ in size |
/// | `v.is_wall(d, side::low)` | whether the grid ends there: those ghosts have no neighbour |
///
/// On a grid in blocks all this is about the block that the routine is called for, which is its component 0.
///
/// `Index` is there for an `output`, which may ask for any variable of the fields. In a run that is checked,
/// `IsBounded`, views refuse elements that are not declared.
template <class App, class R, class Tag, class Index = void, bool IsBounded = false>
using context = detail::context_of<App, int R::*, Tag, Index, IsBounded>;

template <class App, class R, class Tag, class Index, bool IsBounded>
struct detail::context_of<App, int R::*, Tag, Index, IsBounded> : detail::context_base<App> {
  using space = detail::space_of<Tag>;
  using layout = typename App::layout;
  static constexpr std::string_view name = R::about.name;
  static constexpr bool is_on_accelerator = policy::is_accelerator<Tag>;

  template <Part X>
  [[nodiscard]] auto operator()(X) const {
    using item = detail::item<X>;
    using variable = typename item::variable;
    using array = typename detail::fields_base<App>::template array_type<typename variable::data_type,
                                                                         detail::memory_space_of<Tag>>;
    using const_array = typename array::const_type;
    constexpr int level = item::level, levels = variable::about.levels;
    if constexpr (R::about.what == entry_kind::output) {
      constexpr int number = Index::find(&variable::about);
      static_assert(number >= 0,
                    "keel::residency: an output asks for a variable that these fields do not have (see the "
                    "types in the message). Add it to fields<App, ...>.");
      static_assert(!variable::about.is_scratch,
                    "keel::residency: an output asks for a scratch (it is never copied to the host; it is in the "
                    "message). Make it a variable.");
      this->base.book_.require_copied_back(number, level, this->first, R::about.name);
      return this->template view<array, const_array, Tag>(number, levels, level);
    } else {
      constexpr std::size_t at = detail::place_in(R::about, variable::about, level);
      if constexpr (!detail::require_declared<R, X>()) return array{}; // so that no other error follows
      else {
        using given = std::conditional_t<R::about.first[at].writes != region::none, array, const_array>;
        auto const all = this->template view<array, given, Tag>(this->asked[at].variable, levels, level);
        if constexpr (IsBounded)
          return detail::bounded_view<given>(all, this->base.executor_.limit(this->asked[at], this->first));
        else return all;
      }
    }
  }
  /// The owned bounds of a variable that lies on the grid in its own way.
  template <Part X>
  [[nodiscard]] bounds owned(X) const {
    return this->owned_of(number<X>());
  }
  template <Part X>
  [[nodiscard]] bounds everywhere(X) const {
    share const& s = this->local_of(number<X>());
    return detail::item<X>::layers == all_layers ? s.everywhere() : s.within(detail::item<X>::layers);
  }
  template <Part X>
  [[nodiscard]] share const& local(X) const {
    return this->local_of(number<X>());
  }
  template <Part X>
  [[nodiscard]] share const& local(X, component which) const {
    return this->base.arrays_.local(this->counted(which), number<X>());
  }
  /// Local indices of elements of a mesh: those that this rank owns, all ghosts, a layer of them, counted from 1.
  template <Mesh M>
  [[nodiscard]] element_range owned(M) const {
    return this->base.arrays_.owned_of(M::name);
  }
  template <Mesh M>
  [[nodiscard]] element_range ghosts(M) const {
    return this->base.arrays_.ghosts_of(M::name);
  }
  template <Mesh M>
  [[nodiscard]] element_range layer(M, int n) const {
    return this->base.arrays_.layer_of(M::name, n);
  }
  using detail::context_base<App>::owned;
  using detail::context_base<App>::everywhere;
  using detail::context_base<App>::local;

  template <Part X>
  [[nodiscard]] auto operator()(X part, component which) const {
    which = this->counted(which);
    this->base.arrays_.require_component(which, {this->first, this->last}, R::about.name);
    return context_of{{this->base, this->asked, {which.index, which.index + 1}}}(part);
  }
  template <Reduction X> // nvcc cannot deduce reduce<Name, ...> with its text
  [[nodiscard]] auto operator()(X) const {
    using value = typename X::reduction_type;
    detail::require_value_declared<R, value>(); // once, not for each device
    return this->base.template value<value>();
  }

  template <Argument X>
  [[nodiscard]] auto operator()(X) const {
    using argument = typename X::argument_type;
    detail::require_value_declared<R, argument>();
    return this->base.template argument_in<argument, Tag>();
  }

  [[nodiscard]] space const& execution_space() const {
    if constexpr (is_on_accelerator) detail::faults::routine = name;
    return this->base.template instance<Tag>();
  }

private:
  /// The number of a variable that the routine declares.
  template <class X>
  [[nodiscard]] int number() const {
    using variable = typename detail::item<X>::variable;
    if constexpr (R::about.what == entry_kind::output) return Index::find(&variable::about);
    else {
      constexpr std::size_t at = detail::place_in(R::about, variable::about, detail::any_level);
      if constexpr (at < R::about.declaration_count) return this->asked[at].variable;
      else return detail::require_declared<R, X>() ? 0 : 0;
    }
  }
};

} // namespace keel::residency
