// SPDX-License-Identifier: MIT
#include <keel/impl/machine/mpi_calls.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <thread>

namespace keel::machine::detail {

KEEL_INLINE void mpi_collectives::barrier(mpi_communicator const& c) {
  auto const guard = c.guarded();
  require(MPI_Barrier(c.get()), "MPI_Barrier", c.get());
}
KEEL_INLINE void mpi_collectives::broadcast(mpi_communicator const& c, void* data, std::size_t bytes, int root) {
  auto const guard = c.guarded();
  constexpr std::size_t piece = std::size_t{1} << 30;
  for (std::size_t at = 0; at < bytes; at += piece)
    require(MPI_Bcast(static_cast<std::byte*>(data) + at, int(std::min(bytes - at, piece)), MPI_BYTE, root, c.get()),
            "MPI_Bcast", c.get());
}
KEEL_INLINE std::vector<int> mpi_collectives::gather_counts(mpi_communicator const& c, int count, int root) {
  auto const guard = c.guarded();
  int rank = 0;
  int size = 0;
  require(MPI_Comm_rank(c.get(), &rank), "MPI_Comm_rank", c.get());
  require(MPI_Comm_size(c.get(), &size), "MPI_Comm_size", c.get());
  std::vector<int> counts(rank == root ? std::size_t(size) : 0);
  require(MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, root, c.get()), "MPI_Gather", c.get());
  return counts;
}
KEEL_INLINE void mpi_collectives::gather(mpi_communicator const& c, void const* from, int count,
                                         std::size_t element_bytes, void* to, std::vector<int> const& counts,
                                         int root) {
  auto const guard = c.guarded();
  mpi_element const element{element_bytes};
  std::vector<int> starts(counts.size());
  for (std::size_t i = 1; i < counts.size(); ++i) starts[i] = starts[i - 1] + counts[i - 1];
  require(MPI_Gatherv(from, count, element.get(), to, counts.data(), starts.data(), element.get(), root, c.get()),
          "MPI_Gatherv", c.get());
}
KEEL_INLINE void mpi_collectives::all_gather(mpi_communicator const& c, void const* from, void* to, std::size_t bytes) {
  auto const guard = c.guarded();
  require(MPI_Allgather(from, int(bytes), MPI_BYTE, to, int(bytes), MPI_BYTE, c.get()), "MPI_Allgather", c.get());
}
KEEL_INLINE bool mpi_collectives::all_of(mpi_communicator const& c, bool mine) {
  auto const guard = c.guarded();
  int const one = mine ? 1 : 0;
  int all = 0;
  require(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_LAND, c.get()), "MPI_Allreduce", c.get());
  return all != 0;
}
KEEL_INLINE bool mpi_collectives::all_equal(mpi_communicator const& c, std::uint64_t mine) {
  auto const guard = c.guarded();
  std::uint64_t const both[]{mine, ~mine};
  std::uint64_t least[2]{};
  require(MPI_Allreduce(both, least, 2, MPI_UINT64_T, MPI_MIN, c.get()), "MPI_Allreduce", c.get());
  return least[0] == ~least[1];
}
KEEL_INLINE void mpi_collectives::abort(mpi_communicator const& c, int code) {
  if (mpi_is_running()) MPI_Abort(c.get() == MPI_COMM_NULL ? MPI_COMM_WORLD : c.get(), code);
  std::abort();
}

/// MPICH (4.0, 5.0) hands what fails in a wait to the handler of `MPI_COMM_WORLD`, whatever the
/// communicator of the request.
#ifdef MPICH_VERSION
inline constexpr bool waits_report_to_world = true;
#else
inline constexpr bool waits_report_to_world = false;
#endif

KEEL_INLINE mpi_requests::~mpi_requests() {
  if (mpi_is_running()) give_up();
}
template <class F>
void in_pieces(std::size_t bytes, F const& f) {
  constexpr std::size_t piece = std::size_t{1} << 30;
  std::size_t at = 0;
  do {
    auto const count = std::min(bytes - at, piece);
    f(at, int(count));
    at += count;
  } while (at < bytes);
}
KEEL_INLINE void mpi_requests::receive(mpi_communicator const& c, void* to, std::size_t bytes, int from, int tag) {
  in_pieces(bytes, [&](std::size_t at, int count) {
    require(MPI_Irecv(static_cast<std::byte*>(to) + at, count, MPI_BYTE, from, tag, c.get(), next(count)), "MPI_Irecv",
            c.get());
  });
}
KEEL_INLINE void mpi_requests::send(mpi_communicator const& c, void const* from, std::size_t bytes, int to, int tag) {
  in_pieces(bytes, [&](std::size_t at, int count) {
    require(MPI_Isend(static_cast<std::byte const*>(from) + at, count, MPI_BYTE, to, tag, c.get(), next(none)),
            "MPI_Isend", c.get());
  });
}
KEEL_INLINE void mpi_requests::wait() {
  if (!requests_.empty()) require_running();
  codes_returned const guard(MPI_COMM_WORLD, !waits_report_to_world);
  for (std::size_t i = 0; i != requests_.size(); ++i) {
    MPI_Status status;
    int const code = MPI_Wait(&requests_[i], &status), awaited = awaited_[i];
    int came = awaited;
    if (code == MPI_SUCCESS && awaited != none) MPI_Get_count(&status, MPI_BYTE, &came);
    if (code == MPI_SUCCESS && came == awaited) [[likely]]
      continue;
    give_up();
    if (code != MPI_SUCCESS) raise(code, "MPI_Wait", MPI_COMM_WORLD);
    throw error("machine::messages", "a message has " + std::to_string(came) + " bytes",
                std::to_string(awaited) + " were awaited from rank " + std::to_string(status.MPI_SOURCE) + " on " +
                    who(MPI_COMM_WORLD),
                "Send as many as are received");
  }
  requests_.clear();
  awaited_.clear();
}
KEEL_INLINE void mpi_requests::give_up() {
  for (std::size_t i = 0; i != requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (awaited_[i] != none) MPI_Cancel(&requests_[i]);
    MPI_Request_free(&requests_[i]);
  }
  requests_.clear();
  awaited_.clear();
}
KEEL_INLINE MPI_Request* mpi_requests::next(int awaited) {
  if (requests_.empty()) require_running();
  awaited_.push_back(awaited);
  return &requests_.emplace_back(MPI_REQUEST_NULL);
}

KEEL_INLINE mpi_neighbours::mpi_neighbours(mpi_communicator const& c) {
  int rank = 0, size = 1;
  MPI_Comm_rank(c.get(), &rank);
  MPI_Comm_size(c.get(), &size);
  require(MPI_Irecv(nullptr, 0, MPI_BYTE, (rank + size - 1) % size, 0, c.get(), &requests_[0]), "MPI_Irecv", c.get());
  require(MPI_Isend(nullptr, 0, MPI_BYTE, (rank + 1) % size, 0, c.get(), &requests_[1]), "MPI_Isend", c.get());
}
KEEL_INLINE mpi_neighbours::~mpi_neighbours() {
  if (requests_[0] != MPI_REQUEST_NULL) MPI_Cancel(&requests_[0]);
  for (auto& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}
KEEL_INLINE bool mpi_neighbours::came_within(std::chrono::milliseconds limit) {
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

/// Synchronous sends: one has ended when its receiver has begun to take it.
class synchronous_sends {
public:
  synchronous_sends() = default;
  synchronous_sends(synchronous_sends const&) = delete;
  synchronous_sends& operator=(synchronous_sends const&) = delete;
  ~synchronous_sends() {
    for (auto& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  void reserve(std::size_t count) { requests_.reserve(count); }
  void begin(mpi_communicator const& c, outgoing const& o, MPI_Datatype type, int tag) {
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    require(MPI_Issend(o.data, o.count, type, o.rank, tag, c.get(), &request), "MPI_Issend", c.get());
  }
  [[nodiscard]] bool have_ended(mpi_communicator const& c) {
    for (int is_over = 1; ended_ != requests_.size(); ++ended_) {
      require(MPI_Test(&requests_[ended_], &is_over, MPI_STATUS_IGNORE), "MPI_Test", c.get());
      if (is_over == 0) return false;
    }
    return true;
  }

private:
  std::vector<MPI_Request> requests_;
  std::size_t ended_ = 0;
};

/// Takes a message that there is no memory for: all its bytes go to one, one after the other.
inline void drop(MPI_Message message, int count, std::size_t element_bytes, mpi_communicator const& c) {
  char byte = 0;
  MPI_Datatype element = MPI_DATATYPE_NULL, all = MPI_DATATYPE_NULL;
  require(MPI_Type_create_hvector(int(element_bytes), 1, 0, MPI_BYTE, &element), "MPI_Type_create_hvector", c.get());
  require(MPI_Type_create_hvector(count, 1, 0, element, &all), "MPI_Type_create_hvector", c.get());
  require(MPI_Type_commit(&all), "MPI_Type_commit", c.get());
  require(MPI_Mrecv(&byte, 1, all, &message, MPI_STATUS_IGNORE), "MPI_Mrecv", c.get());
  MPI_Type_free(&all), MPI_Type_free(&element);
}

KEEL_INLINE void mpi_sparse::exchange_sparse(mpi_communicator const& c, std::span<outgoing const> sends,
                                             std::size_t element_bytes, int tag,
                                             void* (*room)(void* state, int rank, int count), void* state) {
  auto const guard = c.guarded();
  mpi_element const element{element_bytes};
  synchronous_sends mine;
  bool lacks_memory = false;
  try {
    mine.reserve(sends.size());
  } catch (std::bad_alloc const&) {
    lacks_memory = true, sends = {};
  }
  for (outgoing const& o : sends) mine.begin(c, o, element.get(), tag);
  MPI_Request all_have_sent = MPI_REQUEST_NULL;
  for (bool is_in_barrier = false;;) {
    int is_there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    require(MPI_Improbe(MPI_ANY_SOURCE, tag, c.get(), &is_there, &message, &status), "MPI_Improbe", c.get());
    if (is_there != 0) {
      int count = 0;
      require(MPI_Get_count(&status, element.get(), &count), "MPI_Get_count", c.get());
      void* const to = room(state, status.MPI_SOURCE, count);
      if (to != nullptr || count == 0)
        require(MPI_Mrecv(to, count, element.get(), &message, MPI_STATUS_IGNORE), "MPI_Mrecv", c.get());
      else drop(message, count, element_bytes, c);
      continue;
    }
    if (!is_in_barrier) {
      is_in_barrier = mine.have_ended(c);
      if (is_in_barrier) require(MPI_Ibarrier(c.get(), &all_have_sent), "MPI_Ibarrier", c.get());
    } else {
      int is_over = 0;
      require(MPI_Test(&all_have_sent, &is_over, MPI_STATUS_IGNORE), "MPI_Test", c.get());
      if (is_over != 0) break;
    }
    std::this_thread::yield(); // for ranks that share this core
  }
  if (lacks_memory) throw std::bad_alloc();
}

} // namespace keel::machine::detail
