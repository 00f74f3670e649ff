// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What reductions and scans are made of: to Kokkos 4.0 functor and reducer come apart, from 4.1 on in one.

#include <keel/impl/space/engine.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <type_traits>

namespace keel::space::detail {

#if KOKKOS_VERSION < 40100

/// What a reduction or a scan is made of: the functor that accumulates, and what joins the parts.
template <class F, class Policy, class Reducer, class Pattern = Kokkos::Impl::FunctorPatternInterface::REDUCE>
class reduction {
  using chosen = Kokkos::Impl::if_c<std::is_same_v<Kokkos::InvalidType, Reducer>, F, Reducer>;
#if KOKKOS_VERSION < 30700
  using joiner = typename chosen::type;
  using tag = std::conditional_t<std::is_same_v<Kokkos::InvalidType, Reducer>, typename Policy::work_tag, void>;
  using analysis = Kokkos::Impl::FunctorAnalysis<Pattern, Policy, F>;
#else
  using analysis = Kokkos::Impl::FunctorAnalysis<Pattern, Policy, typename chosen::type>;
  using pointer = typename analysis::pointer_type;
#endif

public:
  reduction(F const& functor, Reducer const& reducer) : functor_(functor), reducer_(reducer) {}

  [[nodiscard]] F const& functor() const { return functor_; }
  [[nodiscard]] std::size_t size() const { return analysis::value_size(chosen::select(functor_, reducer_)); }
#if KOKKOS_VERSION < 30700
  decltype(auto) init(void* at) const {
    return Kokkos::Impl::FunctorValueInit<joiner, tag>::init(chosen::select(functor_, reducer_), at);
  }
  void join(void* into, void const* part) const {
    Kokkos::Impl::FunctorValueJoin<joiner, tag>::join(chosen::select(functor_, reducer_), into, part);
  }
  void final(void* at) const { Kokkos::Impl::FunctorFinal<joiner, tag>::final(chosen::select(functor_, reducer_), at); }
#else
  decltype(auto) init(void* at) const { return joiner().init(static_cast<pointer>(at)); }
  void join(void* into, void* part) const { joiner().join(static_cast<pointer>(into), static_cast<pointer>(part)); }
  void final(void* at) const { joiner().final(static_cast<pointer>(at)); }
#endif

private:
#if KOKKOS_VERSION >= 30700
  auto joiner() const { return typename analysis::Reducer(&chosen::select(functor_, reducer_)); }
#endif
  F functor_;
  Reducer reducer_;
};

/// The reduction of a scan, whose functor joins.
template <class F, class Policy, class>
struct scan_reduction : reduction<F, Policy, Kokkos::InvalidType, Kokkos::Impl::FunctorPatternInterface::SCAN> {
  explicit scan_reduction(F const& functor) : scan_reduction::reduction(functor, {}) {}
};

#else

/// What a reduction is made of: the functor that accumulates, and what joins the parts.
template <class Combined>
class reduction {
  using reducer = typename Combined::reducer_type;
  using pointer = typename reducer::pointer_type;

public:
  explicit reduction(Combined const& combined) : combined_(combined) {}

  [[nodiscard]] auto const& functor() const { return combined_.get_functor(); }
  [[nodiscard]] std::size_t size() const { return combined_.get_reducer().value_size(); }
  decltype(auto) init(void* at) const { return combined_.get_reducer().init(static_cast<pointer>(at)); }
  void join(void* into, void* part) const {
    combined_.get_reducer().join(static_cast<pointer>(into), static_cast<pointer>(part));
  }
  void final(void* at) const { combined_.get_reducer().final(static_cast<pointer>(at)); }

private:
  Combined combined_;
};

/// The reduction of a scan, whose functor joins.
template <class F, class Policy, class Total>
class scan_reduction : public reduction<Kokkos::Impl::CombinedFunctorReducer<
                           F, typename Kokkos::Impl::FunctorAnalysis<Kokkos::Impl::FunctorPatternInterface::SCAN,
                                                                     Policy, F, Total>::Reducer>> {
  using analysis = Kokkos::Impl::FunctorAnalysis<Kokkos::Impl::FunctorPatternInterface::SCAN, Policy, F, Total>;
  using combined = Kokkos::Impl::CombinedFunctorReducer<F, typename analysis::Reducer>;

public:
  explicit scan_reduction(F const& functor)
      : reduction<combined>(combined(functor, typename analysis::Reducer(functor))) {}
};

#endif

/// The place in which a scan with total leaves it: Kokkos passes a view of the scalar, before 4 the scalar itself.
template <class Total>
void* address_of_total(Total& total) {
  if constexpr (Kokkos::is_view<Total>::value) return total.data();
  else return &total;
}

} // namespace keel::space::detail

namespace Kokkos::Impl {

#if KOKKOS_VERSION < 40100
template <class F, class Policy, class Reducer, keel::space::detail::Engine Space>
class ParallelReduce<F, Policy, Reducer, Space> {
public:
  template <class View>
    requires(is_view<View>::value)
  ParallelReduce(F const& functor, Policy const& policy, View const& result)
      : closure_(policy, {functor, Reducer{}}, result) {}
  ParallelReduce(F const& functor, Policy const& policy, Reducer const& reducer)
      : closure_(policy, {functor, reducer}, reducer.view()) {}
  void execute() const { closure_.execute(); }

private:
  keel::space::detail::reduce_closure<Policy, keel::space::detail::reduction<F, Policy, Reducer>> const closure_;
};
#else
template <class Combined, class Policy, keel::space::detail::Engine Space>
class ParallelReduce<Combined, Policy, Space> {
  using reduction = keel::space::detail::reduction<Combined>;

public:
  template <class View>
  ParallelReduce(Combined const& combined, Policy const& policy, View const& result)
      : closure_(policy, reduction(combined), result) {}
  void execute() const { closure_.execute(); }

private:
  keel::space::detail::reduce_closure<Policy, reduction> const closure_;
};
#endif

} // namespace Kokkos::Impl
