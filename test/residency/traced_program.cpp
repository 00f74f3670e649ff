// SPDX-License-Identifier: MIT
/// @file
/// A program that is traced, for trace_end.cpp: two steps, and then what its argument says; or a mesh, whose elements
/// move. It is built alone, and on ranks.
#include <keel/keel.hpp>

#include "routines.hpp"

#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace kr = keel::residency;

// Not without a name: nvcc loses such a namespace among the arguments of a kernel.
namespace traced {

struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::simulated>>;
#if !KEEL_TEST_ON_RANKS
  using ranks = keel::machine::alone;
#endif
  using tracking = kr::traced;
};
struct heat : kr::variable<"heat", double*, kr::levels<2>> {};
struct init : kr::routine<"init", kr::on_host, kr::writes<kr::everywhere<heat>>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v(heat{}), 1.0);
  }
};
struct warm : test::empty<"warm", kr::on<keel::simulated>, kr::reads<kr::past<heat, 1>>, kr::writes<heat>> {};
struct show : test::empty<"show", kr::on_host, kr::reads<kr::owned<heat>>> {};
struct step : kr::schedule<kr::cycle<heat>, warm, kr::exchange<heat>, show> {};

// Each element ends with the number of copies that there are of it, its own included.
struct cells : kr::mesh<"cells"> {};
struct load : kr::variable<"load", double*, kr::levels<2>, kr::on_mesh<cells>> {};
struct one_each : kr::routine<"one_each", kr::on<keel::simulated>, kr::writes<kr::everywhere<load>>> {
  template <class V>
  static void run(V v) {
    auto const x = v(load{});
    kr::for_each_element(v, {0, v.ghosts(cells{}).end}, KOKKOS_LAMBDA(int i) { x(i) = 1; });
  }
};
struct count_copies : kr::schedule<kr::cycle<load>, one_each, kr::accumulate<load>, kr::exchange<load>> {};
struct sum_copies : kr::routine<"sum_copies", kr::on_host, kr::reads<load>> {
  template <class V>
  static double run(V v) {
    auto const x = v(load{});
    return kr::sum_owned(v, cells{}, [x](int i) { return x(i); });
  }
};

/// Ten elements a rank, with ghosts of three of the next ten, and one of its own.
template <class Environment>
kr::partition<cells> cut(Environment const& env, std::vector<std::int64_t> owned) {
  std::int64_t const next = (owned.front() / 10 + 1) % env.size() * 10;
  std::vector<std::int64_t> ghosts{next, next + 5, next + 9};
  if (env.size() > 1) ghosts.push_back(owned.back());
  return {env, owned, ghosts};
}
/// What `then` says happens to one rank when the others wait for it.
template <class Run>
int with_mesh(Run& run, std::string_view then) {
  auto const& env = run.environment();
  std::vector<std::int64_t> owned;
  for (int i = 0; i < 10; ++i) owned.push_back(10 * env.rank() + i);
  kr::fields<app, load> f{run, cut(env, owned)};
  double const wanted = f.partition_of(cells{}).size();
  f.step(count_copies{});
  bool is_right = keel::machine::sum(env, f.run(sum_copies{})) == keel::machine::sum(env, wanted);
  if (env.rank() == env.size() - 1 && then == "mesh gives up") throw std::runtime_error("the program's own error");
  if (env.rank() == env.size() - 1 && then == "mesh dies") std::raise(SIGKILL);
  f.migrate(cells{}, std::vector<int>(10, (env.rank() + 1) % env.size()));
  auto const part = f.partition_of(cells{});
  f.repartition(cut(env, {part.ids().begin(), part.ids().end()}));
  f.run(kr::exchange<load>{});
  is_right = is_right && keel::machine::sum(env, f.run(sum_copies{})) == keel::machine::sum(env, wanted);
  return is_right ? 0 : 3;
}

// What runs on the device is recorded, and launched in later steps. In one of these it kills the process.
struct quick : app {
  using tracking = kr::automatic;
  using exchange = kr::on_device;
};
bool dies = false;
int calls = 0;
struct launch : kr::routine<"launch", kr::on<keel::simulated>, kr::reads<kr::past<heat, 1>>, kr::writes<heat>> {
  template <class V>
  static void run(V v) {
    ++calls;
    Kokkos::parallel_for("launch", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1), [](int) {
      if (dies) std::raise(SIGKILL);
    });
  }
};
int with_graph(auto& run, bool last_dies) {
  kr::fields<quick, heat> f{run, kr::grid{{100}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(init{});
  for (int n = 0; n < 40; ++n) {
    dies = last_dies && n >= 20 && run.environment().rank() + 1 == run.environment().size();
    f.step(kr::graph<kr::cycle<heat>, launch, kr::exchange<heat>>{});
    if (n < 20) calls = 0;
  }
  return calls;
}

} // namespace traced
using namespace traced;

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  std::string_view const then = argc > 1 ? argv[1] : "";
  if (then.starts_with("graph")) return with_graph(run, then == "graph dies");
  if (then.starts_with("mesh")) return with_mesh(run, then);
  kr::fields<app, heat> f{run, kr::grid{{100}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(init{});
  int const steps = then == "long" ? 100 : then.empty() ? 2 : 0; // without one, all lines are kept until the end
  for (int n = 0; n < steps; ++n) f.step(step{});
  if (then == "throw") throw std::runtime_error("the program's own error");
  return then == "one" ? 1 : 0;
} catch (std::exception const& e) {
  return keel::report(e);
}
