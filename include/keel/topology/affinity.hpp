// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The hardware threads that a thread may run on, whatever the node is made of. Asks only the system, not hwloc.

#include <keel/policy/macros.hpp>
#include <keel/topology/id_set.hpp>

namespace keel::topology {

/// The system's numbers of the hardware threads that the calling thread may run on now: what `taskset`, a
/// batch system or MPI's launcher left it. Throws `keel::error` if the system does not report it.
[[nodiscard]] id_set bound_hardware_threads();

/// Those that at least one thread of this process may run on now. Reads /proc. Throws as `bound_hardware_threads` does.
[[nodiscard]] id_set process_hardware_threads();

} // namespace keel::topology

#if !KEEL_COMPILED
#include <keel/impl/topology/affinity.ipp>
#endif
