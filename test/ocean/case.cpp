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
