// SPDX-License-Identifier: MIT
#include <ocean/case.hpp>

#include <ocean/state.hpp>

#include <support/test.hpp>

namespace {

using ocean::experiment;
using ocean::flow;

ocean::state solution(experiment const& e, double time) {
  ocean::state s;
  for (long i = 0; i < e.nx(); ++i)
    for (long j = 0; j < e.ny(); ++j) {
      s.eta.push_back(e.eta(i, j, time));
      for (int k = 0; k < e.equations().layers; ++k) {
        s.u.push_back(e.u(i, j, k, time));
        s.v.push_back(e.v(i, j, k, time));
      }
    }
  return s;
}

} // namespace

TEST_CASE("ocean: every solution satisfies the equations where the grid is fine") {
  for (flow which : {flow::wave, flow::jet, flow::shear}) {
    constexpr int layers = 64;
    experiment const e(which, 2000, 2000, layers);
    ocean::physics const p = e.equations();
    double const t = which == flow::jet ? 0 : 4321, moment = 1;
    auto const per_time = [&](auto const& f) { return (f(t + moment) - f(t - moment)) / (2 * moment); };
    for (long i : {3L, 700L, 1999L})
      for (long j : {400L, 1003L, 1400L}) {
        double flux = 0;
        for (int k = 0; k < layers; ++k)
          flux += p.layer_depth *
                  ((e.u(i + 1, j, k, t) - e.u(i, j, k, t)) / p.dx + (e.v(i, j + 1, k, t) - e.v(i, j, k, t)) / p.dy);
        double const rise = per_time([&](double s) { return e.eta(i, j, s); });
        CHECK(std::abs(rise + flux) <= 1e-8);

        int const k = 20;
        double const mix_u = ocean::viscosity / (p.layer_depth * p.layer_depth) *
                             (e.u(i, j, k + 1, t) - 2 * e.u(i, j, k, t) + e.u(i, j, k - 1, t));
        double const v = (e.v(i, j, k, t) + e.v(i, j + 1, k, t) + e.v(i - 1, j, k, t) + e.v(i - 1, j + 1, k, t)) / 4;
        double const slope = (e.eta(i, j, t) - e.eta(i - 1, j, t)) / p.dx;
        double const push = per_time([&](double s) { return e.u(i, j, k, s); });
        CHECK(std::abs(push - p.coriolis * v + p.gravity * slope - mix_u) <= 1e-9);
      }
  }
}

TEST_CASE("ocean: a case looks the same to the rank that holds the far side of the border") {
  experiment const e(flow::wave, 12, 10, 2);
  CHECK(e.eta(12, 3, 50) == doctest::Approx(e.eta(0, 3, 50)));
  CHECK(e.v(5, 10, 1, 50) == doctest::Approx(e.v(5, 0, 1, 50)));
  CHECK(experiment(flow::jet, 12, 10, 2).v(5, 0, 1, 0) == 0);
  CHECK(experiment(flow::jet, 12, 10, 2).closed_in_y());
}

TEST_CASE("ocean: the solution is judged to be right, and what is not it to be wrong") {
  experiment const e(flow::wave, 12, 10, 3);
  double const time = 1000;
  auto s = solution(e, time);
  auto const right = judge(e, time, s);
  CHECK(right.energy == 0);
  CHECK(right.height == 0);
  CHECK(right.volume < 1e-15);

  s.eta[17] += 0.1 * ocean::amplitude;
  auto const wrong = judge(e, time, s);
  CHECK(wrong.energy > 1e-3);
  CHECK(wrong.height == doctest::Approx(0.1));
  CHECK(wrong.volume == doctest::Approx(0.1 * ocean::amplitude / (ocean::depth * 12 * 10)));

  s.eta[17] = std::numeric_limits<double>::quiet_NaN();
  auto const lost = judge(e, time, s);
  CHECK((std::isnan(lost.energy) && std::isnan(lost.height) && std::isnan(lost.volume)));

  s = solution(e, time);
  s.v[100] += 1;
  CHECK(judge(e, time, s).energy > 1e-2);
  CHECK(judge(e, time, s).height == 0);
}
