// SPDX-License-Identifier: MIT
// The bodies of residency that need not be compiled with every source.
#include <keel/impl/residency/explain_texts.hpp>
#include <keel/impl/residency/grid.hpp>
#include <keel/impl/residency/kokkos_provider.hpp>
#include <keel/impl/residency/lay_out.hpp>
#include <keel/impl/residency/profiling.hpp>
#include <keel/impl/residency/settings.hpp>
#include <keel/impl/residency/trace.hpp>
#include <keel/residency/ledger.hpp>
#include <keel/residency/reasons.hpp>

namespace keel::residency {
template class ledger<kokkos_provider, detail::profiled_observer<unobserved>>;
template class ledger<kokkos_provider, detail::profiled_observer<reasons>>;
template class ledger<kokkos_provider, detail::profiled_observer<trace>>;
} // namespace keel::residency
