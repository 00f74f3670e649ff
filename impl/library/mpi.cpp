// SPDX-License-Identifier: MIT
// What is done over MPI and need not be compiled with every source; apart from the rest, so that a program without MPI
// does not load its libraries.
#include <keel/policy/macros.hpp>
#if KEEL_WITH_MPI
#include <keel/impl/machine/mpi.ipp>
#include <keel/impl/machine/mpi_calls.ipp>
#include <keel/impl/machine/mpi_communicator.ipp>
#include <keel/impl/residency/join.hpp>
#include <keel/exchange/transport.hpp>
#include <keel/layout/partition.hpp>
#include <keel/machine/agreement.hpp>
#include <keel/machine.hpp>

namespace keel::machine {
template class basic_environment<mpi>;
template class registry<mpi>;
template class session<mpi>;
template class finalize_barrier<mpi>;
template struct agreement::calls_of<mpi>;
} // namespace keel::machine

template struct keel::residency::detail::agreement::calls_of<keel::machine::mpi>;
template keel::residency::messenger::messenger(keel::machine::basic_environment<keel::machine::mpi> const&);
template void keel::residency::detail::fields_state::join(keel::machine::basic_environment<keel::machine::mpi> const&,
                                                          bool);
#endif
