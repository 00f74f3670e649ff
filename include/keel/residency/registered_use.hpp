// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What code of the application does with variables of a registry.

#include <keel/impl/residency/registered.hpp>
#include <keel/impl/schedule/memories.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/validity/concepts.hpp>
#include <keel/validity/transitions.hpp>

#include <concepts>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency {

template <class App>
class registry;

/// A variable of a registry, its level and what of it is meant: all, if it does not say.
struct registered_variable {
  int number = -1, level = 0;
  region where = region::everywhere;

  /// So many levels back.
  [[nodiscard]] registered_variable past(int n) const { return {number, level + n, where}; }
  [[nodiscard]] registered_variable only(region one) const { return {number, level, one}; }
};

/// What a use reads; overwrites, all of it; or may change, which it reads before.
struct reading {
  std::vector<registered_variable> all;
  template <std::same_as<registered_variable>... Hs>
  explicit reading(Hs const&... h) : all{h...} {}
};
struct writing {
  std::vector<registered_variable> all;
  template <std::same_as<registered_variable>... Hs>
  explicit writing(Hs const&... h) : all{h...} {}
};
struct updating {
  std::vector<registered_variable> all;
  template <std::same_as<registered_variable>... Hs>
  explicit updating(Hs const&... h) : all{h...} {}
};

/// What code of the application does with some variables, from `use` to its end. An exception that leaves it makes what
/// it writes valid nowhere. Under
/// `checked` its end throws `keel::error` if an array has changed that it does not declare, unless another use, or a
/// call of the registry that names variables, came between.
template <class App, class Tag>
class registered_use {
public:
  registered_use(registered_use const&) = delete;
  registered_use& operator=(registered_use const&) = delete;
  ~registered_use() noexcept(false) { of_.known_.end(it_, std::uncaught_exceptions() > unwinding_); }

  /// Where its kernels go.
  [[nodiscard]] auto const& execution_space() const { return of_.template space_of<Tag>(); }
  /// A variable in the memory of the device: of elements that are not const if the use writes it. An array that has
  /// gaps, or whose last index is not the fastest where the policy's layout is LayoutRight, takes
  /// `view<double**, Kokkos::LayoutStride>`. Not to be kept beyond the use. Throws `keel::error` if the use does not
  /// declare it, or its type is another one.
  template <class Data, class Layout = typename App::layout>
  [[nodiscard]] auto view(registered_variable x) const {
    using view = Kokkos::View<Data, Layout, detail::memory_space_of<Tag>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    bool is_there = false, is_written = false;
    for (request const& r : it_.asked)
      if (r.variable == x.number && r.level == x.level) is_there = true, is_written = r.writes != region::none;
    constexpr bool writes = !std::is_const_v<typename view::value_type>;
    if (!is_there || (writes && !is_written)) of_.refuse_view(x, it_.name, is_there);
    return of_.template make_view<view>(x, it_.where);
  }

private:
  friend class registry<App>;
  registered_use(registry<App>& of, std::string_view name, memory m, std::vector<request> asked)
      : of_(of), it_{std::string(name), m, std::move(asked)} {
    of_.known_.begin(it_);
  }

  registry<App>& of_;
  detail::registered::use it_;
  int unwinding_ = std::uncaught_exceptions();
};

} // namespace keel::residency
