// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Whether the rank before this one has come as far as this one.

#include <keel/impl/machine/mpi_communicator.hpp>

#include <chrono>
#include <thread>

namespace keel::machine::detail {

/// An empty message to the next rank, and one from the rank before, around the ring of a communicator that has no other
/// messages. What is not there yet at the end is given up.
class mpi_neighbours {
public:
  explicit mpi_neighbours(mpi_communicator const& c) {
    int rank = 0, size = 1;
    MPI_Comm_rank(c.get(), &rank);
    MPI_Comm_size(c.get(), &size);
    require(MPI_Irecv(nullptr, 0, MPI_BYTE, (rank + size - 1) % size, 0, c.get(), &requests_[0]), "MPI_Irecv", c.get());
    require(MPI_Isend(nullptr, 0, MPI_BYTE, (rank + 1) % size, 0, c.get(), &requests_[1]), "MPI_Isend", c.get());
  }
  mpi_neighbours(mpi_neighbours const&) = delete;
  mpi_neighbours& operator=(mpi_neighbours const&) = delete;
  ~mpi_neighbours() {
    if (requests_[0] != MPI_REQUEST_NULL) MPI_Cancel(&requests_[0]);
    for (auto& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  /// Whether the rank before came within `limit`. Sleeps between its looks, so that waiting ranks leave the cores
  /// alone.
  [[nodiscard]] bool came_within(std::chrono::milliseconds limit) {
    auto const end = std::chrono::steady_clock::now() + limit;
    for (int looks = 0;; ++looks) {
      int here = 0, sent = 0;
      MPI_Test(&requests_[0], &here, MPI_STATUS_IGNORE);
      MPI_Test(&requests_[1], &sent, MPI_STATUS_IGNORE);
      if (here != 0 && sent != 0) return true;
      if (std::chrono::steady_clock::now() >= end) return false;
      if (looks < 100) std::this_thread::yield();
      else std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

private:
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

} // namespace keel::machine::detail
