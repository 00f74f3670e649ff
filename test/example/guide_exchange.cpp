// SPDX-License-Identifier: MIT
#include <keel/exchange.hpp>
#include <keel/layout.hpp>
#include <keel/machine.hpp>
#include <iostream>
#include <vector>

namespace km = keel::machine;
namespace kr = keel::residency;

int main(int argc, char** argv) try {
  km::session<km::mpi> const session(argc, argv);
  km::environment const world;
  kr::messenger const ranks(world);

  // Rows of a grid are cut over the ranks, and each has a row of its neighbours beside its own.
  kr::grid const whole{{12, 5}, kr::ghost_width{1, 0}, kr::ranks_in{0, 1}};
  kr::share const mine = kr::share_of(whole, world.size(), world.rank());
  kr::bounds const owned = mine.owned();
  std::vector<double> h(std::size_t(mine.everywhere().size(2)), world.rank()); // the program's own
  auto const row = [&](std::int64_t i) { return &h[std::size_t(i * mine.extents[1])]; };

  std::vector<kr::message> sends, receives;
  auto const swap = [&](kr::side where, std::int64_t rim, std::int64_t ghosts) {
    if (mine.is_wall(0, where)) return;
    int const rank = mine.neighbour[0][std::size_t(where)];
    std::size_t const bytes = std::size_t(mine.extents[1]) * sizeof(double);
    sends.push_back({rank, reinterpret_cast<std::byte*>(row(rim)), bytes});
    receives.push_back({rank, reinterpret_cast<std::byte*>(row(ghosts)), bytes});
  };
  swap(kr::side::low, owned.begin[0], owned.begin[0] - 1);
  swap(kr::side::high, owned.end[0] - 1, owned.end[0]);

  kr::staged by(ranks);   // a transport, for one exchange after another
  kr::queue const host{}; // the data are there
  by.begin(host, sends, receives);
  by.finish(host);
  if (world.rank() == 1)
    std::cout << "between " << *row(owned.begin[0] - 1) << " and " << *row(owned.end[0]) << " lies "
              << *row(owned.begin[0]) << '\n';
} catch (keel::error const& e) {
  std::cerr << e.what() << '\n';
  return 2;
}
