// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What has stood since Kokkos 3.7: registration, arguments, the checks of an element's memory; and the reductions
/// of 3.7 and 4.0.

#include <keel/impl/space/plugin_events.hpp>
#include <keel/impl/space/device_thread.hpp>
#include <keel/impl/space/engine.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/memory.hpp>
#include <keel/space/settings.hpp>

#if KOKKOS_VERSION >= 30700

// Kokkos' inner headers ask for it from 4 on; its own outer headers set and unset it the same way.
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

/// What Kokkos calls at its start, end, fence and print.
class listener final : public Kokkos::Impl::ExecSpaceBase {
public:
  explicit listener(plugin_events& to) : to_(to) {}
  void initialize(Kokkos::InitializationSettings const& given) override {
    settings wanted;
    if (given.has_num_threads()) wanted.threads = given.get_num_threads();
    if (given.has_device_id()) wanted.device_instance = given.get_device_id();
    to_.initialize(wanted);
  }
  void finalize() override {}
  void static_fence(std::string const& label) override { to_.fence(label); }
  void print_configuration(std::ostream& out, bool detail) override { to_.print_configuration(out, detail); }

private:
  plugin_events& to_;
};

inline void listen(std::string const& sorted_by, plugin_events& to) {
  Kokkos::Impl::ExecSpaceManager::get_instance().register_space_factory(sorted_by, std::make_unique<listener>(to));
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

/// Aborts with the view's label, unless this thread plays the device.
inline void refuse_host(Kokkos::Impl::SharedAllocationTracker const& tracker) {
  if (plays_device) return;
  std::string const label = tracker.has_record() ? tracker.template get_label<void>() : "**UNMANAGED**";
  Kokkos::abort(("Kokkos::View ERROR: attempt to access inaccessible memory space (label=\"" + label + "\")").c_str());
}

#if KOKKOS_VERSION < 40100

template <class F, class Policy, class Reducer, class Pattern>
class reduction {
  using chosen = Kokkos::Impl::if_c<std::is_same_v<Kokkos::InvalidType, Reducer>, F, Reducer>;
  using analysis = Kokkos::Impl::FunctorAnalysis<Pattern, Policy, typename chosen::type>;
  using pointer = typename analysis::pointer_type;

public:
  reduction(F const& functor, Reducer const& reducer) : functor_(functor), reducer_(reducer) {}

  [[nodiscard]] F const& functor() const { return functor_; }
  [[nodiscard]] std::size_t size() const { return analysis::value_size(chosen::select(functor_, reducer_)); }
  decltype(auto) init(void* at) const { return joiner().init(static_cast<pointer>(at)); }
  void join(void* into, void* part) const { joiner().join(static_cast<pointer>(into), static_cast<pointer>(part)); }
  void final(void* at) const { joiner().final(static_cast<pointer>(at)); }

private:
  auto joiner() const { return typename analysis::Reducer(&chosen::select(functor_, reducer_)); }
  F functor_;
  Reducer reducer_;
};

#endif

#if KOKKOS_VERSION >= 40000
/// The place in which a scan with total leaves it: Kokkos passes a view of the scalar.
template <class View>
void* address_of_total(View const& total) {
  return total.data();
}
#endif

} // namespace keel::space::detail

namespace Kokkos::Impl {

/// Host code that touches a remote element aborts, unless this thread plays the device.
template <class R>
struct RuntimeCheckMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckMemoryAccessViolation(char const* const message) {
    KOKKOS_IF_ON_HOST((if (!keel::space::detail::plays_device) Kokkos::abort(message);))
    KOKKOS_IF_ON_DEVICE((Kokkos::abort(message);))
  }
};

/// Host code that touches a remote element aborts with the label of the view.
template <class R>
struct RuntimeCheckViewMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  template <class Track, class Map>
  KOKKOS_FUNCTION RuntimeCheckViewMemoryAccessViolation(char const* const, Track const& track, Map const&) {
    KOKKOS_IF_ON_HOST((keel::space::detail::refuse_host(track.m_tracker);))
    (void)track;
  }
};

#if KOKKOS_VERSION >= 40600 // views made of mdspan, which are the only ones from 5 on
template <class R>
struct RuntimeCheckBasicViewMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckBasicViewMemoryAccessViolation(SharedAllocationTracker const& tracker) {
    KOKKOS_IF_ON_HOST((keel::space::detail::refuse_host(tracker);))
    (void)tracker;
  }
};
#endif

} // namespace Kokkos::Impl

#endif
