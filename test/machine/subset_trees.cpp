// SPDX-License-Identifier: MIT
/// @file
/// Random trees of subsets of subsets, each checked against native MPI on every rank.
#include <keel/machine/environment.hpp>

#include <keel/machine/collectives.hpp>

#include <support/test.hpp>

#if KEEL_WITH_MPI

#include <random>
#include <unordered_set>
#include <variant>

namespace km = keel::machine;
using km::environment;

namespace {

using selection = std::variant<km::first, km::strided, km::chosen>;

/// The ranks of the parent that a selection names, written out the plain way.
std::vector<int> written_out(selection const& s) {
  if (auto const* list = std::get_if<km::chosen>(&s)) return {list->ranks().begin(), list->ranks().end()};
  auto const* range = std::get_if<km::strided>(&s);
  int const begin = range ? range->begin : 0;
  int const stride = range ? range->stride : 1;
  std::vector<int> ranks(std::size_t(range ? range->size : std::get<km::first>(s).size));
  for (std::size_t i = 0; i != ranks.size(); ++i) ranks[i] = begin + int(i) * stride;
  return ranks;
}

/// A selection of at most `most` ranks that a parent of `extent` ranks can give.
selection draw(std::mt19937& random, int extent, int most) {
  auto const below = [&](int n) { return int(random() % unsigned(n)); };
  switch (below(3)) {
  case 0: return km::first{1 + below(std::min(extent, most))};
  case 1: {
    int const begin = below(extent);
    bool const up = below(2) == 0;
    int const room = up ? extent - 1 - begin : begin;
    int const stride = 1 + below(3);
    return km::strided{1 + below(std::min(room / stride + 1, most)), begin, up ? stride : -stride};
  }
  default: {
    std::unordered_set<int> picked;
    std::vector<int> ranks;
    for (int wanted = 1 + below(std::min(extent, most)); wanted != 0; --wanted)
      if (int const r = below(extent); picked.insert(r).second) ranks.push_back(r);
    return km::chosen(std::move(ranks));
  }
  }
}

/// A selection made wrong, in a way that every rank can see.
selection spoilt(std::mt19937& random, int extent) {
  switch (random() % 5) {
  case 0: return km::first{extent + 1};
  case 1: return km::strided{2, extent - 1, 1};
  case 2: return km::strided{1, 0, 0};
  case 3: return km::chosen{0, extent - 1, 0};
  default: return km::chosen{-1};
  }
}

/// Some ranks of the parent by native calls, on every rank of the world: a split with the new rank as key.
MPI_Comm native_subset(MPI_Comm parent, std::vector<int> const& ranks) {
  if (parent == MPI_COMM_NULL) return MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_rank(parent, &rank);
  auto const at = std::find(ranks.begin(), ranks.end(), rank);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(parent, at == ranks.end() ? MPI_UNDEFINED : 0, int(at - ranks.begin()), &made);
  return made;
}

/// Whether `e` is what native MPI says it is.
bool agrees(environment const& e, MPI_Comm native, int master) {
  if (native == MPI_COMM_NULL)
    return !e.is_member() && e.rank() == -1 && e.size() == 0 && !e.is_master() && e.comm() == MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  int same = MPI_UNEQUAL;
  MPI_Comm_rank(native, &rank);
  MPI_Comm_size(native, &size);
  MPI_Comm_compare(native, e.comm(), &same);
  return e.is_member() && e.rank() == rank && e.size() == size && same == MPI_CONGRUENT && e.master_rank() == master &&
         e.is_master() == (rank == master);
}

struct level {
  environment made;
  MPI_Comm native;
  int extent;
};

/// One tree to depth 4. Every rank draws the same numbers.
bool tree_agrees(environment const& world, std::mt19937& random) {
  std::vector<level> levels;
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  levels.push_back({environment{}, all, world.size()});
  bool right = true;
  for (int depth = 0; depth != 4; ++depth) {
    auto const& parent = levels[random() % levels.size()];
    auto const wrong = spoilt(random, parent.extent);
    bool const threw = !keel::test::message_of([&] {
                          std::visit([&](auto const& s) { environment{parent.made, s}; }, wrong);
                        }).empty();
    auto const s = draw(random, parent.extent, parent.extent);
    auto const ranks = written_out(s);
    km::master const m{int(random() % ranks.size())};
    bool const from_comm = random() % 2 == 0;
    auto made = std::visit(
        [&](auto const& one) {
          return from_comm ? environment{parent.made.comm(), one, m} : environment{parent.made, one, m};
        },
        s);
    MPI_Comm const native = native_subset(parent.native, ranks);
    right = right && threw && agrees(made, native, m.rank);
    levels.push_back({std::move(made), native, int(ranks.size())});
  }
  for (auto& l : levels)
    if (l.native != MPI_COMM_NULL) MPI_Comm_free(&l.native);
  return right;
}

} // namespace

// 500 trees on each of 1, 2, 4 and 8 ranks are 2,000. The ranks are more than the cores here, and
// MPICH spins while it waits, so it gets fewer where they are many.
TEST_CASE("machine: random trees of subsets are what native MPI makes of them, on every rank") {
  environment const world;
#ifdef MPICH_VERSION
  int const trees = world.size() > 2 ? 10 : 500;
#else
  int const trees = 500;
#endif
  int right = 0;
  for (int t = 0; t != trees; ++t) {
    std::mt19937 random(unsigned(1000 * world.size() + t));
    right += tree_agrees(world, random) ? 1 : 0;
  }
  CHECK(right == trees);
}

#endif
