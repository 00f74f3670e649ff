// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>
#include <vector>

namespace kr = keel::residency;

struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::simulated>>;
};
struct cells : kr::mesh<"cells"> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  Kokkos::ScopeGuard const kokkos{argc, argv};
  int const rank = run.environment().rank(), ranks = run.environment().size();
  std::vector<std::int64_t> owned, ghosts;
  for (int n = 0; n < 4; ++n) owned.push_back(4 * rank + n);
  for (int const n : {4 * rank - 1, 4 * rank + 4}) ghosts.push_back((n + 4 * ranks) % (4 * ranks));
  kr::partition<cells> const c{run.environment(), owned, ghosts};
  Kokkos::View<double**, Kokkos::HostSpace> const host_view("h", 6, 60); // the application's

  kr::registry f{run, c};
  auto const h = f.adopt<cells>("h", host_view);
  auto const q = f.add<double**, cells>("q", kr::extents{60}, kr::levels<2>{});
  Kokkos::deep_copy(host_view, rank);
  f.notify_data_modified(kr::on_host{}, {h.only(kr::region::owned)});
  for (int step = 0; step < 2; ++step) {
    f.cycle(q);
    f.exchange({h});
    auto const a = f.use("advect", kr::on<keel::simulated>{}, kr::reading{h}, kr::writing{q.only(kr::region::owned)});
    auto const from = a.view<double const**>(h);
    auto const to = a.view<double**>(q);
    Kokkos::parallel_for(
        Kokkos::RangePolicy(a.execution_space(), 0, 4), KOKKOS_LAMBDA(int i) {
          int const before = i == 0 ? 4 : i - 1, after = i == 3 ? 5 : i + 1; // 4 and 5 are the ghosts
          to(i, 0) = from(before, 0) + from(after, 0);
        });
  }
  {
    auto const b = f.use("print", kr::on_host{}, kr::reading{q.only(kr::region::owned)});
    auto const result = b.view<double const**>(q);
    if (rank == 1) std::cout << result(0, 0) << ' ' << result(3, 0) << '\n';
  }
  try {
    auto const late = f.use("look", kr::on_host{}, kr::reading{q}); // its ghosts were not exchanged
  } catch (keel::error const& e) {
    if (rank == 1) std::cout << e.what() << '\n';
  }
} catch (keel::error const& e) {
  std::cerr << e.what() << '\n';
  return 2;
}
