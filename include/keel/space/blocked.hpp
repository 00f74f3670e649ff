// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Kokkos kernels over blocks: one index of the kernel is one block of `keel::block`.

#include <keel/block/chunks.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace keel::space {

namespace detail {

/// Hands block `i` to the functor, the full ones with their length as a constant.
template <std::size_t Length, class Index, class F>
struct blocked {
  block::chunks<Length, Index> cut;
  F f;

  template <class... Update>
  KEEL_FUNCTION void visit(std::size_t i, Update&... update) const {
    if (i < cut.full_blocks())
      f(block::full_block<Index, Length>{cut.first_of(i)}, update...);
    else
      f(block::tail_block<Index>{cut.first_of(i), static_cast<Index>(cut.size_of(i))}, update...);
  }
};

template <std::size_t Length, class Index, class F>
struct blocked_for : blocked<Length, Index, F> {
  KEEL_FUNCTION void operator()(std::int64_t i) const { this->visit(static_cast<std::size_t>(i)); }
};

template <std::size_t Length, class Index, class F, class Value>
struct blocked_reduce : blocked<Length, Index, F> {
  KEEL_FUNCTION void operator()(std::int64_t i, Value& update) const {
    this->visit(static_cast<std::size_t>(i), update);
  }
};

/// What a result holds: a reducer's value, or the scalar itself.
template <class Result>
struct reduced_value {
  using type = std::remove_cvref_t<Result>;
};
template <class Result>
  requires requires { typename std::remove_cvref_t<Result>::reducer; }
struct reduced_value<Result> {
  using type = typename std::remove_cvref_t<Result>::value_type;
};

template <class Space>
using block_range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

} // namespace detail

/// Calls `f(block)` on `space` for every block of [begin, end); behind the caller where the space runs so.
///
/// `f` takes a `full_block` and a `tail_block`, and visits each index of it. In
/// code for a device it is a struct with a template operator(), because nvcc
/// refuses generic lambdas.
template <std::size_t Length, class Space, std::integral Index, class F>
  requires Kokkos::is_execution_space<Space>::value
void for_each_block(std::string const& label, Space const& space, Index begin, Index end, F f) {
  block::chunks<Length, Index> const cut(begin, end);
  Kokkos::parallel_for(label, detail::block_range<Space>(space, 0, static_cast<std::int64_t>(cut.size())),
                       detail::blocked_for<Length, Index, F>{{cut, std::move(f)}});
}

/// Calls `f(block, update)` for every block, and reduces into `result`: a scalar or a reducer of Kokkos.
template <std::size_t Length, class Space, std::integral Index, class F, class Result>
  requires Kokkos::is_execution_space<Space>::value
void reduce_blocks(std::string const& label, Space const& space, Index begin, Index end, F f, Result&& result) {
  using value = typename detail::reduced_value<Result>::type;
  block::chunks<Length, Index> const cut(begin, end);
  Kokkos::parallel_reduce(label, detail::block_range<Space>(space, 0, static_cast<std::int64_t>(cut.size())),
                          detail::blocked_reduce<Length, Index, F, value>{{cut, std::move(f)}},
                          std::forward<Result>(result));
}

} // namespace keel::space
