// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages of MPI to ranks that do not expect them.

#include <keel/impl/machine/mpi_communicator.hpp>
#include <keel/machine/concepts.hpp>

#include <cstddef>
#include <span>

namespace keel::machine::detail {

/// The sparse exchange of the model `mpi`: non-blocking consensus (T. Hoefler, C. Siebert, A. Lumsdaine, PPoPP 2010).
struct mpi_sparse {
  /// Collective over `c`, on which no other message has this tag. Returns when all that any rank sent has arrived.
  /// Calls `room(state, rank, count)` for each message, in order of arrival, and writes its elements there; nothing, if
  /// it is null. If memory is lacking to send, nothing is sent, and in the end `std::bad_alloc` is thrown.
  static void exchange_sparse(mpi_communicator const& c, std::span<outgoing const> sends, std::size_t element_bytes,
                              int tag, void* (*room)(void* state, int rank, int count), void* state);
};

} // namespace keel::machine::detail

#if !KEEL_COMPILED
#include <keel/impl/machine/mpi_sparse.ipp>
#endif
