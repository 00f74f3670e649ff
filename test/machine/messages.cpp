// SPDX-License-Identifier: MIT
#include <keel/machine/messages.hpp>

#include <keel/machine/pending.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/machine/sparse.hpp>
#include <keel/policy/error.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

#include <concepts>

namespace km = keel::machine;

TEST_CASE_TEMPLATE("machine: messages go round the ring, and to oneself", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  int const n = world.size();
  int const left = (world.rank() + n - 1) % n;
  int const right = (world.rank() + 1) % n;
  km::messages<R> m{world};
  for (int round = 0; round != 3; ++round) {
    std::vector<int> const out(1000, world.rank() + round);
    std::vector<int> from_left(1000, -1);
    std::vector<int> from_right(1000, -1);
    std::array<int, 2> const self_out{round, round + 1};
    std::array<int, 2> self_in{-1, -1};
    m.send(self_out.data(), sizeof(int), world.rank(), 3); // before it is awaited
    m.receive(from_left.data(), from_left.size() * sizeof(int), left, 1);
    m.receive(from_right.data(), from_right.size() * sizeof(int), right, 2);
    m.receive(nullptr, 0, world.rank(), 4);
    for (int& in : self_in) m.receive(&in, sizeof in, world.rank(), 3); // in order within a tag
    m.send(out.data(), out.size() * sizeof(int), right, 1);
    m.send(out.data(), out.size() * sizeof(int), left, 2);
    m.send(nullptr, 0, world.rank(), 4);
    m.send(&self_out[1], sizeof(int), world.rank(), 3);
    m.wait();
    CHECK(from_left == std::vector<int>(1000, left + round));
    CHECK(from_right == std::vector<int>(1000, right + round));
    CHECK(self_in == self_out);
  }
}

TEST_CASE_TEMPLATE("machine: a message to no rank, or with no tag of MPI's, is refused", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  km::messages<R> m{world};
  int value = 0;
  CHECK_THROWS_WITH_AS(m.send(&value, sizeof value, world.size(), 0), doctest::Contains("cannot be reached"),
                       keel::error);
  CHECK_THROWS_AS(m.receive(&value, sizeof value, -1, 0), keel::error);
  CHECK_THROWS_WITH_AS(m.send(&value, sizeof value, 0, -1), doctest::Contains("tag -1"), keel::error);
  CHECK_THROWS_AS(m.send(&value, sizeof value, 0, 32768), keel::error);
  m.wait();
}

// Open MPI 4.1 cuts a message to oneself in silence, so it goes to the neighbour where there is one.
TEST_CASE_TEMPLATE("machine: a message that does not fit is an error", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  km::basic_environment<R> const own{world.comm()};
  if (own.size() == 1 && !std::same_as<R, km::alone>) return;
  int const right = (own.rank() + 1) % own.size();
  int const left = (own.rank() + own.size() - 1) % own.size();
  km::messages<R> m{own};
  int const out[2]{1, 2};
  int in[2]{};
  m.receive(in, sizeof(int), left, 4);
  m.send(out, sizeof out, right, 4);
  std::string const message = keel::test::message_of([&] { m.wait(); });
  CHECK(message.find("keel::machine") == 0);
#if KEEL_WITH_MPI
  if (own.size() > 1) CHECK(message.find("class " + std::to_string(MPI_ERR_TRUNCATE)) != std::string::npos);
#endif
}

#if KEEL_WITH_MPI
TEST_CASE("machine: what needs ranks throws in the child of a fork, and reaches none") {
  km::environment const world;
  int const right = (world.rank() + 1) % world.size(), left = (world.rank() + world.size() - 1) % world.size();
  km::messages<km::mpi> m{world}, begun{world};
  km::sparse_messages<km::mpi> sparse{world};
  int out = 1, in = 0, early = 0;
  begun.receive(&early, sizeof early, left, 2);
  begun.send(&out, sizeof out, right, 2);
  km::pending<km::mpi, int, std::plus<>> sum(world, 1);
  auto const child = keel::test::in_child([&] {
    int answered = 0;
    auto const ask = [&](auto const& call) { answered += keel::test::message_of(call).empty(); };
    ask([&] { m.send(&out, sizeof out, right, 1); });
    ask([&] { m.receive(&in, sizeof in, left, 1); });
    ask([&] { begun.wait(); });
    ask([&] { (void)sum.wait(); });
    ask([&] { km::barrier(world); });
    ask([&] { km::broadcast(world, out, 0); });
    ask([&] { (void)km::all_gather(world, out); });
    ask([&] { (void)km::sum(world, 1.0); });
    ask([&] { (void)km::pending<km::mpi, int, std::plus<>>(world, 1); });
    ask([&] { (void)km::scan(world, 1); });
    ask([&] { (void)sparse.exchange(std::vector<km::parcel<int>>{}); });
    ask([&] { km::environment const other{world.comm()}; });
    ask([&] { (void)world.node(); });
    ask([&] { km::environment const all{world, km::first{world.size()}}; });
    return answered;
  });
  CHECK(child.status == 0);
  begun.wait();
  CHECK(early == 1);
  CHECK(sum.wait() == world.size());
  out = 3;
  m.receive(&in, sizeof in, left, 1);
  m.send(&out, sizeof out, right, 1);
  m.wait();
  CHECK(in == 3);
}
#endif

TEST_CASE_TEMPLATE("machine: a message that is shorter than awaited is an error", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  km::basic_environment<R> const own{world.comm()};
  km::messages<R> m{own};
  int const out = 7;
  int in[2]{};
  m.receive(in, sizeof in, (own.rank() + own.size() - 1) % own.size(), 4);
  m.send(&out, sizeof out, (own.rank() + 1) % own.size(), 4);
  CHECK_THROWS_WITH_AS(m.wait(), doctest::Contains("keel::machine::messages: a message "), keel::error);
  m.receive(in, sizeof out, own.rank(), 4);
  m.send(&out, sizeof out, own.rank(), 4);
  m.wait();
  CHECK(in[0] == 7);
}
