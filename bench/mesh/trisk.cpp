// SPDX-License-Identifier: MIT

/// @file
/// The shallow-water equations on Voronoi cells by TRiSK, as MPAS and OMEGA solve them: a mesh, its operators, and two
/// cases of Williamson's. No call of MPI, no copy between memories and no choice of a device stands here.

#include "../output.hpp"
#include "by_hand.hpp"
#include "cut.hpp"
#include "functions.hpp"
#include "makers.hpp"
#include "model.hpp"
#include "options.hpp"
#include "williamson.hpp"

#include <keel/residency/gather.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace trisk;
namespace km = keel::machine;

using runtime = keel::runtime<app>;
struct position : kr::variable<"position", double* [3], kr::on_mesh<cells>> {}; // of cells, m
/// A list of variables for a template that takes them.
template <template <class...> class To, class... Before>
using with_variables = To<Before..., edges_on_cell, cells_on_edge, vertices_on_edge, edges_on_edge, cells_on_vertex,
                          edges_on_vertex, outflow, area_cell, dc, dv, weights, circulation, kites, area_triangle,
                          bottom, coriolis, h, u, q, q_edge, flux, bernoulli, divergence, vorticity, laplacian>;
using fields = with_variables<kr::fields, app, position>;
template <class Hand>
using hand_over_all =
    hand_over<Hand, edges_on_cell, cells_on_edge, vertices_on_edge, edges_on_edge, cells_on_vertex, edges_on_vertex,
              outflow, area_cell, dc, dv, weights, circulation, kites, area_triangle, bottom, coriolis, h, u>;

template <class... Ts>
void row(char const* name, char const* format, Ts... values) {
  bench::row<26>(name, format, values...);
}

/// Mass, energy and potential enstrophy of what this rank owns.
struct totals
    : kr::routine<"totals", kr::on_host, reads_mesh, kr::reads<kr::layer<h, 1>, kr::layer<u, 2>, bottom, coriolis>> {
  template <class V>
  static std::array<km::exact_sum, 3> run(V v, double const& gravity) {
    std::array<km::exact_sum, 3> all;
    operators const on(v);
    auto const thick = v(h{}), below = v(bottom{}), area = v(area_cell{}), triangle = v(area_triangle{}),
               f = v(coriolis{});
    auto const speed = v(u{});
    for (int i = 0; i < v.owned(cells{}).end; ++i) {
      all[0] += area(i) * thick(i);
      all[1] += area(i) * thick(i) * (on.kinetic_energy(i, speed) + gravity * (0.5 * thick(i) + below(i)));
    }
    for (int i = 0; i < v.owned(vertices{}).end; ++i) {
      double const absolute = f(i) + on.curl(i, speed);
      all[2] += triangle(i) * absolute * absolute / (2 * on.at_vertex(i, thick));
    }
    return all;
  }
};

/// What this rank owns of a variable, in the order of its partition.
template <class X, class Mesh>
struct owned_of : kr::routine<"owned_of", kr::on_host, kr::reads<kr::owned<X>>> {
  template <class V>
  static std::vector<double> run(V v) {
    auto const x = v(X{});
    std::vector<double> all(std::size_t(v.owned(Mesh{}).end));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = x(i);
    return all;
  }
};

struct set_positions : kr::routine<"set_positions", kr::on_host, kr::writes<position>> {
  template <class V>
  static void run(V v, mesh const& m, cut const& here) {
    auto const x = v(position{});
    for (int i = 0; i < v.owned(cells{}).end; ++i) {
      point const p = m.cells[std::size_t(here.c.ids()[std::size_t(i)])];
      x(i, 0) = p.x, x(i, 1) = p.y, x(i, 2) = p.z;
    }
  }
};
struct last_state : kr::save<"state", kr::owned<h>, kr::owned<bottom>, kr::owned<position>> {};

class simulation {
public:
  simulation(runtime& run, options const& o)
      : run_(run), o_(o), m_(o.nx > 0 ? hexagons(o.nx, o.ny, o.width) : icosahedral(o.level, williamson::radius)),
        owners_(owners_of(m_, run.environment().size())), here_(run.environment(), m_, owners_),
        f_(run, here_.c, here_.e, here_.v, kr::extra<edges_on_cell>{6}, kr::extra<outflow>{6},
           kr::extra<cells_on_edge>{2}, kr::extra<vertices_on_edge>{2}, kr::extra<edges_on_edge>{10},
           kr::extra<weights>{10}, kr::extra<cells_on_vertex>{3}, kr::extra<edges_on_vertex>{3},
           kr::extra<circulation>{3}, kr::extra<kites>{3}) {
    f_.run(set_mesh{}, m_, here_);
    auto const ghosts = km::sum(env(), here_.c.size() - here_.c.owned().end);
    auto const between = std::ranges::count_if(
        m_.cells_on_edge, [&](auto const& c) { return owners_[std::size_t(c[0])] != owners_[std::size_t(c[1])]; });
    if (is_master() && env().size() > 1)
      row("cut", "%lld edges between ranks, %lld ghosts of cells", static_cast<long long>(between),
          static_cast<long long>(ghosts));
    if (is_master())
      row("mesh", "%zu cells, %zu edges, %zu vertices, %g to %g m between cells", m_.cells.size(), m_.edges.size(),
          m_.vertices.size(), std::ranges::min(m_.dc), std::ranges::max(m_.dc));
  }

  void try_operators() {
    trisk::try_operators(f_, env(), m_, here_, [&](char const* name, deviation d) {
      if (is_master()) row(name, "%.15e %.15e", d.largest, d.square);
    });
  }

  /// Sets the state of the begin, and the length of the steps; returns their number.
  long begin() {
    double const seconds = o_.days * williamson::day;
    if (p_.dt == 0) p_.dt = 0.5 * std::ranges::min(m_.dc) / (std::sqrt(p_.gravity * what_.depth()) + what_.speed());
    long const steps = o_.steps > 0 ? o_.steps : long(std::ceil(seconds / p_.dt));
    if (o_.steps == 0) p_.dt = seconds / double(steps);
    centroids_ = centroids(m_);
    f_.run(fill<h, cells>{}, here_, [&](std::size_t i) { return what_.thickness(centroids_[i]); });
    f_.run(fill<bottom, cells>{}, here_, [&](std::size_t i) { return what_.bottom(centroids_[i]); });
    f_.run(fill<u, edges>{}, here_, [&](std::size_t i) { return what_.velocity(m_, i); });
    f_.run(fill<coriolis, vertices>{}, here_, [&](std::size_t i) { return what_.coriolis(m_.vertices[i]); });
    f_.run(kr::exchange<h, bottom, u, coriolis>{});
    return steps;
  }

  /// Runs the steps by hand, in turns with those of keel.
  void compare_by_hand() {
    long const steps = begin();
    keel::with_device<app::devices>(run_.device_name(), [&]<class Tag>(Tag) {
      using space = typename keel::device_traits<Tag>::execution_space;
      using hand = with_variables<by_hand, space>;
      hand other(run_.template execution_space<Tag>(), here_, env());
      f_.run(hand_over_all<hand>{}, other);
      other.template make<q>(here_.v.size()), other.template make<q_edge>(here_.e.size());
      other.template make<flux>(here_.e.size()), other.template make<bernoulli>(here_.c.size());
      auto const t = bench::steps_in_turns(
          env(), run_.template execution_space<Tag>(), steps, [&] { f_.step(step{}, p_); }, [&] { other.step(p_); });
      auto const is_same = [&]<class X, class Mesh>(X, Mesh) {
        auto const mine = f_.run(owned_of<X, Mesh>{});
        auto const others = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), other.template array<X>(0));
        return std::memcmp(mine.data(), others.data(), mine.size() * sizeof(double)) == 0;
      };
      bench::print<26>(t, env(), run_.device_name(), km::all_of(env(), is_same(h{}, cells{}) && is_same(u{}, edges{})));
    });
  }

  void integrate() {
    long const steps = begin();
    auto const before = sums();
    char const* const names[] = {"mass", "energy", "potential enstrophy"};
    auto const print_changes = [&](std::array<double, 3> const& after) {
      for (std::size_t k = 0; is_master() && k < 3; ++k)
        row(names[k], "%.3e changed, relative", (after[k] - before[k]) / before[k]);
    };
    double passed = 0, moved = 0;
    long const first = f_.restart<step>() ? long(f_.steps()) : 0;
    for (long n = first; n < steps;) {
      f_.reset_traffic();
      long const last = o_.every > 0 ? std::min(steps, (n / o_.every + 1) * o_.every) : steps;
      km::barrier(env());
      Kokkos::Timer clock;
      while (n < last) f_.step(step{}, p_), ++n;
      keel::with_device<app::devices>(run_.device_name(),
                                      [&]<class Tag>(Tag) { run_.template execution_space<Tag>().fence(); });
      passed += km::max(env(), clock.seconds());
      auto const& traffic = f_.traffic();
      moved += double(traffic.bytes(kr::way::to_host) + traffic.bytes(kr::way::to_device));
      if (n == steps) break;
      if (is_master()) row("after", "%.4g days", double(n) * p_.dt / williamson::day);
      print_changes(sums());
    }
    if (is_master()) {
      row("case", "%d of Williamson et al. (1992), %ld steps of %.6g s, %.4g days", o_.which, steps, p_.dt,
          double(steps) * p_.dt / williamson::day);
      row("time per step", "%.6f ms on %s, device %s", 1e3 * passed / double(std::max(1L, steps - first)),
          keel::policy::counted(env().size(), "rank").c_str(), std::string(run_.device_name()).c_str());
    }
    moved = km::sum(env(), moved);
    if (is_master()) row("bytes moved", "%.0f between memories", moved);
    print_changes(sums());
    if (o_.which != 2) return;
    deviation const dh =
        deviation_of<h, cells>(f_, env(), m_, here_, [&](std::size_t i) { return what_.thickness(centroids_[i]); });
    deviation const du =
        deviation_of<u, edges>(f_, env(), m_, here_, [&](std::size_t i) { return what_.velocity(m_, i); });
    if (is_master())
      row("error of h", "%.6e %.6e", dh.largest, dh.square), row("error of u", "%.6e %.6e", du.largest, du.square);
  }

  void write_last(bench::output_folder const& to) {
    if (!o_.dump.empty()) to.dump(o_.dump, whole<h>() + whole<u>());
    if (o_.output.empty()) return;
    to.enter();
    f_.run(set_positions{}, m_, here_);
    f_.run(last_state{});
    if (is_master()) row("output", "%s", (std::filesystem::path(o_.output) / "state.vtkhdf.series").c_str());
  }

private:
  /// A variable of all ranks by the numbers of its elements, as bytes, on the master.
  template <class X>
  std::string whole() {
    auto const all = kr::gather(f_, X{}, env().master_rank());
    return {reinterpret_cast<char const*>(all.data()), all.size() * sizeof(double)};
  }
  [[nodiscard]] km::environment const& env() const { return run_.environment(); }
  [[nodiscard]] bool is_master() const { return env().is_master(); }
  std::array<double, 3> sums() {
    auto const all = km::sum(env(), f_.run(totals{}, williamson::gravity));
    return {all[0].value(), all[1].value(), all[2].value()};
  }

  runtime& run_;
  options const& o_;
  mesh m_;
  std::vector<int> owners_;      ///< of cells
  std::vector<point> centroids_; ///< of them, if a case begins: h is a mean over a cell
  cut here_;
  fields f_;
  williamson what_{o_.which};
  physics p_{o_.dt, williamson::gravity};
};

} // namespace

int main(int argc, char** argv) {
  return bench::start<app>("trisk", argc, argv, help_text, read_options, [](runtime& run, options const& o) {
    simulation s(run, o);
    if (o.operators) {
      s.try_operators();
    } else if (o.by_hand) {
      s.compare_by_hand();
    } else {
      bench::output_folder const to("trisk", run.environment(), o.output, o.dump);
      s.integrate();
      s.write_last(to);
    }
  });
}
