// SPDX-License-Identifier: MIT
#include <keel/machine/mpi.hpp>

#include <keel/machine/collectives.hpp>
#include <keel/machine/host.hpp>

#include <support/test.hpp>

#if KEEL_WITH_MPI && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace km = keel::machine;
using km::environment;

static_assert(std::same_as<km::mpi, km::alone> == (KEEL_WITH_MPI == 0) && km::CommunicatingRanks<km::mpi>);

#if KEEL_WITH_MPI

namespace {

int times_handled = 0;
void handle(MPI_Comm*, int*, ...) { ++times_handled; }

/// An error handler of the application's on a communicator, for the length of a case.
class handled_communicator {
public:
  handled_communicator() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    times_handled = 0;
  }
  ~handled_communicator() {
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
  }
  bool still_handled() const {
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &now);
    bool const same = now == handler;
    MPI_Errhandler_free(&now);
    return same;
  }

  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
};

} // namespace

TEST_CASE("machine: MPI's error carries code, class, call, rank and host") {
  environment const world;
  environment const own{world.comm()};
  int code = 0;
  int value = 0;
  auto const message = keel::test::message_of([&] {
    try {
      km::broadcast(own, value, own.size());
    } catch (keel::error const& e) {
      code = e.code();
      throw;
    }
  });
  CHECK(message.find("MPI_Bcast failed on rank " + std::to_string(own.rank()) + " of " + std::to_string(own.size())) !=
        std::string::npos);
  CHECK(message.find("on host " + km::host_name()) != std::string::npos);
  CHECK(message.find("class " + std::to_string(MPI_ERR_ROOT)) != std::string::npos);
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  CHECK(error_class == MPI_ERR_ROOT);
}

TEST_CASE("machine: on the application's communicator keel throws, and its handler stays, unasked") {
  handled_communicator const app;
  environment const coupled{app.comm};
  CHECK(app.still_handled());
  environment const half{app.comm, km::first{(coupled.size() + 1) / 2}};
  CHECK(app.still_handled());
  auto const borrowed = km::mpi::borrow(app.comm);
  int value = 0;
  CHECK_THROWS_AS(km::mpi::broadcast(borrowed, &value, sizeof value, coupled.size()), keel::error);
  CHECK(app.still_handled());
  CHECK(times_handled == 0);
}

TEST_CASE("machine: ranks come together by a whole number, also where a color cannot hold the difference") {
  environment const world;
  std::uint64_t const same_in_31_bits = world.rank() % 2 == 0 ? 5 : 5 + (std::uint64_t{1} << 40);
  auto const mates = km::mpi::by_identity(world.communicator(), same_in_31_bits);
  CHECK(km::mpi::size(mates) == (world.size() + 1 - world.rank() % 2) / 2);
  CHECK(km::mpi::rank(mates) == world.rank() / 2);
  auto const all = km::mpi::by_identity(world.communicator(), 7);
  CHECK(km::mpi::size(all) == world.size());
}

TEST_CASE("machine: an intercommunicator is refused") {
  environment const world;
  if (world.size() < 2) return;
  int const side = world.rank() % 2;
  auto const mine = world.split(side);
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Intercomm_create(mine.comm(), 0, MPI_COMM_WORLD, 1 - side, 0, &inter);
  CHECK_THROWS_WITH_AS(environment{inter}, doctest::Contains("intercommunicator"), keel::error);
  CHECK_THROWS_WITH_AS((environment{km::borrow, inter}), doctest::Contains("intercommunicator"), keel::error);
  CHECK_THROWS_WITH_AS((environment{inter, km::first{1}}), doctest::Contains("intercommunicator"), keel::error);
  MPI_Comm_free(&inter);
}

TEST_CASE("machine: a borrowed communicator is used as it is, and stays the application's") {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -environment{}.rank(), &comm);
  std::vector<environment> all; // more than MPICH has communicators
  for (int i = 0; i != 3000; ++i) all.emplace_back(km::borrow, comm);
  environment const& one = all.back();
  CHECK(one.comm() == comm);
  CHECK(one.size() == environment{}.size());
  CHECK(one.rank() == one.size() - 1 - environment{}.rank());
  CHECK(km::all_gather(one, one.rank()).back() == one.size() - 1);
  CHECK(environment{km::borrow, comm, km::master{one.size() - 1}}.master_rank() == one.size() - 1);
  CHECK_THROWS_AS((environment{km::borrow, comm, km::master{one.size()}}), keel::error);
  CHECK_FALSE(environment{km::borrow, MPI_COMM_NULL}.is_member());
  all.clear();
  CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
  CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
}

namespace {
[[maybe_unused]] int said_by_mpi = 0; // of CUDA
struct derived : km::mpi {};
struct without_the_member {};
} // namespace

#if defined(MPIX_CUDA_AWARE_SUPPORT)
/// In place of MPI's.
extern "C" int MPIX_Query_cuda_support(void) { return said_by_mpi; }
#endif

TEST_CASE("machine: messages reach the memory of a GPU only if the ranks' model says so") {
  CHECK_FALSE(km::reaches_device_memory<without_the_member>());
  CHECK(km::reaches_device_memory<km::alone>()); // which has no messages
  CHECK_FALSE(km::reaches_device_memory<km::mpi>());
  CHECK_FALSE(km::reaches_device_memory<derived>());
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  said_by_mpi = 1;
  CHECK(km::reaches_device_memory<km::mpi>());
  said_by_mpi = 0;
#endif
}

#endif
