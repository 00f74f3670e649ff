// SPDX-License-Identifier: MIT
/// @file
/// Which calls of MPI each operation makes, heard through MPI's profiling interface.
#include <keel/machine/environment.hpp>

#include <keel/machine/collectives.hpp>
#include <keel/machine/messages.hpp>
#include <keel/machine/pending.hpp>

#include <support/test.hpp>

#if KEEL_WITH_MPI

#include <climits>

namespace km = keel::machine;
using km::environment;

namespace {

using names = std::vector<std::string>;

bool is_listening = false;
names heard;

bool waits_fail = false; // MPI_Wait answers with an error
int granted = -1;        // what MPI_Query_thread tells, from 0 on

void note(char const* name) {
  if (is_listening) heard.emplace_back(name);
}

/// The calls that `f` makes on this rank. `MPI_Initialized` and `MPI_Finalized`, which read one flag, are not heard.
template <class F>
names calls_of(F&& f) {
  heard.clear();
  is_listening = true;
  f();
  is_listening = false;
  return heard;
}

/// What wraps a collective call on a communicator of the application's: its handler set aside, and back.
names on_borrowed(names const& before, names const& calls, names const& after = {}) {
  names all = before;
  all.insert(all.end(), {"Comm_get_errhandler", "Comm_set_errhandler"});
  all.insert(all.end(), calls.begin(), calls.end());
  all.insert(all.end(), {"Comm_set_errhandler", "Errhandler_free"});
  all.insert(all.end(), after.begin(), after.end());
  return all;
}

} // namespace

/// Defines a call of MPI that is heard under its name, and made.
#define HEARD(call, parameters, arguments) \
  int MPI_##call parameters { return note(#call), PMPI_##call arguments; }

extern "C" {
HEARD(Comm_rank, (MPI_Comm c, int* r), (c, r))
HEARD(Comm_size, (MPI_Comm c, int* n), (c, n))
HEARD(Comm_test_inter, (MPI_Comm c, int* f), (c, f))
HEARD(Comm_dup, (MPI_Comm c, MPI_Comm* o), (c, o))
HEARD(Comm_free, (MPI_Comm * c), (c))
HEARD(Comm_group, (MPI_Comm c, MPI_Group* g), (c, g))
HEARD(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm* o), (c, g, o))
HEARD(Comm_create_group, (MPI_Comm c, MPI_Group g, int t, MPI_Comm* o), (c, g, t, o))
HEARD(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* o), (c, color, key, o))
HEARD(Comm_get_errhandler, (MPI_Comm c, MPI_Errhandler* e), (c, e))
HEARD(Comm_set_errhandler, (MPI_Comm c, MPI_Errhandler e), (c, e))
HEARD(Errhandler_free, (MPI_Errhandler * e), (e))
HEARD(Group_incl, (MPI_Group g, int n, int const r[], MPI_Group* o), (g, n, r, o))
HEARD(Group_range_incl, (MPI_Group g, int n, int r[][3], MPI_Group* o), (g, n, r, o))
HEARD(Group_free, (MPI_Group * g), (g))
HEARD(Barrier, (MPI_Comm c), (c))
HEARD(Bcast, (void* p, int n, MPI_Datatype t, int root, MPI_Comm c), (p, n, t, root, c))
HEARD(Allgather, (void const* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, MPI_Comm c),
      (s, n, t, r, m, u, c))
HEARD(Allreduce, (void const* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (s, r, n, t, op, c))
HEARD(Iallreduce, (void const* s, void* r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* q),
      (s, r, n, t, op, c, q))
HEARD(Isend, (void const* p, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
      (p, n, t, to, tag, c, r))
HEARD(Irecv, (void* p, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
      (p, n, t, from, tag, c, r))
HEARD(Cancel, (MPI_Request * r), (r))
HEARD(Request_free, (MPI_Request * r), (r))
HEARD(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
int MPI_Wait(MPI_Request* r, MPI_Status* s) { return note("Wait"), waits_fail ? MPI_ERR_OTHER : PMPI_Wait(r, s); }
int MPI_Op_create(MPI_User_function* f, int commutes, MPI_Op* op) {
  return note(commutes != 0 ? "Op_create, commutes" : "Op_create"), PMPI_Op_create(f, commutes, op);
}
int MPI_Query_thread(int* level) { return granted < 0 ? PMPI_Query_thread(level) : (*level = granted, MPI_SUCCESS); }
}

#undef HEARD

TEST_CASE("machine: the world costs its rank and its size") {
  CHECK(calls_of([] { environment const world; }) == names{"Comm_size", "Comm_rank"});
}

TEST_CASE("machine: coupling costs one duplicate") {
  auto const made = calls_of([] { environment const coupled{MPI_COMM_WORLD}; });
  CHECK(made ==
        on_borrowed({"Comm_test_inter", "Comm_size"}, {"Comm_dup", "Comm_set_errhandler"}, {"Comm_rank", "Comm_free"}));
}

TEST_CASE("machine: a subset costs its members one group call, and others nothing") {
  environment const parent{MPI_COMM_WORLD};
  auto const raw = [](char const* include) {
    return names{"Comm_group", include,      "Comm_create_group", "Comm_set_errhandler",
                 "Group_free", "Group_free", "Comm_free"};
  };
  bool const inside = parent.rank() == 0;
  CHECK(calls_of([&] { environment{parent, km::first{1}}; }) == (inside ? raw("Group_range_incl") : names{}));
  CHECK(calls_of([&] { environment{parent, km::strided{1, 0, 2}}; }) == (inside ? raw("Group_range_incl") : names{}));
  CHECK(calls_of([&] { environment{parent, km::chosen{0}}; }) == (inside ? raw("Group_incl") : names{}));
  CHECK(calls_of([&] { environment{parent, km::first{parent.size()}}; }) == raw("Group_range_incl"));
}

TEST_CASE("machine: a refusal costs no call") {
  environment const parent{MPI_COMM_WORLD};
  CHECK(calls_of([&] { CHECK_THROWS_AS((environment{parent, km::first{parent.size() + 1}}), keel::error); }).empty());
  CHECK(calls_of([&] { CHECK_THROWS_AS((environment{parent, km::chosen{0, 0}}), keel::error); }).empty());
}

TEST_CASE("machine: a master outside the application's communicator is refused before that is duplicated") {
  auto const made = calls_of([] { CHECK_THROWS_AS((environment{MPI_COMM_WORLD, km::master{INT_MAX}}), keel::error); });
  CHECK(std::count(made.begin(), made.end(), "Comm_size") == 1);
  CHECK(std::count(made.begin(), made.end(), "Comm_dup") == 0);
}

TEST_CASE("machine: partitions cost one split each, nodes a check on top, leaders a second") {
  environment const parent{MPI_COMM_WORLD};
  CHECK(calls_of([&] { auto const half = parent.split(parent.rank() % 2); }) ==
        names{"Comm_split", "Comm_set_errhandler", "Comm_size", "Comm_rank", "Comm_free"});
  CHECK(calls_of([&] { auto const node = parent.node(); }) == names{"Comm_set_errhandler", "Allreduce", "Comm_split",
                                                                    "Comm_set_errhandler", "Allreduce", "Comm_free",
                                                                    "Comm_size", "Comm_rank", "Comm_free"});
  auto const node = parent.node();
  auto const leaders = calls_of([&] { auto const l = parent.leaders(node); });
  CHECK(leaders.front() == "Comm_rank");
  CHECK(std::count(leaders.begin(), leaders.end(), "Comm_split") == 1);
  CHECK(leaders.back() == "Comm_free");
}

TEST_CASE("machine: accessors and the choice of a master cost no call") {
  environment world;
  int sum = 0;
  CHECK(calls_of([&] {
          sum = world.rank() + world.size() + world.master_rank() + int{world.is_master()} + int{world.is_member()};
          world.set_master(world.size() - 1);
        }).empty());
  CHECK(sum > 0);
}

TEST_CASE("machine: collectives and messages are the call they are named for") {
  environment const own{MPI_COMM_WORLD};
  int value = 0;
  CHECK(calls_of([&] { km::barrier(own); }) == names{"Barrier"});
  CHECK(calls_of([&] { km::broadcast(own, value, 0); }) == names{"Bcast"});
  CHECK(calls_of([&] { (void)km::all_gather(own, value); }) == names{"Allgather"});
  CHECK(calls_of([&] { (void)km::all_of(own, true); }) == names{"Allreduce"});
  km::messages m{own};
#ifdef MPICH_VERSION
  auto const messages = on_borrowed({"Irecv", "Isend"}, {"Wait", "Wait"}); // MPICH reports waits to the world
#else
  names const messages{"Irecv", "Isend", "Wait", "Wait"};
#endif
  CHECK(calls_of([&] {
          m.receive(&value, sizeof value, own.rank(), 0);
          int const out = 1;
          m.send(&out, sizeof out, own.rank(), 0);
          m.wait();
        }) == messages);
  environment const world;
  CHECK(calls_of([&] { km::barrier(world); }) == on_borrowed({}, {"Barrier"}));
}

TEST_CASE("machine: a communicator is freed when another environment takes its place") {
  environment own{MPI_COMM_WORLD};
  environment other{MPI_COMM_WORLD};
  CHECK(calls_of([&] { own = std::move(other); }) == names{"Comm_free"});
}

TEST_CASE("machine: messages that were not waited for are freed, receives cancelled before") {
  environment const own{MPI_COMM_WORLD};
  int in = 0;
  int const out = 1;
  CHECK(calls_of([&] {
          km::messages m{own};
          m.receive(&in, sizeof in, own.rank(), 0);
          m.send(&out, sizeof out, own.rank(), 0);
        }) == names{"Irecv", "Isend", "Cancel", "Request_free", "Request_free"});
}

TEST_CASE("machine: messages waited for once are not waited for again, also after an error") {
  environment const own{MPI_COMM_WORLD};
  int in = 0;
  int const out = 1;
  km::messages m{own};
  auto const waits = [&] {
    auto const calls = calls_of([&] { m.wait(); });
    return std::count(calls.begin(), calls.end(), "Wait");
  };
  auto const begin = [&] {
    m.receive(&in, sizeof in, own.rank(), 0);
    m.send(&out, sizeof out, own.rank(), 0);
  };
  begin();
  CHECK(waits() == 2);
  CHECK(waits() == 0);
  begin();
  waits_fail = true;
  CHECK_THROWS_WITH_AS(m.wait(), doctest::Contains("MPI_Wait failed"), keel::error);
  waits_fail = false;
  CHECK(waits() == 0);
}

TEST_CASE("machine: a reduction that was begun is waited for once, by its owner or its end") {
  environment const own{MPI_COMM_WORLD};
  names const once{"Iallreduce", "Wait"};
  using sum = km::pending<km::mpi, int, std::plus<>>;
  CHECK(calls_of([&] { (void)sum(own, 1); }) == once);
  CHECK(calls_of([&] { (void)sum(own, 1).wait(); }) == once);
}

TEST_CASE("machine: an operation of the program's may not be reordered by MPI") {
  environment const own{MPI_COMM_WORLD};
  auto const calls = calls_of([&] { (void)km::all_reduce(own, 2, [](int a, int b) { return a - b; }); });
  CHECK(std::count(calls.begin(), calls.end(), "Op_create") == 1);
}

TEST_CASE("machine: each level of threads that MPI grants has its name") {
  using level = km::thread_level;
  for (auto const& [said, meant] :
       {std::pair{MPI_THREAD_SINGLE, level::single}, std::pair{MPI_THREAD_FUNNELED, level::funneled},
        std::pair{MPI_THREAD_SERIALIZED, level::serialized}, std::pair{MPI_THREAD_MULTIPLE, level::multiple}}) {
    granted = said;
    CHECK(km::mpi::level() == meant);
  }
  granted = -1;
}

#endif
