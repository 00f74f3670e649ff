// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reductions that go on while the program computes.

#include <keel/machine/reductions.hpp>

#include <cstddef>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

namespace keel::machine {

/// A reduction of a value or an array that has begun; `wait()` returns the result. The destructor waits if `wait()` was
/// not called. It is not copied, and its environment outlives it.
template <CommunicatingRanks R, class X, class Op>
class pending {
  using result = reduced<Op, X>;

public:
  pending(basic_environment<R> const& env, X x) : x_(to_reduced<Op>(std::move(x))) {
    if (!env.is_member()) return;
    auto const begin = [&]<class T>(T* data, std::size_t n) {
      detail::check_operation<Op, T>();
      if constexpr (has_request) request_.emplace(env.communicator(), data, n);
      else detail::all_reduce<Op>(env, data, n);
    };
    if constexpr (std::ranges::range<result>) begin(std::ranges::data(x_), std::ranges::size(x_));
    else begin(&x_, std::size_t{1});
  }
  pending(pending const&) = delete;
  pending& operator=(pending const&) = delete;

  result wait() {
    if constexpr (has_request)
      if (request_) {
        request_->wait();
        request_.reset();
      }
    return x_;
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

} // namespace keel::machine
