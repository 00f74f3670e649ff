// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The allocations of a memory space as Kokkos records them, and its checks of an element's memory: each of these
/// changed with versions of Kokkos, from 3.4 to 5.

#include <keel/impl/space/device_thread.hpp>
#include <keel/impl/space/engine.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/memory.hpp>

#define KOKKOS_IMPL_PUBLIC_INCLUDE // inner headers ask for it from 4 on; Kokkos' own outer headers do the same
#include <impl/Kokkos_SharedAlloc_timpl.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE

#include <cstddef>
#include <string>

namespace keel::space::detail {

/// Bytes that Kokkos writes before the data of an allocation.
inline constexpr std::size_t bytes_ahead = sizeof(Kokkos::Impl::SharedAllocationHeader);

#if KOKKOS_VERSION >= 30700
/// Aborts with the view's label, unless this thread plays the device.
inline void refuse_host(Kokkos::Impl::SharedAllocationTracker const& tracker) {
  if (plays_device) return;
  std::string const label = tracker.has_record() ? tracker.template get_label<void>() : "**UNMANAGED**";
  Kokkos::abort(("Kokkos::View ERROR: attempt to access inaccessible memory space (label=\"" + label + "\")").c_str());
}
#endif

} // namespace keel::space::detail

namespace Kokkos::Impl {

/// The record of an allocation. Before 4.3 it writes Kokkos' header itself, and holds
/// the space that takes it back.
template <class R>
class SharedAllocationRecord<keel::space::memory<R>, void>
    : public SharedAllocationRecordCommon<keel::space::memory<R>> {
  using space = keel::space::memory<R>;
  using common = SharedAllocationRecordCommon<space>;
  using base = SharedAllocationRecord<void, void>;
  friend common;

#if KOKKOS_VERSION < 40300
#ifdef KOKKOS_ENABLE_DEBUG
  static inline base s_root_record;
#endif
  space const m_space;
#endif

protected:
#if KOKKOS_VERSION < 40300
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
        m_space(where) {
    this->_fill_host_accessible_header_info(*base::m_alloc_ptr, label);
  }
  /// An allocation, which waits for no kernel.
  template <class Execution>
  SharedAllocationRecord(Execution const&, space const& where, std::string const& label, std::size_t bytes,
                         typename base::function_type release = &common::deallocate)
      : SharedAllocationRecord(where, label, bytes, release) {}
#else
  template <class Execution>
  SharedAllocationRecord(Execution const& execution, space const& where, std::string const& label, std::size_t bytes,
                         typename base::function_type release = &common::deallocate)
      : common(execution, where, label, bytes, release) {}
  SharedAllocationRecord(space const& where, std::string const& label, std::size_t bytes,
                         typename base::function_type release = &common::deallocate)
      : common(where, label, bytes, release) {}
#endif
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
#else
template <class R>
struct RuntimeCheckMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckMemoryAccessViolation(char const* const message) {
    KOKKOS_IF_ON_HOST((if (!keel::space::detail::plays_device) Kokkos::abort(message);))
    KOKKOS_IF_ON_DEVICE((Kokkos::abort(message);))
  }
};
#endif

#if KOKKOS_VERSION >= 30700
/// Host code that touches a remote element aborts with the label of the view.
template <class R>
struct RuntimeCheckViewMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  template <class Track, class Map>
  KOKKOS_FUNCTION RuntimeCheckViewMemoryAccessViolation(char const* const, Track const& track, Map const&) {
    KOKKOS_IF_ON_HOST((keel::space::detail::refuse_host(track.m_tracker);))
    (void)track;
  }
};
#endif

#if KOKKOS_VERSION >= 40600 // views made of mdspan, which are the only ones from 5 on
template <class R>
struct RuntimeCheckBasicViewMemoryAccessViolation<keel::space::memory<R>, DefaultHostExecutionSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckBasicViewMemoryAccessViolation(SharedAllocationTracker const& tracker) {
    KOKKOS_IF_ON_HOST((keel::space::detail::refuse_host(tracker);))
    (void)tracker;
  }
};
#endif

#if KOKKOS_VERSION >= 40500
/// Zero-initialised views of keel's own execution spaces.
template <keel::space::detail::Engine Space>
struct ZeroMemset<Space> {
  ZeroMemset(Space const& space, void* at, std::size_t bytes) {
    if (bytes > 0) keel::space::detail::fill_with_zeros(space, at, bytes);
  }
};
#endif

} // namespace Kokkos::Impl
