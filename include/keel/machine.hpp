// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 2: ranks, environments, threads per rank. The only folder that includes MPI.
/// It compiles without MPI and without Kokkos.

#include <keel/machine/agreement.hpp>
#include <keel/machine/alone.hpp>
#include <keel/machine/attachments.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/concepts.hpp>
#include <keel/machine/end.hpp>
#include <keel/machine/environment.hpp>
#include <keel/machine/host.hpp>
#include <keel/machine/messages.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/pending.hpp>
#include <keel/machine/per_device.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/machine/registry.hpp>
#include <keel/machine/selection.hpp>
#include <keel/machine/session.hpp>
#include <keel/machine/sparse.hpp>
#include <keel/machine/threads.hpp>
