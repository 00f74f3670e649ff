// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>
#include <vector>

namespace kr = keel::residency;
namespace km = keel::machine;

struct app : keel::defaults {};
struct cells : kr::mesh<"cells"> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  int const rank = run.environment().rank(), ranks = run.environment().size();

  Kokkos::ScopeGuard const kokkos{argc, argv}; // the application's own

  // The application's: a ring of cells, and arrays on them.
  std::vector<std::int64_t> owned, ghosts;
  for (int n = 0; n < 4; ++n) owned.push_back(4 * rank + n);
  for (int const n : {4 * rank - 1, 4 * rank + 4}) ghosts.push_back((n + 4 * ranks) % (4 * ranks));
  Kokkos::View<double**, Kokkos::HostSpace> t("t", 6, 60), before("before", 6, 60);
  std::vector<float> depth(6, float(rank));
  Kokkos::deep_copy(t, rank);

  // Adopted by keel: who has which cells is said once, and then ghosts are exchanged.
  kr::partition<cells> const c{run.environment(), owned, ghosts};
  kr::exchanger const x{run, c};
  x.exchange(kr::array_on<cells>(t), kr::array_on<cells>(depth.data(), kr::extents{6}));

  // A plan, for what is exchanged again and again: of any arrays that lie so, such as two time levels.
  auto const plan = x.plan(kr::array_on<cells>(t));
  for (int step = 0; step < 3; ++step) {
    auto const open = plan.begin(Kokkos::DefaultHostExecutionSpace{}, t);
    for (int cell = 1; cell < 3; ++cell) before(cell, 0) = t(cell - 1, 0) + t(cell + 1, 0); // needs no ghost
  } // here the ghosts are filled

  // The same of a code that starts by itself, with a list that is as long as it happens to be.
  auto const comm = run.environment().comm();
  bool const has_depth = rank < ranks;
  {
    kr::exchanger const x{km::environment{km::borrow, comm}, c}; // KEEL_EXCHANGE_THROUGH names a transport
    std::vector<kr::any_array> fields{kr::array_on<cells>(t)};
    if (has_depth) fields.push_back(kr::array_on<cells>(depth.data(), kr::extents{6}));
    x.exchange(fields);
  }
  if (rank == 1)
    std::cout << "beside " << t(0, 0) << " lie " << t(4, 0) << " and " << t(5, 0) << ", beside " << depth[0] << " lie "
              << depth[4] << " and " << depth[5] << '\n';
} catch (keel::error const& e) {
  std::cerr << e.what() << '\n';
  return 2;
}
