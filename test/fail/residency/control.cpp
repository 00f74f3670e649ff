// SPDX-License-Identifier: MIT
#include "meshes.hpp"
#include "reductions.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>>, from_past<> {};
struct step : kr::schedule<kr::cycle<eta>, kr::exchange<kr::past<eta, 1>>, rhs> {};
void use(kr::fields<app, eta, du>& f) {
  f.run(rhs{});
  f.step(step{});
}

template struct kr::compiled<app, rhs>;
template struct kr::compiled<two_memories, smooth>;

struct output_step : kr::schedule<kr::cycle<eta>, advance, kr::exchange<eta>, smooth, kr::every<10, output>> {};
static_assert(kr::plan<two_memories, output_step, keel::simulated>::copies(kr::host, kr::device, kr::core) == 0);
struct scatter : kr::routine<"scatter", kr::on_device, kr::writes<kr::everywhere<du>>>, idle {};
struct show : kr::routine<"show", kr::on_host, kr::reads<du>>, idle {};
struct assembly : kr::schedule<scatter, kr::accumulate<du>, kr::exchange<du>, show> {};
void assemble(kr::fields<app, eta, du>& f) { f.step(assembly{}); }
void use(kr::fields<two_memories, eta>& f) { f.step(output_step{}); }

struct made : kr::routine<"made", kr::on_device, kr::in_pieces, kr::writes<eta>>, idle {};
struct cut_step : kr::schedule<made, kr::exchange<eta>> {};
void use_pieces(kr::fields<app, eta>& f) { f.step(cut_step{}); }

struct is_small {
  using reads = kr::reads<dt>;
  static bool holds(double step) { return step < 1; }
};
struct solver {
  enum class kind { plain, smoothed };
  static kind holds() { return kind::plain; }
};
struct smoothing : kr::schedule<advance_by, kr::exchange<eta>, smooth> {};
struct timed : kr::schedule<kr::cycle<eta>, dt, kr::choose<solver, advance_by, smoothing>, kr::when<is_small, output>> {
};
void use_reduction(kr::fields<two_memories, eta>& f) { f.step(timed{}); }

struct flux : kr::routine<"flux", kr::on_device, kr::reads<kr::layer<kr::past<h, 1>, 1>>, kr::writes<h>>, idle {};
struct mesh_step : kr::schedule<kr::cycle<h>, kr::exchange<kr::layer<kr::past<h, 1>, 1>>, flux> {};
void use_meshes(a_run& run, kr::partition<cells> const& c, kr::partition<edges> const& e) {
  kr::fields<app, h, un> f{run, c, e, kr::extra<h>{10}};
  f.step(mesh_step{});
  f.repartition(c, e), f.resize(kr::extra<h>{20}), f.reserve(cells{}, 100);
  f.migrate(cells{}, Kokkos::View<int*>("ranks", 100));
}
