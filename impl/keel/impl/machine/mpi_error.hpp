// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// MPI's return codes as `keel::error`, without touching the application's error handlers.

#include <mpi.h>

namespace keel::machine::detail {

/// Between `MPI_Init` and `MPI_Finalize`: when a communicator means something. Not in a process forked since, because
/// MPI would speak for the parent there.
[[nodiscard]] bool mpi_is_running() noexcept;

/// Throws `keel::error` if it does not run: before each call of MPI that needs other ranks.
void require_running();

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

} // namespace keel::machine::detail
