// SPDX-License-Identifier: MIT
/// @file
/// Ways in which a job of ranks ends, one for each word; endings.py says what each must look like from outside.
#include <keel/machine.hpp>

#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include <csignal>

namespace km = keel::machine;

namespace {

/// On rank 1, MPI's own failure in a constructor that the others are in; or in one of its calls of a sparse exchange.
bool fails_on_rank_1 = false;
std::string_view failing_call;

/// A communicator that outlives MPI.
std::optional<km::environment> late;

/// Sessions one after the other: MPI runs until the process exits.
int start_twice(int argc, char** argv) {
  for (int i = 0; i != 2; ++i) {
    km::session<km::mpi> const one{argc, argv};
    km::environment const world;
    if (!one.owns() || km::session<km::mpi>{}.owns()) return 1;
    if (!km::all_of(world, true) || world.size() != 4) return 1;
    km::environments().create("left behind", world, km::first{1});
  }
  if (!km::mpi::is_running() || km::environments().contains("left behind")) return 1;
  return 0;
}

int start_and_stop(int argc, char** argv) {
  {
    km::session<km::mpi> const outer{argc, argv, km::thread_level::funneled, km::ending::with_session};
    km::environment const world;
    late.emplace(world.comm());
    km::environments().create("left behind", world, km::first{1});
    if (!outer.owns() || !km::mpi::is_running()) return 1;
    if (outer.level() < km::thread_level::funneled) return 1;
  }
  if (km::mpi::is_running() || km::environments().contains("left behind")) return 1;
  try {
    km::environment const too_late;
    return 1;
  } catch (keel::error const&) {
  }
  try {
    km::session<km::mpi> const again;
    return 1;
  } catch (keel::error const&) {
  }
  return late->is_member() ? 0 : 1; // and its handle goes after main, in silence
}

int abort_late(int argc, char** argv) {
  {
    km::session<km::mpi> const s{argc, argv, km::thread_level::funneled, km::ending::with_session};
    late.emplace();
  }
  km::abort(*late, "keel::test: too late", 7);
}

void construct_together(km::environment const& world) {
  for (int i = 0; i != 100; ++i) km::environment const coupled{world.comm()};
}

int run(std::string_view ending, int argc, char** argv) {
  if (ending == "twice") return start_twice(argc, argv);
  if (ending == "orderly") return start_and_stop(argc, argv);
  if (ending == "late") return abort_late(argc, argv);
  km::session<km::mpi> s{argc, argv};
  km::environment const world;
  if (ending == "single") return world.size() == 1 ? 0 : 1;
  if (ending == "thrown") throw keel::error("test", "the only rank gives up");
  if (ending == "alike") {
    s.fails_everywhere();
    keel::error const e("device", "--keel-num-threads=4x is not a number");
    km::report_once(world, e.what());
    throw e;
  }
  if (world.rank() == 1) {
    if (ending == "killed") std::raise(SIGKILL);
    if (ending == "aborted") km::abort(world, "keel::test: nothing to do", 7);
    if (ending == "unwound") throw keel::error("test", "rank 1 gives up");
    if (ending.starts_with("MPI_")) failing_call = ending;
    else fails_on_rank_1 = true;
  }
  if (ending.starts_with("MPI_")) {
    km::sparse_messages talk{world};
    try {
      (void)talk.exchange(std::vector<km::parcel<int>>{{(world.rank() + 1) % world.size(), {1, 2}}});
    } catch (keel::error const&) { // a program that goes on
    }
    km::barrier(world);
    return 0;
  }
  construct_together(world);
  return 0;
}

} // namespace

extern "C" int MPI_Comm_dup(MPI_Comm parent, MPI_Comm* made) {
  return fails_on_rank_1 ? MPI_ERR_NO_MEM : PMPI_Comm_dup(parent, made);
}

extern "C" int MPI_Issend(void const* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g) {
  return failing_call == "MPI_Issend" ? MPI_ERR_OTHER : PMPI_Issend(a, b, c, d, e, f, g);
}
extern "C" int MPI_Improbe(int a, int b, MPI_Comm c, int* d, MPI_Message* e, MPI_Status* f) {
  return failing_call == "MPI_Improbe" ? MPI_ERR_OTHER : PMPI_Improbe(a, b, c, d, e, f);
}
extern "C" int MPI_Test(MPI_Request* a, int* b, MPI_Status* c) {
  return failing_call == "MPI_Test" ? MPI_ERR_OTHER : PMPI_Test(a, b, c);
}
extern "C" int MPI_Ibarrier(MPI_Comm a, MPI_Request* b) {
  return failing_call == "MPI_Ibarrier" ? MPI_ERR_OTHER : PMPI_Ibarrier(a, b);
}
extern "C" int MPI_Allreduce(void const* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f) {
  return failing_call == "MPI_Allreduce" ? MPI_ERR_OTHER : PMPI_Allreduce(a, b, c, d, e, f);
}

int main(int argc, char** argv) {
  std::string_view const ending = argc > 1 ? argv[1] : "";
  if (ending == "uncaught") return run(ending, argc, argv);
  try {
    return run(ending, argc, argv);
  } catch (keel::error const& e) {
    if (ending == "single" && km::mpi::is_running()) return 1;
    if (ending == "single" && !e.is_printed_elsewhere()) std::puts(e.what());
    return 2;
  }
}
