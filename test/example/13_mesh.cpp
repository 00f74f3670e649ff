// SPDX-License-Identifier: MIT
// Heat on an uneven mesh: 600 cells in a ring, each beside a third one, too, which may lie on any rank.
#include <keel/keel.hpp>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace kr = keel::residency;

struct app : keel::defaults {};
struct cells : kr::mesh<"cells"> {};
struct heat : kr::variable<"heat", double*, kr::levels<2>, kr::on_mesh<cells>> {};
/// The local indices of the cells beside a cell.
struct beside : kr::variable<"beside", int* [3], kr::on_mesh<cells>, kr::without_ghosts> {};

constexpr std::int64_t count = 600;
/// The ids of the cells beside one, as a file would have them.
std::array<std::int64_t, 3> neighbours(std::int64_t id) {
  return {(id + 1) % count, (id + count - 1) % count, (7 * count - id) % count};
}

/// Runs once, on the host. What it writes is copied to a device in the first step that reads it there.
struct connect : kr::routine<"connect", kr::on_host, kr::writes<heat, beside>> {
  template <class V>
  static void run(V v, kr::partition<cells> const& c) {
    for (std::int64_t i = 0; i < v.owned(cells{}).end; ++i) {
      std::int64_t const id = c.ids()[std::size_t(i)];
      v(heat{})(i) = id == 20 ? 100 : 0;
      for (std::size_t k = 0; k < 3; ++k) v(beside{})(i, k) = int(*c.local_of(neighbours(id)[k]));
    }
  }
};

struct spread
    : kr::routine<"spread", kr::on_device, kr::reads<kr::past<heat, 1>, kr::owned<beside>>, kr::writes<heat>> {
  template <class V>
  static void run(V v) {
    auto const old = v(kr::past<heat, 1>{});
    auto const now = v(heat{});
    auto const to = v(beside{});
    kr::for_owned(
        v, cells{},
        KOKKOS_LAMBDA(int i) { now(i) = old(i) + 0.2 * (old(to(i, 0)) + old(to(i, 1)) + old(to(i, 2)) - 3 * old(i)); });
  }
};

struct warmest : kr::routine<"warmest", kr::on_device, kr::reads<kr::owned<heat>>> {
  template <class V>
  static double run(V v) {
    auto const h = v(heat{});
    return kr::reduce_owned(v, cells{}, keel::machine::maximum{}, KOKKOS_LAMBDA(int i) { return h(i); });
  }
};

struct step : kr::schedule<kr::cycle<heat>, spread, kr::exchange<heat>> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  auto const& env = run.environment();

  // This rank owns a piece of the ring. The cells beside it that it does not own are its ghosts, in one layer.
  std::vector<std::int64_t> owned;
  std::vector<std::array<std::int64_t, 3>> near;
  for (std::int64_t id = count * env.rank() / env.size(); id < count * (env.rank() + 1) / env.size(); ++id)
    owned.push_back(id), near.push_back(neighbours(id));
  kr::partition<cells> const c{env, kr::grow<cells>(env, owned, near, 1)};

  kr::fields<app, heat, beside> f{run, c};
  f.run(connect{}, c);
  f.run(kr::exchange<heat>{});
  for (int n = 0; n < 100; ++n) f.step(step{});
  double const most = keel::machine::max(env, f.run(warmest{}));
  if (env.is_master()) std::printf("the warmest cell has %.9f of 100\n", most);
} catch (std::exception const& e) {
  return keel::report(e);
}
