// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// MPI messages under way.

#include <keel/impl/machine/mpi_communicator.hpp>

#include <cstddef>
#include <vector>

namespace keel::machine::detail {

/// Sends and receives of bytes that were not waited for yet. More than a GiB
/// travels in pieces, because MPI counts in `int`. Allocates while its list grows.
/// Destruction, and an error, give up what is under way.
class mpi_requests {
public:
  mpi_requests() = default;
  mpi_requests(mpi_requests const&) = delete;
  mpi_requests& operator=(mpi_requests const&) = delete;
  ~mpi_requests();

  void reserve(std::size_t count) { requests_.reserve(count), awaited_.reserve(count); }
  void receive(mpi_communicator const& c, void* to, std::size_t bytes, int from, int tag);
  void send(mpi_communicator const& c, void const* from, std::size_t bytes, int to, int tag);
  /// If a message failed, or has another length than its receive, the others are given up. Waits one by one, while all
  /// move forward: Open MPI (4.1) can spin for ever in `MPI_Waitall` when a message fails during it.
  void wait();

private:
  /// Cancels receives that were not waited for; leaves sends to MPI.
  void give_up();

  static constexpr int none = -1;
  MPI_Request* next(int awaited);

  std::vector<MPI_Request> requests_;
  std::vector<int> awaited_; // bytes; none of a send
};

} // namespace keel::machine::detail
