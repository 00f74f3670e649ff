// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A communicator that frees itself, and knows when not to.

#include <keel/impl/machine/mpi_error.hpp>

#include <utility>

namespace keel::machine::detail {

/// Owns an `MPI_Comm`, or borrows one. Freed once, and not after `MPI_Finalize`;
/// freeing is collective over it, as MPI has it.
class mpi_communicator {
public:
  mpi_communicator() = default;
  mpi_communicator(mpi_communicator&& other) noexcept
      : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), own_(std::exchange(other.own_, false)) {}
  mpi_communicator& operator=(mpi_communicator&& other) noexcept {
    if (this != &other) {
      release();
      comm_ = std::exchange(other.comm_, MPI_COMM_NULL);
      own_ = std::exchange(other.own_, false);
    }
    return *this;
  }
  ~mpi_communicator() { release(); }

  [[nodiscard]] static mpi_communicator borrow(MPI_Comm comm) noexcept { return {comm, false}; }

  /// Takes over a communicator just made, and has its errors returned as codes.
  [[nodiscard]] static mpi_communicator adopt(MPI_Comm comm) noexcept {
    if (comm != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return {comm, comm != MPI_COMM_NULL};
  }

  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }

  /// To be held around every call that can fail on this communicator. Throws `keel::error` if MPI is not running.
  [[nodiscard]] codes_returned guarded() const {
    require_running();
    return {comm_, own_};
  }

private:
  mpi_communicator(MPI_Comm comm, bool own) noexcept : comm_(comm), own_(own) {}
  void release() noexcept {
    if (own_ && mpi_is_running()) MPI_Comm_free(&comm_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  bool own_ = false;
};

} // namespace keel::machine::detail
