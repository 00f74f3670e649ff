// SPDX-License-Identifier: MIT
#include <keel/machine.hpp>
#include <iostream>
#include <numeric>

namespace km = keel::machine;

/// A selection of ranks of your own: each second rank. It converts to `strided`, so no list is stored.
struct every_second {
  int ranks_of_parent;

  int count() const { return (ranks_of_parent + 1) / 2; }
  int rank_in_parent(int rank) const { return 2 * rank; }
  int find(int parent_rank) const { return parent_rank % 2 == 0 ? parent_rank / 2 : -1; }
  void check(int extent) const { km::strided(*this).check(extent); }
  operator km::strided() const { return {count(), 0, 2}; }
};
static_assert(km::Selection<every_second>);

/// What a program keeps with an environment.
struct halo_buffers {
  int count;
};

int main(int argc, char** argv) try {
  km::session<km::mpi> const session(argc, argv); // starts MPI unless it runs; keel::runtime has one of these

  km::environment world;
  km::environment const half{world, every_second{world.size()}};
  if (half.is_member()) {
    auto const ranks = km::all_gather(half, world.rank());
    if (half.is_master())
      std::cout << half.size() << " of " << world.size() << " ranks, the sum of their numbers is "
                << std::accumulate(ranks.begin(), ranks.end(), 0) << '\n';
  }
  world.data().add<halo_buffers>(halo_buffers{4}); // one value of each type, destroyed with the environment
  world.data().get<halo_buffers>().count *= 2;
  if (world.is_master()) std::cout << world.data().get<halo_buffers>().count << " buffers\n";
  try {
    km::environment const bad{world, km::strided{1, world.size(), 1}};
  } catch (keel::error const& e) {
    if (world.is_master()) std::cout << e.what() << '\n';
  }
} catch (std::exception const& e) {
  std::cerr << e.what() << "\n";
  return 2;
}
