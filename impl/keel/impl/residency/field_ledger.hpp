// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The ledger of fields, compiled once.

#include <keel/exchange/kokkos_provider.hpp>
#include <keel/impl/validity/observers.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/ledger.hpp>

#if KEEL_COMPILED
extern template class keel::residency::ledger<keel::residency::kokkos_provider, keel::residency::detail::any_observer>;
#endif

namespace keel::residency::detail {

class field_ledger : public ledger<kokkos_provider, any_observer> {
public:
  using ledger::ledger;
};

} // namespace keel::residency::detail
