// SPDX-License-Identifier: MIT
#include <keel/machine/collectives.hpp>

#include <keel/machine/reductions.hpp>

#include <support/test.hpp>

#include <climits>

namespace km = keel::machine;
static_assert(km::Sendable<double> && !km::Sendable<int*> &&
              !km::Sendable<std::string>); // values that mean the same elsewhere

namespace {

/// One rank whose gather takes no memory, for more elements than there is memory.
struct counting : km::alone {
  static inline int others = 0;
  static std::vector<int> gather_counts(communicator const&, int count, int) { return {count, others}; }
  static void gather(communicator const&, void const*, int, std::size_t, void*, std::vector<int> const&, int) {}
};

} // namespace

TEST_CASE_TEMPLATE("machine: a broadcast reaches every rank, from any root", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  for (int root : {0, world.size() - 1}) {
    double value = world.rank() == root ? 3.5 : 0;
    km::broadcast(world, value, root);
    CHECK(value == 3.5);
    std::vector<int> many(5, world.rank() == root ? 7 : 0);
    km::broadcast(world, std::span{many}, root);
    CHECK(many == std::vector<int>(5, 7));
  }
}

TEST_CASE_TEMPLATE("machine: a gather joins what ranks bring, by rank, however much", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  int const root = world.size() - 1;
  std::vector<double> const mine(std::size_t(world.rank()), world.rank());
  auto const all = km::gather(world, mine, root);
  std::vector<double> wanted;
  for (int r = 0; r != world.size() && world.rank() == root; ++r) wanted.insert(wanted.end(), std::size_t(r), r);
  CHECK(all == wanted);
}

TEST_CASE("machine: a gather takes as many elements as MPI counts, and refuses one more") {
  km::basic_environment<counting> const world;
  char const one = 'x';
  // The root is another rank, so that nothing is allocated here; of the elements only the number counts.
  auto const gather = [&](std::size_t n) { (void)km::gather<counting, char>(world, std::span{&one, n}, 1); };
  counting::others = 0;
  CHECK_NOTHROW(gather(INT_MAX));
  std::string const refused = "keel::machine::gather: more than 2147483647 elements meet on rank 1";
  CHECK(keel::test::refuses([&] { gather(std::size_t{INT_MAX} + 1); }, refused));
  counting::others = 1;
  CHECK(keel::test::refuses([&] { gather(INT_MAX); }, refused));
}

TEST_CASE("machine: too many elements of one rank, or too much for the root, are an error on every rank") {
  km::environment const world;
  char const one = 'x';
  int const root = world.size() - 1;
  auto const gather = [&](std::size_t mine) {
    auto const message = keel::test::message_of([&] { (void)km::gather(world, std::span{&one, mine}, root); });
    int const threw = km::sum(world, message.empty() ? 0 : 1);
    CHECK(threw == world.size());
    CHECK(message.find("elements meet on rank " + std::to_string(root)) != std::string::npos);
  };
  gather(world.rank() == 0 ? std::size_t{INT_MAX} + 1 : 1); // no element is touched
  gather(world.rank() == root ? std::size_t{INT_MAX} + 1 : 0);
  gather(INT_MAX / std::size_t(world.size()) + 1);
  struct large {
    char bytes[1 << 30]; // more than there are addresses for
  };
  auto const none = std::span{reinterpret_cast<large const*>(&one), std::size_t{1} << 20};
  CHECK_THROWS_AS((void)km::gather(world, none, root), keel::out_of_memory_error);
}

TEST_CASE_TEMPLATE("machine: texts of different length stay apart", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  auto const texts = km::gather_texts(world, std::string(std::size_t(world.rank()), 'x'), 0);
  CHECK(texts.size() == (world.rank() == 0 ? std::size_t(world.size()) : 0));
  for (std::size_t r = 0; r != texts.size(); ++r) CHECK(texts[r] == std::string(r, 'x'));
}

TEST_CASE_TEMPLATE("machine: every rank learns the values of all", R, km::mpi, km::alone) {
  struct pair {
    int rank;
    double twice;
  };
  km::basic_environment<R> const world;
  auto const all = km::all_gather(world, pair{world.rank(), 2.0 * world.rank()});
  CHECK(all.size() == std::size_t(world.size()));
  for (int r = 0; r != world.size(); ++r) {
    CHECK(all[std::size_t(r)].rank == r);
    CHECK(all[std::size_t(r)].twice == 2.0 * r);
  }
}

TEST_CASE_TEMPLATE("machine: all agree only where all do", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  km::barrier(world);
  CHECK(km::all_of(world, true));
  CHECK_FALSE(km::all_of(world, world.rank() != 0));
}

TEST_CASE_TEMPLATE("machine: collectives of a non-member return at once", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  km::basic_environment<R> const one{world, km::first{1}};
  if (one.is_member()) return;
  int value = 5;
  km::broadcast(one, value, 0);
  km::barrier(one);
  CHECK(value == 5);
  CHECK(km::gather(one, std::vector{1, 2}, 0).empty());
  CHECK(km::all_gather(one, 1).empty());
  CHECK(km::all_of(one, true));
  CHECK_FALSE(km::all_of(one, false));
}
