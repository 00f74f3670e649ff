// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// MPI messages under way.

#include <keel/impl/machine/mpi_communicator.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace keel::machine::detail {

/// MPICH (4.0, 5.0) hands what fails in a wait to the handler of `MPI_COMM_WORLD`, whatever the
/// communicator of the request.
#ifdef MPICH_VERSION
inline constexpr bool waits_report_to_world = true;
#else
inline constexpr bool waits_report_to_world = false;
#endif

/// Sends and receives of bytes that were not waited for yet. More than a GiB
/// travels in pieces, because MPI counts in `int`. Allocates while its list grows.
/// Destruction, and an error, give up what is under way.
class mpi_requests {
public:
  mpi_requests() = default;
  mpi_requests(mpi_requests const&) = delete;
  mpi_requests& operator=(mpi_requests const&) = delete;
  ~mpi_requests() {
    if (mpi_is_running()) give_up();
  }

  void receive(mpi_communicator const& c, void* to, std::size_t bytes, int from, int tag) {
    in_pieces(bytes, [&](std::size_t at, int count) {
      require(MPI_Irecv(static_cast<std::byte*>(to) + at, count, MPI_BYTE, from, tag, c.get(), next(true)),
              "MPI_Irecv", c.get());
    });
  }
  void send(mpi_communicator const& c, void const* from, std::size_t bytes, int to, int tag) {
    in_pieces(bytes, [&](std::size_t at, int count) {
      require(MPI_Isend(static_cast<std::byte const*>(from) + at, count, MPI_BYTE, to, tag, c.get(), next(false)),
              "MPI_Isend", c.get());
    });
  }
  /// Where a message failed, the others are given up. One by one, while all move forward: Open MPI (4.1)
  /// can spin for ever in `MPI_Waitall` when a message fails during it.
  void wait() {
    codes_returned const guard(MPI_COMM_WORLD, !waits_report_to_world);
    for (auto& request : requests_)
      if (int const code = MPI_Wait(&request, MPI_STATUS_IGNORE); code != MPI_SUCCESS) [[unlikely]] {
        give_up();
        raise(code, "MPI_Wait", MPI_COMM_WORLD);
      }
    requests_.clear();
    is_receive_.clear();
  }

private:
  template <class F>
  static void in_pieces(std::size_t bytes, F const& f) {
    constexpr std::size_t piece = std::size_t{1} << 30;
    std::size_t at = 0;
    do {
      auto const count = std::min(bytes - at, piece);
      f(at, int(count));
      at += count;
    } while (at < bytes);
  }

  /// Cancels receives that were not waited for; leaves sends to MPI.
  void give_up() {
    for (std::size_t i = 0; i != requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      if (is_receive_[i]) MPI_Cancel(&requests_[i]);
      MPI_Request_free(&requests_[i]);
    }
    requests_.clear();
    is_receive_.clear();
  }

  MPI_Request* next(bool is_receive) {
    is_receive_.push_back(is_receive);
    return &requests_.emplace_back(MPI_REQUEST_NULL);
  }

  std::vector<MPI_Request> requests_;
  std::vector<bool> is_receive_;
};

} // namespace keel::machine::detail
