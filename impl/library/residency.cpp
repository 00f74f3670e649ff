// SPDX-License-Identifier: MIT
// The bodies of residency that need not be compiled with every source.
#include <keel/impl/residency/arrays.ipp>
#include <keel/impl/residency/book.ipp>
#include <keel/impl/residency/checked_call.ipp>
#include <keel/impl/residency/exchanger.ipp>
#include <keel/impl/residency/executor.ipp>
#include <keel/impl/residency/fields_state.ipp>
#include <keel/impl/residency/prepared_schedule.ipp>
#include <keel/impl/residency/steps/recordings.ipp>
#include <keel/impl/residency/registered.ipp>
#include <keel/impl/residency/regrid.ipp>
#include <keel/impl/residency/remap.ipp>
#include <keel/impl/residency/resize.ipp>
#include <keel/impl/residency/walls.ipp>
#include <keel/impl/residency/join.hpp>

template class keel::residency::ledger<keel::residency::kokkos_provider, keel::residency::detail::any_observer>;
template void keel::residency::detail::fields_state::join(keel::machine::basic_environment<keel::machine::alone> const&,
                                                          bool);
