// SPDX-License-Identifier: MIT
// The bodies of the simulated device that need not be compiled with every source; apart from those of other devices,
// so that a program has only what it lists.
#include <keel/impl/exchange/kokkos_copy_queue.hpp>
#include <keel/impl/space/guarded_pages.ipp>
#include <keel/impl/space/queue.ipp>

namespace kd = keel::residency::detail;
template kd::copy_queue kd::kokkos_copy_queue(keel::space::simulated const&);
