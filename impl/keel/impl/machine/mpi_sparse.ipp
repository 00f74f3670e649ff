// SPDX-License-Identifier: MIT
#include <keel/impl/machine/mpi_sparse.hpp>
#include <keel/impl/machine/mpi_calls.hpp>

#include <new>
#include <thread>
#include <vector>

namespace keel::machine::detail {

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
