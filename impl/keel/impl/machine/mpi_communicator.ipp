// SPDX-License-Identifier: MIT
#include <keel/impl/machine/mpi_communicator.hpp>
#include <keel/machine/host.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/forks.hpp>

#include <array>
#include <cstddef>

namespace keel::machine::detail {

KEEL_INLINE bool mpi_is_running() noexcept {
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun == 0 || ended != 0) return false;
  static unsigned const forks_at_start = policy::forks();
  return !policy::is_forked_since(forks_at_start);
}

KEEL_INLINE void require_running() {
  if (!mpi_is_running()) [[unlikely]]
    throw error("machine", "other ranks cannot be reached",
                "MPI is not running in this process: it has ended, or this is the child of a fork",
                "Call it where MPI runs");
}

KEEL_INLINE std::string who(MPI_Comm comm) {
  int rank = -1;
  int size = 0;
  if (comm != MPI_COMM_NULL && mpi_is_running()) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  return "rank " + std::to_string(rank) + " of " + std::to_string(size) + " on host " + host_name();
}

KEEL_INLINE void raise(int code, char const* call, MPI_Comm comm) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  int error_class = code;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text.data(), &length);
  throw error("machine", std::string{call} + " failed on " + who(comm),
              "class " + std::to_string(error_class) + ", code " + std::to_string(code) + ": " +
                  std::string(text.data(), std::size_t(length)),
              {}, code)
      .of_ranks();
}

} // namespace keel::machine::detail
