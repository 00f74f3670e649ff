// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Kokkos 4.5 to 5; seen with 4.6 and 5.2.

#include <keel/impl/space/device_thread.hpp>
#include <keel/impl/space/engine.hpp>
#include <keel/space/allocations.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/memory.hpp>
#include <keel/space/settings.hpp>

#if KOKKOS_VERSION >= 40000

// Kokkos' inner headers ask for it; its own outer headers set and unset it the same way.
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#include <impl/Kokkos_ExecSpaceManager.hpp>
#include <impl/Kokkos_SharedAlloc_timpl.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

namespace keel::space::detail {

/// Bytes that Kokkos writes before the data of an allocation.
inline constexpr std::size_t bytes_ahead = sizeof(Kokkos::Impl::SharedAllocationHeader);

/// What Kokkos calls at its start, end, fence and print; `Events` is a type with these as static functions.
template <class Events>
class listener final : public Kokkos::Impl::ExecSpaceBase {
public:
  void initialize(Kokkos::InitializationSettings const& given) override {
    settings wanted;
    if (given.has_num_threads()) wanted.threads = given.get_num_threads();
    if (given.has_device_id()) wanted.device_instance = given.get_device_id();
    Events::initialize(wanted);
  }
  void finalize() override {}
  void static_fence(std::string const& label) override { Events::fence(label); }
  void print_configuration(std::ostream& out, bool detail) override { Events::print_configuration(out, detail); }
};

template <class Events>
void listen(std::string const& sorted_by) {
  Kokkos::Impl::ExecSpaceManager::get_instance().register_space_factory(sorted_by, std::make_unique<listener<Events>>());
}

/// `wanted` in the words of this Kokkos' command line, which knows neither NUMA regions nor a number of devices.
inline std::vector<std::string> kokkos_words(settings const& wanted) {
  std::vector<std::string> words;
  if (wanted.threads) words.push_back("--kokkos-num-threads=" + std::to_string(*wanted.threads));
  if (wanted.device_instance) words.push_back("--kokkos-device-id=" + std::to_string(*wanted.device_instance));
  return words;
}

/// This Kokkos starts once in a process.
inline bool has_ended() { return Kokkos::is_finalized(); }

/// What a reduction is made of: the functor that accumulates, and who joins the parts.
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

/// The same for a scan, whose functor joins.
template <class F, class Policy, class Total>
class scan_reduction
    : public reduction<Kokkos::Impl::CombinedFunctorReducer<
          F, typename Kokkos::Impl::FunctorAnalysis<Kokkos::Impl::FunctorPatternInterface::SCAN, Policy, F,
                                                    Total>::Reducer>> {
  using analysis =
      Kokkos::Impl::FunctorAnalysis<Kokkos::Impl::FunctorPatternInterface::SCAN, Policy, F, Total>;
  using combined = Kokkos::Impl::CombinedFunctorReducer<F, typename analysis::Reducer>;

public:
  explicit scan_reduction(F const& functor)
      : reduction<combined>(combined(functor, typename analysis::Reducer(functor))) {}
};

/// Aborts with the view's label, unless this thread plays the device.
inline void refuse_host(Kokkos::Impl::SharedAllocationTracker const& tracker) {
  if (plays_device) return;
  std::string const label = tracker.has_record() ? tracker.template get_label<void>() : "**UNMANAGED**";
  Kokkos::abort(("Kokkos::View ERROR: attempt to access inaccessible memory space (label=\"" + label + "\")").c_str());
}

/// Where a scan with total leaves it: Kokkos passes a view of the scalar.
template <class View>
void* address_of_total(View const& total) {
  return total.data();
}

} // namespace keel::space::detail

namespace Kokkos::Impl {

/// The record of an allocation: Kokkos' own, and its place in keel's ledger.
template <class R>
class SharedAllocationRecord<keel::space::memory<R>, void>
    : public SharedAllocationRecordCommon<keel::space::memory<R>> {
  using space = keel::space::memory<R>;
  using common = SharedAllocationRecordCommon<space>;
  using base = SharedAllocationRecord<void, void>;
  friend common;

  keel::space::detail::ledger_entry const m_entry;

protected:
  template <class Execution>
  SharedAllocationRecord(Execution const& execution, space const& where, std::string const& label, std::size_t bytes,
                         typename base::function_type release = &common::deallocate)
      : common(execution, where, label, bytes, release), m_entry({label, space::name(), bytes}) {}
  SharedAllocationRecord(space const& where, std::string const& label, std::size_t bytes,
                         typename base::function_type release = &common::deallocate)
      : common(where, label, bytes, release), m_entry({label, space::name(), bytes}) {}
};

/// Host code that touches a remote element aborts, unless this thread plays the device.
template <class R>
struct RuntimeCheckMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckMemoryAccessViolation(char const* const message) {
    KOKKOS_IF_ON_HOST((if (!keel::space::detail::plays_device) Kokkos::abort(message);))
    KOKKOS_IF_ON_DEVICE((Kokkos::abort(message);))
  }
};

/// The same, with the label of the view.
template <class R>
struct RuntimeCheckViewMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  template <class Track, class Map>
  KOKKOS_FUNCTION RuntimeCheckViewMemoryAccessViolation(char const* const, Track const& track, Map const&) {
    KOKKOS_IF_ON_HOST((keel::space::detail::refuse_host(track.m_tracker);))
    static_cast<void>(track);
  }
};

#if KOKKOS_VERSION >= 40600 // views made of mdspan, which are the only ones from 5 on
template <class R>
struct RuntimeCheckBasicViewMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckBasicViewMemoryAccessViolation(SharedAllocationTracker const& tracker) {
    KOKKOS_IF_ON_HOST((keel::space::detail::refuse_host(tracker);))
    static_cast<void>(tracker);
  }
};
#endif

/// Zero-initialised views of keel's own execution spaces.
template <keel::space::detail::Engine Space>
struct ZeroMemset<Space> {
  ZeroMemset(Space const& space, void* at, std::size_t bytes) {
    if (bytes > 0) keel::space::detail::fill_with_zeros(space, at, bytes);
  }
};

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

} // namespace Kokkos::Impl

#endif
