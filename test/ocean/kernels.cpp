// SPDX-License-Identifier: MIT
#include <ocean/kernels.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

using space = Kokkos::DefaultHostExecutionSpace;

constexpr int nx = 5, ny = 7, layers = 11;

/// Numbers without a pattern, the same at every call, in [-1, 1).
double number(int n) {
  double const x = std::sin(double(n) * 12.9898) * 43758.5453;
  return 2 * (x - std::floor(x)) - 1;
}

ocean::physics some_physics() {
  ocean::physics p;
  p.layers = layers;
  p.coriolis = 0.3;
  p.gravity = 9.81;
  p.layer_depth = 2;
  p.dx = 3;
  p.dy = 5;
  p.dt = 0.1;
  return p;
}

template <class Layout = Kokkos::LayoutRight>
struct sea {
  using field = Kokkos::View<double**, Layout, Kokkos::HostSpace>;
  using layered = Kokkos::View<double***, Layout, Kokkos::HostSpace>;
  field eta{"eta", nx + 2, ny + 2}, deta{"deta", nx + 2, ny + 2};
  layered u{"u", nx + 2, ny + 2, layers}, v{"v", nx + 2, ny + 2, layers};
  layered du{"du", nx + 2, ny + 2, layers}, dv{"dv", nx + 2, ny + 2, layers};

  /// Fills what is owned, then in x the ghosts, as on one rank.
  sea() {
    for (int i = 0; i < nx + 2; ++i)
      for (int j = 0; j < ny + 2; ++j) {
        int const from = ((i + nx - 1) % nx) * 100 + j;
        eta(i, j) = number(from);
        for (int k = 0; k < layers; ++k) {
          u(i, j, k) = number(from + 1000 * k + 7);
          v(i, j, k) = j == 1 ? 0 : number(from + 1000 * k + 13);
        }
      }
  }

  void tend(ocean::part here) const {
    ocean::run_columns("tendency", space{}, here, ocean::tendency{eta, u, v, deta, du, dv, some_physics(), here});
    space{}.fence();
  }
};

} // namespace

TEST_CASE("ocean: the mixing solves its tridiagonal system, whatever columns go together") {
  ocean::physics const p = some_physics();
  double const a = 0.7;
  ocean::part const here{1, nx + 1, 1, ny + 1, false, false};
  sea<> const old, s;
  ocean::run_columns("leap", space{}, here,
                     ocean::leap{old.eta, old.deta, old.u, old.v, s.du, s.dv, s.eta, s.u, s.v, p,
                                 ocean::mixing(layers, a), here});
  space{}.fence();
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j)
      for (auto const* x : {&s.u, &s.v}) {
        auto const& r = x == &s.u ? old.u : old.v;
        for (int k = 0; k < layers; ++k) {
          double const below = k > 0 ? (*x)(i, j, k) - (*x)(i, j, k - 1) : 0;
          double const above = k + 1 < layers ? (*x)(i, j, k) - (*x)(i, j, k + 1) : 0;
          CHECK((*x)(i, j, k) + a * (below + above) == doctest::Approx(r(i, j, k)).epsilon(1e-13));
        }
      }
}

TEST_CASE("ocean: rows with contiguous layers and columns side by side give the same bits") {
  ocean::physics const p = some_physics();
  ocean::part const here{1, nx + 1, 1, ny + 1, true, false};
  ocean::mixing const mix(layers, 0.7);
  sea<Kokkos::LayoutRight> const a, a_new;
  sea<Kokkos::LayoutLeft> const b, b_new;
  ocean::tendency const a_tends{a.eta, a.u, a.v, a.deta, a.du, a.dv, p, here};
  ocean::tendency const b_tends{b.eta, b.u, b.v, b.deta, b.du, b.dv, p, here};
  ocean::leap const a_leaps{a.eta, a.deta, a.u, a.v, a.du, a.dv, a_new.eta, a_new.u, a_new.v, p, mix, here};
  ocean::leap const b_leaps{b.eta, b.deta, b.u, b.v, b.du, b.dv, b_new.eta, b_new.u, b_new.v, p, mix, here};
  auto const is_same = [&] {
    bool same = true;
    for (int i = 1; i <= nx; ++i)
      for (int j = 1; j <= ny; ++j) {
        same = same && a.deta(i, j) == b.deta(i, j) && a_new.eta(i, j) == b_new.eta(i, j);
        for (int k = 0; k < layers; ++k)
          same = same && a.du(i, j, k) == b.du(i, j, k) && a.dv(i, j, k) == b.dv(i, j, k) &&
                 a_new.u(i, j, k) == b_new.u(i, j, k) && a_new.v(i, j, k) == b_new.v(i, j, k);
      }
    return same;
  };
  for (int i = 1; i <= nx; ++i) a_tends(i), a_leaps(i);
  CHECK_FALSE(is_same());
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j) b_tends(i, j), b_leaps(i, j);
  CHECK(is_same());
  for (int i = 1; i <= nx; ++i) b_tends(i), b_leaps(i); // a processor, in a build for an accelerator
  CHECK(is_same());
}

TEST_CASE("ocean: one layer, and mixing of no strength, leave the velocities as they are") {
  for (int n : {1, 6})
    for (double a : {0.0, 0.7})
      if (ocean::mixing const m(n, a); n == 1 || a == 0)
        for (int k = 0; k < n; ++k) CHECK((m.pivot[k] == 1 && m.carry[k] == a));
}

TEST_CASE("ocean: the tendencies are those of the equations") {
  sea<> const s;
  ocean::physics const p = some_physics();
  s.tend({1, nx + 1, 1, ny + 1, false, false});
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j) {
      double flux = 0;
      for (int k = 0; k < layers; ++k) {
        double const v = (s.v(i, j, k) + s.v(i, j + 1, k) + s.v(i - 1, j, k) + s.v(i - 1, j + 1, k)) / 4;
        double const u = (s.u(i, j, k) + s.u(i, j - 1, k) + s.u(i + 1, j, k) + s.u(i + 1, j - 1, k)) / 4;
        double const push_x = p.coriolis * v - p.gravity * (s.eta(i, j) - s.eta(i - 1, j)) / p.dx;
        double const push_y = -p.coriolis * u - p.gravity * (s.eta(i, j) - s.eta(i, j - 1)) / p.dy;
        CHECK(s.du(i, j, k) == doctest::Approx(push_x).epsilon(1e-13));
        CHECK(s.dv(i, j, k) == doctest::Approx(push_y).epsilon(1e-13));
        flux += (s.u(i + 1, j, k) - s.u(i, j, k)) / p.dx + (s.v(i, j + 1, k) - s.v(i, j, k)) / p.dy;
      }
      CHECK(s.deta(i, j) == doctest::Approx(-p.layer_depth * flux).epsilon(1e-12));
    }
}

TEST_CASE("ocean: walls let nothing through, and nothing beyond them is read") {
  sea<> const s;
  for (int i = 0; i < nx + 2; ++i)
    for (int j : {0, ny + 1}) {
      s.eta(i, j) = std::numeric_limits<double>::quiet_NaN();
      for (int k = 0; k < layers; ++k) s.u(i, j, k) = s.v(i, j, k) = std::numeric_limits<double>::quiet_NaN();
    }
  s.tend({1, nx + 1, 1, ny + 1, true, true});
  double sum = 0, size = 0;
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j) {
      sum += s.deta(i, j);
      size += std::abs(s.deta(i, j));
      for (int k = 0; k < layers; ++k) {
        CHECK(std::isfinite(s.du(i, j, k)));
        CHECK(std::isfinite(s.dv(i, j, k)));
        if (j == 1) CHECK(s.dv(i, j, k) == 0);
      }
    }
  CHECK(size > 1);
  CHECK(std::abs(sum) <= 1e-13 * size);
}

TEST_CASE("ocean: a single row between two walls has no northward velocity") {
  sea<> const s;
  for (int i = 0; i < nx + 2; ++i)
    for (int j : {0, 2})
      for (int k = 0; k < layers; ++k) s.u(i, j, k) = s.v(i, j, k) = std::numeric_limits<double>::quiet_NaN();
  s.tend({1, nx + 1, 1, 2, true, true});
  for (int i = 1; i <= nx; ++i) {
    CHECK(std::isfinite(s.deta(i, 1)));
    for (int k = 0; k < layers; ++k) CHECK((std::isfinite(s.du(i, 1, k)) && s.dv(i, 1, k) == 0));
  }
}
