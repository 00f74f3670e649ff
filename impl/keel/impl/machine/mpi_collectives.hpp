// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// MPI's collectives over bytes.

#include <keel/impl/machine/mpi_communicator.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keel::machine::detail {

/// The collectives of the model `mpi`; contracts in `CommunicatingRanks`.
struct mpi_collectives {
  static void barrier(mpi_communicator const& c);
  static void broadcast(mpi_communicator const& c, void* data, std::size_t bytes, int root);
  /// How many elements each rank brings, on the root; elsewhere empty.
  static std::vector<int> gather_counts(mpi_communicator const& c, int count, int root);
  static void gather(mpi_communicator const& c, void const* from, int count, std::size_t element_bytes, void* to,
                     std::vector<int> const& counts, int root);
  static void all_gather(mpi_communicator const& c, void const* from, void* to, std::size_t bytes);
  static bool all_of(mpi_communicator const& c, bool mine);
  /// Whether every rank has the same number.
  static bool all_equal(mpi_communicator const& c, std::uint64_t mine);
  /// Ends every process of the job if MPI runs; this one, with SIGABRT, if it does not.
  [[noreturn]] static void abort(mpi_communicator const& c, int code);
};

} // namespace keel::machine::detail
