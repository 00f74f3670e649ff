// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Whether the rank before this one has come as far as this one.

#include <keel/impl/machine/mpi_communicator.hpp>

#include <chrono>

namespace keel::machine::detail {

/// An empty message to the next rank, and one from the rank before, around the ring of a communicator that has no other
/// messages. What is not there yet at the end is given up.
class mpi_neighbours {
public:
  explicit mpi_neighbours(mpi_communicator const& c);
  mpi_neighbours(mpi_neighbours const&) = delete;
  mpi_neighbours& operator=(mpi_neighbours const&) = delete;
  ~mpi_neighbours();

  /// Whether the rank before came within `limit`. Sleeps between its looks, so that waiting ranks do not
  /// occupy the cores.
  [[nodiscard]] bool came_within(std::chrono::milliseconds limit);

private:
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

} // namespace keel::machine::detail
