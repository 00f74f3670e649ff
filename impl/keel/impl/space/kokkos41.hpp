// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a reduction and a scan are made of since Kokkos 4.1: functor and reducer in one.

#include <keel/impl/space/engine.hpp>
#include <keel/impl/space/late_exception.hpp>
#include <keel/space/kokkos.hpp>

#if KOKKOS_VERSION >= 40100

#include <cstddef>

namespace keel::space::detail {

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

} // namespace keel::space::detail

namespace Kokkos::Impl {

template <class Combined, class Policy, keel::space::detail::Engine Space>
class ParallelReduce<Combined, Policy, Space> {
  using reduction = keel::space::detail::reduction<Combined>;

public:
  template <class View>
  ParallelReduce(Combined const& combined, Policy const& policy, View const& result)
      : closure_(policy, reduction(combined), result) {}
  void execute() const {
    thrown_.run([&] { closure_.execute(); });
  }

private:
  keel::space::detail::reduce_closure<Policy, reduction> const closure_;
  keel::space::detail::late_exception<Policy> const thrown_;
};

} // namespace Kokkos::Impl

#endif
