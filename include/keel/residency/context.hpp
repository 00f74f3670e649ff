// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a routine gets: views of what it declared, the space it runs in, and its share of the grid.

#include <keel/residency/grid.hpp>
#include <keel/residency/routine.hpp>

#include <type_traits>

namespace keel::residency {

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
/// | `v(eta{}, component{i})` | that of another component |
/// | `v.execution_space()`, `V::space` | where kernels run |
/// | `v.owned()`, `v.core()`, `v.everywhere()` | local bounds: `begin`, `end` |
/// | `v.global_begin()`, `v.global_extents()` | where the first owned cell lies in the grid, and how large that is |
/// | `v.local(component{i})` | the same of another component, where they differ in size |
/// | `v.is_wall(d, side::low)` | whether the grid ends there: those ghosts have no neighbour |
template <class Fields, class R, class Tag>
class context {
public:
  using space = typename Fields::template space<Tag>;

  context(Fields& f, int first_component) : fields_(&f), first_(first_component) {}

  template <Part X>
  [[nodiscard]] auto operator()(X) const {
    return view<X>(first_);
  }
  template <Part X>
  [[nodiscard]] auto operator()(X, component which) const {
    fields_->check(which, R::about.name);
    return view<X>(which.index);
  }

  [[nodiscard]] space const& execution_space() const { return fields_->template instance<Tag>(); }

  [[nodiscard]] bounds owned() const { return local().owned(); }
  [[nodiscard]] bounds core() const { return local().core(); }
  [[nodiscard]] bounds everywhere() const { return local().everywhere(); }
  [[nodiscard]] share const& local(component which) const { return fields_->local(which); }
  [[nodiscard]] indices global_begin() const { return local().global_begin; }
  [[nodiscard]] indices global_extents() const { return local().global_extents; }
  [[nodiscard]] bool is_wall(int d, side s) const { return local().is_wall(d, s); }
  [[nodiscard]] share const& local() const { return fields_->local(component{first_}); }
  [[nodiscard]] int components() const { return fields_->components(); }

private:
  template <class X>
  [[nodiscard]] auto view(int which) const {
    if constexpr (R::about.what == entry_kind::output) {
      using item = detail::item<X>;
      constexpr int number = Fields::template number<typename item::variable>;
      static_assert(number >= 0, "keel::residency: an output asks for a variable that these fields do not have (see the "
                                 "types in the message). Add it to fields<App, ...>?");
      fields_->require_copied_back(number, item::level, which, R::about.name);
      auto const whole = fields_->template view<typename item::variable, Tag>(item::level, which);
      return typename std::remove_const_t<decltype(whole)>::const_type(whole);
    } else {
      return declared_view<X>(which);
    }
  }
  template <class X>
  [[nodiscard]] auto declared_view(int which) const {
    static_assert(declares<R, X>, "keel::residency: a routine reaches a variable, or a level, that it does not declare "
                                  "(the rest is not passed). Add it to its reads, writes or updates?");
    using item = detail::item<X>;
    auto const whole = fields_->template view<typename item::variable, Tag>(item::level, which);
    using whole_type = std::remove_const_t<decltype(whole)>;
    if constexpr (does_write(residency::declared(R::about, &item::variable::about, item::level).how))
      return whole_type(whole);
    else
      return typename whole_type::const_type(whole);
  }

  Fields* fields_;
  int first_;
};

} // namespace keel::residency
