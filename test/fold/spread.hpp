// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A tracer that spreads over the seams of a grid: its amount stays what it was, and no bit depends on the ranks.

#include <residency/in_folder.hpp>
#include <residency/model.hpp>

#include <keel/residency/gather.hpp>
#include <keel/schedule/checkpoint.hpp>

#include <numeric>

namespace {

using namespace test;

struct tracer : kr::variable<"tracer", double**, kr::levels<2>> {};
struct spread
    : kr::routine<"spread", kr::on_device, kr::in_pieces, kr::reads<kr::past<tracer, 1>>, kr::writes<tracer>> {
  template <class V>
  static void run(V v) {
    auto const now = v(tracer{});
    auto const was = v(kr::past<tracer, 1>{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          now(i, j) = 0.6 * was(i, j) + 0.1 * (was(i - 1, j) + was(i + 1, j) + was(i, j - 1) + was(i, j + 1));
        });
  }
};
struct step : kr::schedule<kr::cycle<tracer>, spread, kr::exchange<tracer>, kr::mirror<tracer>> {};
struct count_cells : kr::routine<"count_cells", kr::on_device, kr::reads<kr::owned<tracer>>> {
  template <class V>
  static double run(V v) {
    return kr::sum_owned(v, KOKKOS_LAMBDA(int, int) { return 1.0; });
  }
};

/// A tracer, and variables that are only kept, all numbered by place.
template <class... Kept>
struct mixture {
  kr::fields<app_left, tracer, Kept...> f;

  mixture(run<km::mpi>& r, kr::grid const& g) : f(r, g) {}
  void begin() {
    fill<kr::owned<tracer>>(f), (fill<kr::owned<Kept>>(f), ...);
    f.run(kr::exchange<tracer, Kept...>{}), f.run(kr::mirror<tracer>{});
  }
  void run_steps(auto schedule, int n) {
    for (int k = 0; k < n; ++k) f.step(schedule);
  }
  /// All values, on the first rank.
  std::vector<double> whole() {
    std::vector<double> made;
    auto const add = [&](auto const& all) { made.insert(made.end(), all.data(), all.data() + all.size()); };
    add(kr::gather(f, tracer{}, 0)), (add(kr::gather(f, Kept{}, 0)), ...);
    return made;
  }
};

/// There are so many cells, and so many of the last values are there twice, or of half a cell.
void try_spreading(auto const& grid_for, int cells, int halves) {
  check_same_on_all_ranks([&](run<km::mpi>& some) {
    mixture<> all(some, grid_for(some.environment().size()));
    auto const amount = [&] {
      auto const values = all.whole();
      return std::accumulate(values.begin(), values.end(), 0.0) -
             std::accumulate(values.end() - (values.empty() ? 0 : halves), values.end(), 0.0) / 2;
    };
    all.begin();
    double const before = amount();
    all.run_steps(step{}, 20);
    double here = 0;
    for (int b = 0; b < all.f.components(); ++b) here += all.f.run(count_cells{}, kr::component{b});
    CHECK(km::sum(some.environment(), here) == cells);
    CHECK(amount() == doctest::Approx(before).epsilon(1e-13));
    return all.whole();
  });
}
template <class... Kept>
void try_restarts(auto const& grid_for, kr::grid const& other) {
  using saved_step = kr::schedule<step, kr::every<4, kr::checkpoint<"spread", kr::keep<Kept>...>>>;
  for_numbers_of_ranks([&](int before, int after) {
    std::vector<double> wanted;
    on_ranks(before, "simulated", [&](auto& some) {
      mixture<Kept...> all(some, grid_for(before));
      all.begin(), all.run_steps(saved_step{}, 7), wanted = all.whole();
      all.f.run(kr::save<"tracer", tracer>{});
    });
    on_ranks(after, host::name, [&](auto& some) {
      mixture<Kept...> all(some, grid_for(after)), elsewhere(some, other);
      all.f.restart("spread"), all.run_steps(step{}, 3);
      CHECK(all.whole() == wanted);
      CHECK(keel::test::refuses([&] { elsewhere.f.restart("spread"); },
                                "or the ghosts, periodic dimensions or folds differ"));
    });
  });
}

} // namespace
