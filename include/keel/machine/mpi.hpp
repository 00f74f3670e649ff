// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ranks carried by MPI. In a build without MPI the name stands for `alone`.

#include <keel/machine/alone.hpp>
#include <keel/policy/macros.hpp>

#if KEEL_WITH_MPI
#include <keel/impl/machine/mpi_calls.hpp>
#include <keel/impl/machine/mpi_reductions.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#endif

namespace keel::machine {

#if KEEL_WITH_MPI

/// The processes of an MPI job.
///
/// Every failure of MPI is a `keel::error` with MPI's code, the class, the call,
/// the rank and the host. Communicators made here return codes from birth; on one of
/// the application's (`MPI_COMM_WORLD` too) its error handler is set aside for the length
/// of a collective call and back after it. Messages do not do so: on a borrowed
/// communicator they fail as its handler says.
struct mpi : detail::mpi_collectives, detail::mpi_reductions, detail::mpi_sparse {
  using handle = MPI_Comm;
  using communicator = detail::mpi_communicator;
  using requests = detail::mpi_requests;
  using neighbours = detail::mpi_neighbours;

  static handle null() noexcept { return MPI_COMM_NULL; }

  /// Throws if MPI has already ended, because it starts once a process; and if the launcher's count of processes and
  /// MPI's differ, because every process would take itself for the only one.
  static bool start(int* argc, char*** argv, thread_level wanted);
  static void stop();
  static bool is_running() noexcept { return detail::mpi_is_running(); }
  static thread_level level();
  /// What the library says here and now; no if it cannot be asked.
  static bool reaches_device_memory();

  static communicator world();
  static communicator borrow(handle h);

  static communicator duplicate(communicator const& c);
  static communicator subset(communicator const& c, strided const& s);
  static communicator subset(communicator const& c, chosen const& s);
  static communicator split(communicator const& c, std::optional<int> color, int key);
  /// The ranks of `c` with the same number, in the order of `c`. Collective. One split, because MPI's
  /// colors have 31 bits; a second if two numbers collide in those.
  static communicator by_identity(communicator const& c, std::uint64_t identity);
  /// The ranks of `c` on this node: those with its identity, and those that MPI shares memory with, because in
  /// containers each may have a host name of its own. Collective; a split by type and a sum before `by_identity`.
  static communicator by_node(communicator const& c);

  /// The others split off too, and free at once: so each knows how many lead, without a further call.
  static std::pair<communicator, int> lead_nodes(communicator const& c, communicator const& node);

  static int rank(communicator const& c);
  static int size(communicator const& c);
};

#else

using mpi = alone;

#endif

} // namespace keel::machine

#if KEEL_WITH_MPI && !KEEL_COMPILED
#include <keel/impl/machine/mpi.ipp>
#endif
