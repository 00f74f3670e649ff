// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Sums, extremes and other reductions over the ranks of an environment.
///
/// | `x` | what happens |
/// |---|---|
/// | a value, a struct | the result is returned on every rank; a sum of integers, or of bool, has 64 bits |
/// | `std::array` | the same, element by element |
/// | `std::span` of what can be changed | element by element, in place; the same length on every rank; a sum of integers that does not fit their type is an error on every rank |
/// | what is `Staged` | the same in another memory: directly if MPI reaches it and has the operation, else through the host |
///
/// `sum(env, x, ordered)` has bits that do not depend on the number of ranks: of a value or an array as above, and of a
/// range (`std::span`, `std::vector`, of any length on each rank) the sum of all elements of all ranks. Everything here
/// is collective over the environment, and leaves `x` as it is on a non-member.

#include <keel/machine/collectives.hpp>
#include <keel/machine/exact.hpp>
#include <keel/machine/operations.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::machine {

/// An operation of two values that does not keep any of its own, so that MPI can call it. It has to be associative; it
/// is applied in the order of the ranks.
template <class Op, class T>
concept Operation = std::is_empty_v<Op> && std::default_initializable<Op> && requires(Op op, T const& a, T const& b) {
  { op(a, b) } -> std::convertible_to<T>;
};

/// Asks for bits that do not depend on the number of ranks.
struct ordered_t {};
inline constexpr ordered_t ordered;

namespace detail {
// Named, because nvcc 13 fails on a parameter of a requires-expression whose type names another one.
template <class X>
using element_of = std::remove_const_t<std::remove_pointer_t<decltype(std::declval<X const&>().data())>>;
} // namespace detail

/// Elements in a memory that the host does not reach: `data()` is there, and both copies have ended when they return.
template <class X>
concept Staged = requires(X const& x, detail::element_of<X>* host) {
  { x.size() } -> std::convertible_to<std::size_t>;
  x.copy_to_host(host);
  x.copy_from_host(host);
};

namespace detail {

/// The requirement of every reduction, as one sentence.
template <class Op, class T>
constexpr void check_operation() {
  static_assert(Operation<Op, T>,
                "keel::machine::all_reduce: the operation keeps values, or is not one of two elements (MPI calls it "
                "without them). Take a lambda without captures.");
}

/// Where a rank cannot throw because others do not.
template <class Op, class T>
constexpr void check_width() {
  static_assert(std::same_as<reduced<Op, T>, T>,
                "keel::machine: a sum of integers of less than 64 bits is to be left in them by a scan, or by what "
                "begins (it may not fit). Give integers of 64 bits, or values.");
}

/// A model that reduces by itself; else what all bring is folded by each.
template <class R, class T, class Op>
concept ReducesItself =
    requires(typename R::communicator const& c, T* x, std::size_t n) { R::template all_reduce<T, Op>(c, x, n); };

template <class R, class T, class Op>
void fold(basic_environment<R> const& env, T* x, std::size_t n, std::size_t first_rank, std::size_t end_rank) {
  std::vector<std::byte> all(n * sizeof(T) * std::size_t(env.size()));
  R::all_gather(env.communicator(), x, all.data(), n * sizeof(T));
  auto const* const from = reinterpret_cast<T const*>(all.data());
  for (std::size_t i = 0; i < n; ++i) {
    T result = from[first_rank * n + i];
    for (std::size_t r = first_rank + 1; r < end_rank; ++r) result = Op{}(result, from[r * n + i]);
    x[i] = result;
  }
}

/// Throws `keel::error` if one of these sums does not fit `T`, and then changes none.
template <class T, class Sum>
void narrow(std::vector<Sum> const& sums, T* x) {
  for (Sum const& one : sums)
    if (Sum(T(one)) != one)
      throw error("machine::sum", "a sum of integers is " + std::to_string(one),
                  "their type has " + std::to_string(8 * sizeof(T)) + " bits", "Give integers of 64 bits");
  for (std::size_t i = 0; i < sums.size(); ++i) x[i] = T(sums[i]);
}

template <class Op, class R, class T>
void all_reduce(basic_environment<R> const& env, T* x, std::size_t n) {
  check_operation<Op, T>();
  if (!env.is_member() || n == 0) return;
  if constexpr (!std::same_as<reduced<Op, T>, T>) {
    if (env.size() == 1) return;
    std::vector<reduced<Op, T>> sums(x, x + n);
    detail::all_reduce<Op>(env, sums.data(), n);
    narrow(sums, x);
  } else if constexpr (ReducesItself<R, T, Op>) R::template all_reduce<T, Op>(env.communicator(), x, n);
  else if (env.size() > 1) fold<R, T, Op>(env, x, n, 0, std::size_t(env.size())); // a lone rank needs no memory
}

template <class Op, class R, class T>
void scan(basic_environment<R> const& env, T* x, std::size_t n) {
  if (!env.is_member() || n == 0) return;
  if constexpr (requires { R::template scan<T, Op>(env.communicator(), x, n); })
    R::template scan<T, Op>(env.communicator(), x, n);
  else fold<R, T, Op>(env, x, n, 0, std::size_t(env.rank()) + 1);
}

/// Calls `f(data, n)` with the elements of `x`, and answers what the caller shall have of them.
template <class R, class X, class F>
auto in_place(basic_environment<R> const& env, X& x, bool is_reached, F const& f) {
  if constexpr (Staged<X>) {
    if (is_reached) return f(x.data(), x.size());
    std::vector<std::remove_pointer_t<decltype(x.data())>> host(env.is_member() ? x.size() : 0);
    if (host.empty()) return;
    x.copy_to_host(host.data());
    f(host.data(), host.size());
    x.copy_from_host(host.data());
  } else if constexpr (std::ranges::contiguous_range<X>) {
    f(std::ranges::data(x), std::ranges::size(x));
  } else {
    f(&x, std::size_t{1});
  }
}

/// What is returned; the others are changed in place.
template <class X>
concept Value = is_array<X> || (Sendable<X> && !std::ranges::range<X> && !Staged<X>);
/// What is changed in place.
template <class X>
concept Place =
    Staged<std::remove_cvref_t<X>> ||
    (!is_array<std::remove_cvref_t<X>> && std::ranges::contiguous_range<X> && std::ranges::borrowed_range<X> &&
     !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<X>>>);

} // namespace detail

/// The result of `op` over what all ranks bring.
template <CommunicatingRanks R, detail::Value X, class Op>
[[nodiscard]] reduced<Op, X> all_reduce(basic_environment<R> const& env, X const& x, Op) {
  reduced<Op, X> mine = to_reduced<Op>(x);
  detail::in_place(env, mine, false, [&]<class T>(T* data, std::size_t n) { detail::all_reduce<Op>(env, data, n); });
  return mine;
}
template <CommunicatingRanks R, detail::Place X, class Op>
void all_reduce(basic_environment<R> const& env, X&& x, Op) {
  bool is_reached = false;
  using T = std::remove_pointer_t<decltype(std::ranges::data(x))>;
  if constexpr (requires { R::template is_own_operation<T, Op>; })
    is_reached = R::template is_own_operation<T, Op> && std::same_as<reduced<Op, T>, T> && reaches_device_memory<R>();
  detail::in_place(env, x, is_reached, [&]<class T>(T* data, std::size_t n) { detail::all_reduce<Op>(env, data, n); });
}

template <CommunicatingRanks R, class X>
auto sum(basic_environment<R> const& env, X&& x) {
  return machine::all_reduce(env, std::forward<X>(x), std::plus<>{});
}
template <CommunicatingRanks R, class X>
auto min(basic_environment<R> const& env, X&& x) {
  return machine::all_reduce(env, std::forward<X>(x), minimum{});
}
template <CommunicatingRanks R, class X>
auto max(basic_environment<R> const& env, X&& x) {
  return machine::all_reduce(env, std::forward<X>(x), maximum{});
}

/// The result of `op` over the ranks up to this one.
template <CommunicatingRanks R, detail::Value X, class Op = std::plus<>>
[[nodiscard]] reduced<Op, X> scan(basic_environment<R> const& env, X const& x, Op = {}) {
  reduced<Op, X> mine = to_reduced<Op>(x);
  detail::in_place(env, mine, false, [&](auto* data, std::size_t n) { detail::scan<Op>(env, data, n); });
  return mine;
}
template <CommunicatingRanks R, detail::Place X, class Op = std::plus<>>
void scan(basic_environment<R> const& env, X&& x, Op = {}) {
  detail::in_place(env, x, false, [&]<class T>(T* data, std::size_t n) {
    detail::check_width<Op, T>();
    detail::scan<Op>(env, data, n);
  });
}

/// Whether one rank at least says so.
template <CommunicatingRanks R>
[[nodiscard]] bool any_of(basic_environment<R> const& env, bool mine) {
  return env.is_member() ? !all_of(env, !mine) : mine;
}

/// Exact sums, rounded once; of integers plain ones, which are exact.
template <CommunicatingRanks R, detail::Value X>
[[nodiscard]] reduced<std::plus<>, X> sum(basic_environment<R> const& env, X const& x, ordered_t) {
  if constexpr (std::integral<X> || !std::same_as<reduced<std::plus<>, X>, X>) {
    return machine::sum(env, x);
  } else if constexpr (detail::is_array<X>) {
    X result = x;
    std::array<exact_sum, std::tuple_size_v<X>> exact;
    for (std::size_t i = 0; i < exact.size(); ++i) exact[i] += double(x[i]);
    exact = machine::sum(env, exact);
    for (std::size_t i = 0; i < exact.size(); ++i) result[i] = static_cast<typename X::value_type>(exact[i].value());
    return result;
  } else {
    static_assert(std::same_as<X, double> || std::same_as<X, float>,
                  "keel::machine::sum: only sums of integers, float and double can be ordered");
    return static_cast<X>(machine::sum(env, exact_sum{double(x)}).value());
  }
}
template <CommunicatingRanks R, std::ranges::input_range X>
  requires(!detail::is_array<X>)
[[nodiscard]] auto sum(basic_environment<R> const& env, X const& all, ordered_t) {
  using T = std::ranges::range_value_t<X>;
  if constexpr (std::integral<T>) {
    reduced<std::plus<>, T> mine{};
    for (auto const& x : all) mine += reduced<std::plus<>, T>(x);
    return machine::sum(env, mine);
  } else {
    exact_sum mine;
    for (auto const& x : all) mine += double(x);
    return static_cast<T>(machine::sum(env, mine).value());
  }
}
/// What was accumulated, of all ranks.
template <CommunicatingRanks R>
[[nodiscard]] double sum(basic_environment<R> const& env, exact_sum const& mine, ordered_t) {
  return machine::sum(env, mine).value();
}

} // namespace keel::machine
