// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// MPI's collectives over bytes, its messages under way, those to ranks that do not expect them, and the meeting of
/// neighbours.

#include <keel/impl/machine/mpi_communicator.hpp>
#include <keel/machine/concepts.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
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
  static void barrier(mpi_communicator const& c);
  static void broadcast(mpi_communicator const& c, void* data, std::size_t bytes, int root);
  /// How many elements each rank brings, on the root; elsewhere empty.
  static std::vector<int> gather_counts(mpi_communicator const& c, int count, int root);
  static void gather(mpi_communicator const& c, void const* from, int count, std::size_t element_bytes, void* to,
                     std::vector<int> const& counts, int root);
  static void all_gather(mpi_communicator const& c, void const* from, void* to, std::size_t bytes);
  static bool all_of(mpi_communicator const& c, bool mine);
  /// Whether every rank has the same number.
  static bool all_equal(mpi_communicator const& c, std::uint64_t mine);
  /// Ends every process of the job if MPI runs; this one, with SIGABRT, if it does not.
  [[noreturn]] static void abort(mpi_communicator const& c, int code);
};

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

/// The sparse exchange of the model `mpi`: non-blocking consensus (T. Hoefler, C. Siebert, A. Lumsdaine, PPoPP 2010).
struct mpi_sparse {
  /// Collective over `c`, on which no other message has this tag. Returns when all that any rank sent has arrived.
  /// Calls `room(state, rank, count)` for each message, in order of arrival, and writes its elements there; nothing, if
  /// it is null. If memory is lacking to send, nothing is sent, and in the end `std::bad_alloc` is thrown.
  static void exchange_sparse(mpi_communicator const& c, std::span<outgoing const> sends, std::size_t element_bytes,
                              int tag, void* (*room)(void* state, int rank, int count), void* state);
};

} // namespace keel::machine::detail

#if !KEEL_COMPILED
#include <keel/impl/machine/mpi_calls.ipp>
#endif
