// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A communicator that frees itself, and knows when not to; MPI's return codes as `keel::error`, without touching the
/// application's error handlers.

#include <keel/policy/macros.hpp>

#include <mpi.h>

#include <string>
#include <utility>

namespace keel::machine::detail {

/// Between `MPI_Init` and `MPI_Finalize`: when a communicator means something. Not in a process forked since, because
/// MPI would speak for the parent there.
[[nodiscard]] bool mpi_is_running() noexcept;

/// Throws `keel::error` if it does not run: before each call of MPI that needs other ranks.
void require_running();

/// "rank 3 of 8 on host n17", as `comm` counts.
[[nodiscard]] std::string who(MPI_Comm comm);
[[noreturn]] void raise(int code, char const* call, MPI_Comm comm);

/// Throws `keel::error` unless `code` is MPI's success. `code()` of it is MPI's; the message
/// names class, call, rank in `comm` and host.
inline void require(int code, char const* call, MPI_Comm comm) {
  if (code != MPI_SUCCESS) [[unlikely]]
    raise(code, call, comm);
}

/// While it lives, errors on a communicator of the application's come back as
/// codes; then the application's handler is there again. Local. Costs nothing
/// for keel's own communicators, which return codes from birth.
class codes_returned {
public:
  codes_returned(MPI_Comm comm, bool own) : comm_(own ? MPI_COMM_NULL : comm) {
    if (comm_ == MPI_COMM_NULL) return;
    MPI_Comm_get_errhandler(comm_, &before_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~codes_returned() {
    if (comm_ == MPI_COMM_NULL) return;
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }
  codes_returned(codes_returned const&) = delete;
  codes_returned& operator=(codes_returned const&) = delete;

private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

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

#if !KEEL_COMPILED
#include <keel/impl/machine/mpi_communicator.ipp>
#endif
