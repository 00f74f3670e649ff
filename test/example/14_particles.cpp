// SPDX-License-Identifier: MIT
// Particles in a box with open sides: each belongs to the rank that has its part of the box, and moves there with all
// that is known of it.
#include <keel/keel.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace km = keel::machine;
namespace kr = keel::residency;

struct app : keel::defaults {};
struct atoms : kr::mesh<"atoms"> {};
struct position : kr::variable<"position", double* [2], kr::on_mesh<atoms>, kr::without_ghosts> {};
struct velocity : kr::variable<"velocity", double* [2], kr::on_mesh<atoms>, kr::without_ghosts> {};
struct rank_of : kr::variable<"rank_of", int*, kr::on_mesh<atoms>, kr::without_ghosts> {};

constexpr std::int64_t count = 1000;

/// Places particles by their ids, so that the result does not depend on the ranks.
struct place : kr::routine<"place", kr::on_host, kr::writes<position, velocity>> {
  template <class V>
  static void run(V v, kr::partition<atoms> const& all) {
    auto const x = v(position{}), u = v(velocity{});
    for (std::int64_t i = 0; i < all.size(); ++i) {
      std::int64_t const id = all.ids()[std::size_t(i)];
      x(i, 0) = double(id) / count, x(i, 1) = double(id * 37 % count) / count;
      u(i, 0) = double(id * 61 % 200 - 100) / 100, u(i, 1) = double(id * 17 % 200 - 100) / 100;
    }
  }
};

/// Moves particles; those that reach a side come in again at the other one. The box is cut along its first dimension.
struct drift
    : kr::routine<"drift", kr::on_device, kr::reads<kr::owned<velocity>>, kr::updates<position>, kr::writes<rank_of>> {
  template <class V>
  static void run(V v, double dt, int ranks) {
    auto const x = v(position{});
    auto const u = v(velocity{});
    auto const to = v(rank_of{});
    kr::for_owned(
        v, atoms{}, KOKKOS_LAMBDA(int i) {
          for (int d = 0; d < 2; ++d) {
            x(i, d) += dt * u(i, d);
            x(i, d) += x(i, d) < 0 ? 1 : x(i, d) >= 1 ? -1 : 0;
          }
          int const part = int(x(i, 0) * ranks);
          to(i) = part < ranks ? part : 0; // rounded up to the end of the box, which is its beginning
        });
  }
};

/// Where each particle has to go: it is copied to the host, because this runs there.
struct destinations : kr::routine<"destinations", kr::on_host, kr::reads<kr::owned<rank_of>>> {
  template <class V>
  static auto run(V v) {
    return v(rank_of{});
  }
};

/// How many of this rank's particles are in the lower half.
struct low : kr::routine<"low", kr::on_device, kr::reads<kr::owned<position>>> {
  template <class V>
  static std::int64_t run(V v) {
    auto const x = v(position{});
    return kr::sum_owned(v, atoms{}, KOKKOS_LAMBDA(int i) { return x(i, 1) < 0.5 ? 1 : 0; });
  }
};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  auto const& env = run.environment();
  std::vector<std::int64_t> mine; // each rank begins with some, wherever they are: the first step sends them home
  for (std::int64_t id = env.rank(); id < count; id += env.size()) mine.push_back(id);
  kr::partition<atoms> const all{env, mine};
  kr::fields<app, position, velocity, rank_of> f{run, all};
  f.run(place{}, all);
  for (int n = 0; n < 100; ++n) {
    f.step(drift{}, 0.01, env.size());
    f.migrate(atoms{}, f.run(destinations{})); // all variables of an atom travel in one message
  }
  std::int64_t const here = f.partition_of(atoms{}).size(), in_all = km::sum(env, here),
                     below = km::sum(env, f.run(low{}));
  if (env.is_master()) std::printf("%ld of %ld particles are in the lower half\n", long(below), long(in_all));
} catch (std::exception const& e) {
  return keel::report(e);
}
