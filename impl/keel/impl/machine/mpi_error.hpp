// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// MPI's return codes as `keel::error`, without touching the application's error handlers.

#include <keel/machine/host.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/forks.hpp>

#include <mpi.h>

#include <array>
#include <string>

namespace keel::machine::detail {

/// Between `MPI_Init` and `MPI_Finalize`: when a communicator means something. Not in a process forked since, where MPI
/// would speak for the parent.
[[nodiscard]] inline bool mpi_is_running() noexcept {
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun == 0 || ended != 0) return false;
  static unsigned const forks_at_start = policy::forks();
  return !policy::is_forked_since(forks_at_start);
}

/// "rank 3 of 8 on host n17", as `comm` counts.
[[nodiscard]] inline std::string who(MPI_Comm comm) {
  int rank = -1;
  int size = 0;
  if (comm != MPI_COMM_NULL && mpi_is_running()) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  return "rank " + std::to_string(rank) + " of " + std::to_string(size) + " on host " + host_name();
}

[[noreturn]] inline void raise(int code, char const* call, MPI_Comm comm) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  int error_class = code;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text.data(), &length);
  throw error("machine", std::string{call} + " failed on " + who(comm),
              "class " + std::to_string(error_class) + ", code " + std::to_string(code) + ": " +
                  std::string(text.data(), std::size_t(length)),
              {}, code);
}

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
