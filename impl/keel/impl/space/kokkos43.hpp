// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The record of an allocation since Kokkos 4.3, and the zero fill of a view since 4.5.

#include <keel/impl/space/engine.hpp>
#include <keel/space/allocations.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/memory.hpp>

#if KOKKOS_VERSION >= 40300

#include <cstddef>
#include <string>

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

#endif
