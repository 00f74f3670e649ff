// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Kokkos 3.4, as Debian 12 and Ubuntu 24.04 ship it with Trilinos, to 3.6; and what stood longer: the reduction of a
/// functor to 4.0, the record of an allocation to 4.2.

#include <keel/impl/space/plugin_events.hpp>
#include <keel/impl/space/device_thread.hpp>
#include <keel/impl/space/engine.hpp>
#include <keel/impl/space/late_exception.hpp>
#include <keel/space/allocations.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/memory.hpp>
#include <keel/space/settings.hpp>

#if KOKKOS_VERSION < 40300

// Kokkos' inner headers ask for it from 4 on; its own outer headers set and unset it the same way.
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#include <impl/Kokkos_SharedAlloc_timpl.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE
#if KOKKOS_VERSION < 30600 && !defined(__CUDACC__)
#include <Kokkos_DynamicView.hpp>
#endif

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

namespace keel::space::detail {

#if KOKKOS_VERSION < 40100
/// What a reduction or a scan is made of: the functor that accumulates, and what joins the parts.
template <class F, class Policy, class Reducer, class Pattern = Kokkos::Impl::FunctorPatternInterface::REDUCE>
class reduction; // below, or that of 3.7

/// The reduction of a scan, whose functor joins.
template <class F, class Policy, class>
struct scan_reduction : reduction<F, Policy, Kokkos::InvalidType, Kokkos::Impl::FunctorPatternInterface::SCAN> {
  explicit scan_reduction(F const& functor) : scan_reduction::reduction(functor, {}) {}
};
#endif

#if KOKKOS_VERSION < 30700

/// Bytes that Kokkos writes before the data of an allocation.
inline constexpr std::size_t bytes_ahead = sizeof(Kokkos::Impl::SharedAllocationHeader);

[[nodiscard]] inline settings settings_in(Kokkos::InitArguments const& given) {
  settings wanted;
  if (given.num_threads > 0) wanted.threads = given.num_threads * (given.num_numa > 0 ? given.num_numa : 1);
  if (given.num_numa > 0) wanted.numa_regions = given.num_numa;
  if (given.device_id >= 0) wanted.device_instance = given.device_id;
  return wanted;
}

/// What Kokkos calls at its start, end, fence and print.
class listener final : public Kokkos::Impl::ExecSpaceInitializerBase {
public:
  explicit listener(plugin_events& to) : to_(to) {}
  void initialize(Kokkos::InitArguments const& given) override { to_.initialize(settings_in(given)); }
  void finalize(bool) override {}
  void fence() override { to_.fence("Kokkos::fence"); }
#if KOKKOS_VERSION >= 30500
  void fence(std::string const& label) override { to_.fence(label); }
#endif
  void print_configuration(std::ostream& out, bool detail) override { to_.print_configuration(out, detail); }

private:
  plugin_events& to_;
};

inline void listen(std::string const& sorted_by, plugin_events& to) {
  Kokkos::Impl::ExecSpaceManager::get_instance().register_space_factory(sorted_by, std::make_unique<listener>(to));
}

/// `wanted` in the words of this Kokkos' command line: threads count per NUMA region there. Words, because
/// Kokkos lets the last one win, so that the user's own may follow.
inline std::vector<std::string> kokkos_words(settings const& wanted) {
  std::vector<std::string> words;
  int const regions = wanted.numa_regions.value_or(1);
  if (wanted.threads) words.push_back("--kokkos-threads=" + std::to_string(std::max(1, *wanted.threads / regions)));
  if (wanted.numa_regions) words.push_back("--kokkos-numa=" + std::to_string(regions));
  if (wanted.device_instance) words.push_back("--kokkos-device-id=" + std::to_string(*wanted.device_instance));
  return words;
}

/// This Kokkos starts again after it ended.
inline bool has_ended() { return false; }

template <class F, class Policy, class Reducer, class Pattern>
class reduction {
  using chosen = Kokkos::Impl::if_c<std::is_same_v<Kokkos::InvalidType, Reducer>, F, Reducer>;
  using joiner = typename chosen::type;
  using tag = std::conditional_t<std::is_same_v<Kokkos::InvalidType, Reducer>, typename Policy::work_tag, void>;
  using analysis = Kokkos::Impl::FunctorAnalysis<Pattern, Policy, F>;

public:
  reduction(F const& functor, Reducer const& reducer) : functor_(functor), reducer_(reducer) {}

  [[nodiscard]] F const& functor() const { return functor_; }
  [[nodiscard]] std::size_t size() const { return analysis::value_size(chosen::select(functor_, reducer_)); }
  decltype(auto) init(void* at) const {
    return Kokkos::Impl::FunctorValueInit<joiner, tag>::init(chosen::select(functor_, reducer_), at);
  }
  void join(void* into, void const* part) const {
    Kokkos::Impl::FunctorValueJoin<joiner, tag>::join(chosen::select(functor_, reducer_), into, part);
  }
  void final(void* at) const { Kokkos::Impl::FunctorFinal<joiner, tag>::final(chosen::select(functor_, reducer_), at); }

private:
  F functor_;
  Reducer reducer_;
};

#endif

#if KOKKOS_VERSION < 40000
/// The place in which a scan with total leaves it: Kokkos passes the scalar itself.
template <class T>
void* address_of_total(T& total) {
  return &total;
}
#endif

} // namespace keel::space::detail

namespace Kokkos::Impl {

/// The record of an allocation: Kokkos' header, the space that takes it back, and its place in keel's ledger.
template <class R>
class SharedAllocationRecord<keel::space::memory<R>, void>
    : public SharedAllocationRecordCommon<keel::space::memory<R>> {
  using space = keel::space::memory<R>;
  using common = SharedAllocationRecordCommon<space>;
  using base = SharedAllocationRecord<void, void>;
  friend common;

#ifdef KOKKOS_ENABLE_DEBUG
  static inline base s_root_record;
#endif
  space const m_space;
  keel::space::detail::ledger_entry const m_entry;

protected:
  ~SharedAllocationRecord() {
    m_space.deallocate(base::m_alloc_ptr->label(), base::m_alloc_ptr, base::m_alloc_size, base::size());
  }
  SharedAllocationRecord(space const& where, std::string const& label, std::size_t bytes,
                         typename base::function_type release = &common::deallocate)
      : common(
#ifdef KOKKOS_ENABLE_DEBUG
            &s_root_record,
#endif
            checked_allocation_with_header(where, label, bytes), sizeof(SharedAllocationHeader) + bytes, release
#if KOKKOS_VERSION >= 30600
            ,
            label
#endif
            ),
        m_space(where), m_entry({label, space::name(), bytes}) {
    this->_fill_host_accessible_header_info(*base::m_alloc_ptr, label);
  }
  /// An allocation, which waits for no kernel.
  template <class Execution>
  SharedAllocationRecord(Execution const&, space const& where, std::string const& label, std::size_t bytes,
                         typename base::function_type release = &common::deallocate)
      : SharedAllocationRecord(where, label, bytes, release) {}
};

/// Host code that touches a remote element aborts, unless this thread plays the device.
#if KOKKOS_VERSION < 30600
template <class R>
struct verify_space<HostSpace, keel::space::memory<R>, false> {
  KOKKOS_FUNCTION static void check() {
#ifdef KOKKOS_ACTIVE_EXECUTION_MEMORY_SPACE_HOST
    if (!keel::space::detail::plays_device)
      Kokkos::abort(
          "Kokkos::View ERROR: attempt to access inaccessible memory space (a keel::space memory, from the host)");
#endif
  }
};
} // namespace Kokkos::Impl

// Not for nvcc, which cannot order two specialisations by their constraints: there the element of its kernel aborts.
#ifndef __CUDACC__
/// Host code that touches a remote element of a `DynamicView` aborts: that class has a check of its own.
template <class Data, class... P>
template <class Active>
  requires std::is_same_v<Active, Kokkos::HostSpace>
struct Kokkos::Experimental::DynamicView<Data, P...>::verify_space<Active, false>
    : Kokkos::Impl::verify_space<Active, typename Kokkos::ViewTraits<Data, P...>::memory_space, false> {};
#endif

namespace Kokkos::Impl {
#elif KOKKOS_VERSION < 30700
template <class R>
struct RuntimeCheckMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckMemoryAccessViolation(char const* const message) {
    KOKKOS_IF_ON_HOST((if (!keel::space::detail::plays_device) Kokkos::abort(message);))
    KOKKOS_IF_ON_DEVICE((Kokkos::abort(message);))
  }
};
#endif

#if KOKKOS_VERSION < 40100
/// Functor and reducer come apart.
template <class F, class Policy, class Reducer, keel::space::detail::Engine Space>
class ParallelReduce<F, Policy, Reducer, Space> {
public:
  template <class View>
    requires(is_view<View>::value)
  ParallelReduce(F const& functor, Policy const& policy, View const& result)
      : closure_(policy, {functor, Reducer{}}, result) {}
  ParallelReduce(F const& functor, Policy const& policy, Reducer const& reducer)
      : closure_(policy, {functor, reducer}, reducer.view()) {}
  void execute() const {
    thrown_.run([&] { closure_.execute(); });
  }

private:
  keel::space::detail::reduce_closure<Policy, keel::space::detail::reduction<F, Policy, Reducer>> const closure_;
  keel::space::detail::late_exception<Policy> const thrown_;
};
#endif

} // namespace Kokkos::Impl

#endif
