// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// MPI's collectives over bytes.

#include <keel/impl/machine/mpi_communicator.hpp>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace keel::machine::detail {

/// So many bytes as one MPI type, so that counts stay those of the elements.
class mpi_element {
public:
  explicit mpi_element(std::size_t bytes) {
    require(MPI_Type_contiguous(int(bytes), MPI_BYTE, &type_), "MPI_Type_contiguous", MPI_COMM_WORLD);
    require(MPI_Type_commit(&type_), "MPI_Type_commit", MPI_COMM_WORLD);
  }
  ~mpi_element() { MPI_Type_free(&type_); }
  mpi_element(mpi_element const&) = delete;
  mpi_element& operator=(mpi_element const&) = delete;
  [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }

private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// The collectives of the model `mpi`; contracts in `CommunicatingRanks`.
struct mpi_collectives {
  static void barrier(mpi_communicator const& c) {
    auto const guard = c.guarded();
    require(MPI_Barrier(c.get()), "MPI_Barrier", c.get());
  }

  static void broadcast(mpi_communicator const& c, void* data, std::size_t bytes, int root) {
    auto const guard = c.guarded();
    constexpr std::size_t piece = std::size_t{1} << 30;
    for (std::size_t at = 0; at < bytes; at += piece)
      require(MPI_Bcast(static_cast<std::byte*>(data) + at, int(std::min(bytes - at, piece)), MPI_BYTE,
                        root, c.get()),
              "MPI_Bcast", c.get());
  }

  /// How many elements each rank brings, on the root; elsewhere empty.
  static std::vector<int> gather_counts(mpi_communicator const& c, int count, int root) {
    auto const guard = c.guarded();
    int rank = 0;
    int size = 0;
    require(MPI_Comm_rank(c.get(), &rank), "MPI_Comm_rank", c.get());
    require(MPI_Comm_size(c.get(), &size), "MPI_Comm_size", c.get());
    std::vector<int> counts(rank == root ? std::size_t(size) : 0);
    require(MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, root, c.get()), "MPI_Gather", c.get());
    return counts;
  }

  static void gather(mpi_communicator const& c, void const* from, int count, std::size_t element_bytes, void* to,
                     std::vector<int> const& counts, int root) {
    auto const guard = c.guarded();
    mpi_element const element{element_bytes};
    std::vector<int> starts(counts.size());
    for (std::size_t i = 1; i < counts.size(); ++i) starts[i] = starts[i - 1] + counts[i - 1];
    require(MPI_Gatherv(from, count, element.get(), to, counts.data(), starts.data(), element.get(), root, c.get()),
            "MPI_Gatherv", c.get());
  }

  static void all_gather(mpi_communicator const& c, void const* from, void* to, std::size_t bytes) {
    auto const guard = c.guarded();
    require(MPI_Allgather(from, int(bytes), MPI_BYTE, to, int(bytes), MPI_BYTE, c.get()),
            "MPI_Allgather", c.get());
  }

  static bool all_of(mpi_communicator const& c, bool mine) {
    auto const guard = c.guarded();
    int const one = mine ? 1 : 0;
    int all = 0;
    require(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_LAND, c.get()), "MPI_Allreduce", c.get());
    return all != 0;
  }

  /// Whether every rank has the same number.
  static bool all_equal(mpi_communicator const& c, std::uint64_t mine) {
    auto const guard = c.guarded();
    std::uint64_t const both[]{mine, ~mine};
    std::uint64_t least[2]{};
    require(MPI_Allreduce(both, least, 2, MPI_UINT64_T, MPI_MIN, c.get()), "MPI_Allreduce", c.get());
    return least[0] == ~least[1];
  }

  /// Ends every process of the job where MPI runs; this one, with SIGABRT, where it does not.
  [[noreturn]] static void abort(mpi_communicator const& c, int code) {
    if (mpi_is_running()) MPI_Abort(c.get() == MPI_COMM_NULL ? MPI_COMM_WORLD : c.get(), code);
    std::abort();
  }
};

} // namespace keel::machine::detail
