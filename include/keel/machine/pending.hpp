// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reductions that go on while the program computes.

#include <keel/machine/reductions.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace keel::machine {

/// A reduction that has begun. `wait()` returns the result; for a span, whose elements MPI uses until then, it returns
/// nothing. The destructor waits if `wait()` was not called. It is not copied, and its environment outlives it.
template <CommunicatingRanks R, class X, class Op>
class pending {
  static constexpr bool is_range = std::ranges::range<X> && !detail::is_array<X>;
  using result = reduced<Op, X>;

public:
  pending(basic_environment<R> const& env, X x) : x_(to_reduced<Op>(std::move(x))) {
    if (!env.is_member()) return;
    auto const begin = [&]<class T>(T* data, std::size_t n) {
      detail::check_operation<Op, T>(), detail::check_width<Op, T>();
      if constexpr (has_request) request_.emplace(env.communicator(), data, n);
      else detail::all_reduce<Op>(env, data, n);
    };
    if constexpr (std::ranges::range<result>) begin(std::ranges::data(x_), std::ranges::size(x_));
    else begin(&x_, std::size_t{1});
  }
  pending(pending const&) = delete;
  pending& operator=(pending const&) = delete;

  auto wait() {
    if constexpr (has_request)
      if (request_) {
        request_->wait();
        request_.reset();
      }
    if constexpr (!is_range) return x_;
  }

private:
  struct nothing {};
  template <class Model, class T>
  static auto request_of() {
    if constexpr (requires { typename Model::template pending<T, Op>; })
      return std::optional<typename Model::template pending<T, Op>>{};
    else return nothing{};
  }
  template <class Y>
  struct element {
    using type = Y;
  };
  template <std::ranges::range Y>
  struct element<Y> {
    using type = std::remove_reference_t<std::ranges::range_reference_t<Y>>;
  };
  using request_type = decltype(request_of<R, typename element<result>::type>());
  static constexpr bool has_request = !std::is_same_v<request_type, nothing>;

  result x_;
  [[no_unique_address]] request_type request_ = {};
};

/// Begins the reduction of a value, an array or a span.
template <CommunicatingRanks R, class X, class Op>
[[nodiscard]] pending<R, X, Op> begin_all_reduce(basic_environment<R> const& env, X x, Op) {
  return {env, std::move(x)};
}
template <CommunicatingRanks R, class X>
[[nodiscard]] auto begin_sum(basic_environment<R> const& env, X x) {
  return pending<R, X, std::plus<>>{env, std::move(x)};
}
template <CommunicatingRanks R, class X>
[[nodiscard]] auto begin_min(basic_environment<R> const& env, X x) {
  return pending<R, X, minimum>{env, std::move(x)};
}
template <CommunicatingRanks R, class X>
[[nodiscard]] auto begin_max(basic_environment<R> const& env, X x) {
  return pending<R, X, maximum>{env, std::move(x)};
}

} // namespace keel::machine
