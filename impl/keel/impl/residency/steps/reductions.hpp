// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The values of reductions with their types: parts, how they travel, and what comes of them. Nothing of it is
/// instantiated without a `reduce`.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/schedule/invoke.hpp>
#include <keel/machine/pending.hpp>
#include <keel/policy/error.hpp>
#include <keel/schedule/reduce.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// What routine `R` returns of its rank.
template <class R>
struct part_of : std::type_identity<double> {};
template <class R>
  requires requires { typename R::value_type; }
struct part_of<R> : std::type_identity<typename R::value_type> {};

/// How parts become a value: `to_travel` goes from rank to rank, combined by `operation`.
template <class Operation>
struct combined {
  using operation = Operation;
  template <class Part>
  static auto to_travel(Part const& p) {
    return machine::to_reduced<Operation>(p);
  }
  template <class Part>
  static Part to_value(Part const& p) {
    return p;
  }
};
template <>
struct combined<machine::ordered_sum> {
  using operation = std::plus<>;
  template <class Part>
  static auto to_travel(Part const& p) {
    if constexpr (machine::detail::is_array<Part>)
      return std::apply([](auto const&... each) { return std::array{to_travel(each)...}; }, p);
    else if constexpr (std::floating_point<Part>) return machine::exact_sum{double(p)};
    else return machine::to_reduced<std::plus<>>(p); // exact by itself
  }
  template <class Part, class Travels>
  static auto to_value(Travels const& t) {
    if constexpr (machine::detail::is_array<Travels>)
      return std::apply([](auto const&... each) { return std::array{to_value<typename Part::value_type>(each)...}; },
                        t);
    else if constexpr (!std::is_same_v<Travels, machine::exact_sum>) return t;
    else if constexpr (std::is_same_v<Part, machine::exact_sum>) return t.value();
    else return Part(t.value());
  }
};

/// The value of reduction `E` in some fields.
template <class App, class E>
class reduction {
  using how = combined<typename E::operation>;

public:
  using part = typename part_of<typename E::routine_type>::type;
  static_assert(machine::detail::Value<part> || std::is_same_v<part, machine::exact_sum>,
                "keel::residency::reduce: what a routine returns cannot be sent to other ranks as its bytes (the "
                "routine is in the message). Return a number, a std::array of them, or a struct without pointers.");
  using operation = typename how::operation;
  using travels = std::remove_cvref_t<decltype(how::to_travel(std::declval<part const&>()))>;
  using environment = machine::basic_environment<typename App::ranks>;
  static constexpr bool combines = [] {
    if constexpr (machine::detail::is_array<travels>)
      return machine::Operation<operation, typename travels::value_type>;
    else return machine::Operation<operation, travels>;
  }();

  explicit reduction(std::shared_ptr<void const> const& of)
      : environment_(std::static_pointer_cast<environment const>(of)) {}

  void take(part const& p) { travels_ = how::to_travel(p); }
  /// One more part of this rank.
  void add(part const& p) {
    if constexpr (machine::detail::is_array<travels>)
      for (std::size_t i = 0; auto const& one : how::to_travel(p)) travels_[i] = operation{}(travels_[i], one), ++i;
    else travels_ = operation{}(travels_, how::to_travel(p));
  }
  static void begin(void* self) { static_cast<reduction*>(self)->begin(); }
  static void wait(void* self) { static_cast<reduction*>(self)->wait(); }
  [[nodiscard]] auto value() const { return value_; }

private:
  static auto value_of(travels const& t) {
    if constexpr (std::is_same_v<typename E::operation, machine::ordered_sum>) return how::template to_value<part>(t);
    else return how::to_value(t);
  }
  void begin() {
    if (environment_->size() > 1) request_.emplace(*environment_, travels_);
  }
  void wait() {
    if (request_) {
      travels_ = request_->wait();
      request_.reset();
    }
    value_ = value_of(travels_);
  }

  std::shared_ptr<environment const> environment_;
  travels travels_{};
  decltype(value_of(std::declval<travels const&>())) value_{};
  std::optional<machine::pending<typename App::ranks, travels, operation>> request_;
};

/// Throws if the environment of a run is not that of the policy.
inline void require_environment(fields_state const& of, std::string_view place, std::string_view name) {
  if (!of.environment_)
    throw error(std::string(place), std::string(name) + " cannot be made",
                "the environment of the run is not of the `ranks` of the policy", "Give both the same");
}
/// That of `E`, made when there is none yet. Its value counts as gone from here on.
template <class E, class App>
reduction<App, E>& renewed(fields_base<App>& base) {
  using type = reduction<App, E>;
  kept_value* kept = base.executor_.find_value(E::value);
  if (kept == nullptr) {
    require_environment(base, "residency::reduce", "reduction " + std::string(E::about.name));
    kept = &base.executor_.keep(std::unique_ptr<kept_value>(
        new kept_value{&E::value,
                       {new type(base.environment_), [](void* it) { delete static_cast<type*>(it); }},
                       &type::begin,
                       &type::wait}));
  }
  kept->finish();
  kept->is_there = false;
  return *static_cast<type*>(kept->held.get());
}

template <class R, bool IsPart>
consteval void require_part_returned() {
  static_assert(IsPart, "keel::residency::reduce: a routine's run returns another type than the parts of its reduction "
                        "have (double, or the routine's value_type; the routine is in the message). Return that, or "
                        "say `using value_type = ...;` in the routine.");
}

template <class E, bool Combines>
consteval void require_combined() {
  static_assert(Combines, "keel::residency::reduce: the operation of a reduction does not combine two parts, or keeps "
                          "values (the reduction is in the message; of arrays it combines number by number). Give an "
                          "empty type whose operator() takes two and returns one.");
}

/// Calls the routine of `E`, and keeps what it returns as this rank's part, or, of blocks, the first of several.
template <class App, class E, class V, class Arguments>
void keep_part(fields_base<App>& base, V const& v, Arguments const& args, bool is_first) {
  using R = typename E::routine_type;
  if constexpr (arguments_taken<R, V, Arguments>() < 0) {
    run_with<R>(v, args); // says what is wrong
  } else {
    using type = typename E::reduction_type;
    constexpr bool is_part = std::is_same_v<result_of<R, V, Arguments>, typename reduction<App, type>::part>;
    require_no_result<R, !R::about.in_pieces>();
    require_part_returned<R, is_part>();
    require_combined<type, reduction<App, type>::combines>();
    if constexpr (is_part && reduction<App, type>::combines) {
      if (is_first) renewed<type>(base).take(run_with<R>(v, args));
      else
        static_cast<reduction<App, type>*>(base.executor_.find_value(type::value)->held.get())
            ->add(run_with<R>(v, args));
    }
  }
}

template <class App>
template <class E>
auto fields_base<App>::value() const {
  return static_cast<reduction<App, E> const*>(executor_.value_of(E::value))->value();
}
template <class App, class... Es>
auto values_of(fields_base<App> const& base, keel::list<Es...>) {
  return std::tuple{base.template value<typename Es::reduction_type>()...};
}

/// Combines the values of an `all_reduce`, which are on the host: of the blocks of this rank, then of all ranks.
template <class App, class E>
void run_all_reduce(fields_state& fields, request const* asked, component_range range, bounds const*, void const*) {
  require_environment(fields, "residency::all_reduce", "a result");
  auto const& base = static_cast<fields_base<App> const&>(fields);
  using environment = machine::basic_environment<typename App::ranks>;
  auto const& ranks = *static_cast<environment const*>(base.environment_.get());
  auto const combine = [&]<class X>(std::type_identity<X>, request const& r) {
    using value = typename element_of<typename X::data_type>::type;
    using operation = typename E::operation;
    static_assert(machine::Operation<operation, value>,
                  "keel::residency::all_reduce: the operation does not combine two elements of a variable, or keeps "
                  "values (both are in the message). Give an empty type whose operator() takes two and returns one.");
    using tag = typename fields_base<App>::host_tag;
    using view = typename fields_base<App>::template array_type<typename X::data_type, memory_space_of<tag>>;
    auto const array = [&](int c) { return base.template array<view, tag>(r.variable, X::about.levels, r.level, c); };
    auto const at = [&](int c) { return array(c).data(); };
    std::size_t const elements = array(range.begin).span();
    component_range const all = range.of(base.arrays_.components());
    bool const has_blocks = base.arrays_.has_blocks();
    for (int c = all.begin + 1; c < all.end && has_blocks; ++c)
      for (std::size_t k = 0; k < elements; ++k) at(all.begin)[k] = operation{}(at(all.begin)[k], at(c)[k]);
    for (int c = all.begin; c < all.end; ++c) {
      if (c == all.begin || !has_blocks) machine::detail::all_reduce<operation>(ranks, at(c), elements);
      else std::copy_n(at(all.begin), elements, at(c));
    }
  };
  [&]<class... Xs>(keel::list<Xs...>) { (combine(std::type_identity<Xs>{}, *asked++), ...); }(typename E::parts{});
}
} // namespace keel::residency::detail
