// SPDX-License-Identifier: MIT
#include <ocean/kernels.hpp>

#include <support/test.hpp>
#include <support/lanes.hpp>

#include <initializer_list>

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

enum class content { zero, some };

template <class Layout = ocean::layout>
struct sea {
  using field = Kokkos::View<double**, Layout, Kokkos::HostSpace>;
  using layered = Kokkos::View<double***, Layout, Kokkos::HostSpace>;
  field eta{"eta", nx + 2, ny + 2};
  layered u{"u", nx + 2, ny + 2, layers}, v{"v", nx + 2, ny + 2, layers};

  /// Fills what is owned, then in x the ghosts, as on one rank.
  explicit sea(content c = content::some, int seed = 0) {
    if (c == content::zero) return;
    for (int i = 0; i < nx + 2; ++i)
      for (int j = 0; j < ny + 2; ++j) {
        int const from = ((i + nx - 1) % nx) * 100 + j + seed;
        eta(i, j) = number(from);
        for (int k = 0; k < layers; ++k) {
          u(i, j, k) = number(from + 1000 * k + 7);
          v(i, j, k) = j == 1 ? 0 : number(from + 1000 * k + 13);
        }
      }
  }

  /// Not a number in the rows `j`.
  void spoil(std::initializer_list<int> rows) const {
    double const none = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < nx + 2; ++i)
      for (int j : rows) {
        eta(i, j) = none;
        for (int k = 0; k < layers; ++k) u(i, j, k) = v(i, j, k) = none;
      }
  }
};

/// One step to a new sea.
sea<> advanced(sea<> const& old, sea<> const& now, ocean::part here, double strength) {
  sea<> next(content::zero);
  ocean::advance_all("advance", space{}, here, some_physics(), strength, old.eta, old.u, old.v, now.eta, now.u, now.v,
                     next.eta, next.u, next.v);
  space{}.fence();
  return next;
}

/// The rates of change: a step from rest, without mixing, over the time that it leaps.
struct rates {
  sea<> step;
  rates(sea<> const& now, ocean::part here) : step(advanced(sea<>(content::zero), now, here, 0)) {}
  [[nodiscard]] double of(double x) const { return x / (2 * some_physics().dt); }
  [[nodiscard]] double deta(int i, int j) const { return of(step.eta(i, j)); }
  [[nodiscard]] double du(int i, int j, int k) const { return of(step.u(i, j, k)); }
  [[nodiscard]] double dv(int i, int j, int k) const { return of(step.v(i, j, k)); }
};

/// The bits of a step by blocks of another length, in another layout.
template <std::size_t Length, class Layout, class Place = keel::block::caller>
std::vector<double> bits_of_step(Place const& place = {}) {
  ocean::part const here{1, nx + 1, 1, ny + 1, true, false};
  sea<Layout> const old(content::some, 31), now, next(content::zero);
  using kernel = ocean::advance_columns<typename sea<Layout>::field, typename sea<Layout>::layered,
                                        typename sea<Layout>::field, typename sea<Layout>::layered>;
  keel::block::for_each_block_with_memory<Length, keel::block::tail::scalar, double>(
      "step", place, keel::block::columns_of(next.u, {1, 1}, {nx + 1, ny + 1}), layers,
      kernel{
          old.eta, now.eta, old.u, old.v, now.u, now.v, next.eta, next.u, next.v, some_physics(), {layers, 0.7}, here});
  std::vector<double> bits;
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j) {
      bits.push_back(next.eta(i, j));
      for (int k = 0; k < layers; ++k) bits.push_back(next.u(i, j, k)), bits.push_back(next.v(i, j, k));
    }
  return bits;
}

} // namespace

TEST_CASE("ocean: the mixing solves its tridiagonal system") {
  double const a = 0.7;
  sea<> const old;
  sea<> const s = advanced(old, sea<>(content::zero), {1, nx + 1, 1, ny + 1, false, false}, a);
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

TEST_CASE("ocean: blocks of every length, in either layout, give the same bits") {
  auto const bits = bits_of_step<1, Kokkos::LayoutLeft>();
  CHECK(std::count(bits.begin(), bits.end(), 0.0) < nx * layers + 1); // v on the wall alone
  CHECK(bits == bits_of_step<2, Kokkos::LayoutLeft>());
  CHECK(bits == bits_of_step<4, Kokkos::LayoutLeft>());
  CHECK(bits == bits_of_step<64, Kokkos::LayoutLeft>());
  CHECK(bits == bits_of_step<1, Kokkos::LayoutRight>());
  CHECK(bits == bits_of_step<8, Kokkos::LayoutRight>());
  int rows = 0, with_memory = 0;
  CHECK(bits == bits_of_step<1, Kokkos::LayoutLeft>(keel::test::lanes{&rows, &with_memory, layers}));
  CHECK((rows == 0 && with_memory == 1));
  CHECK(bits == bits_of_step<1, Kokkos::LayoutLeft>(keel::test::lanes{&rows, &with_memory, layers - 1}));
  CHECK((rows == 1 && with_memory == 1));
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
  rates const r(s, {1, nx + 1, 1, ny + 1, false, false});
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j) {
      double flux = 0;
      for (int k = 0; k < layers; ++k) {
        double const v = (s.v(i, j, k) + s.v(i, j + 1, k) + s.v(i - 1, j, k) + s.v(i - 1, j + 1, k)) / 4;
        double const u = (s.u(i, j, k) + s.u(i, j - 1, k) + s.u(i + 1, j, k) + s.u(i + 1, j - 1, k)) / 4;
        double const push_x = p.coriolis * v - p.gravity * (s.eta(i, j) - s.eta(i - 1, j)) / p.dx;
        double const push_y = -p.coriolis * u - p.gravity * (s.eta(i, j) - s.eta(i, j - 1)) / p.dy;
        CHECK(r.du(i, j, k) == doctest::Approx(push_x).epsilon(1e-13));
        CHECK(r.dv(i, j, k) == doctest::Approx(push_y).epsilon(1e-13));
        flux += (s.u(i + 1, j, k) - s.u(i, j, k)) / p.dx + (s.v(i, j + 1, k) - s.v(i, j, k)) / p.dy;
      }
      CHECK(r.deta(i, j) == doctest::Approx(-p.layer_depth * flux).epsilon(1e-12));
    }
}

TEST_CASE("ocean: walls let nothing through, and nothing beyond them is read") {
  sea<> const s;
  s.spoil({0, ny + 1});
  rates const r(s, {1, nx + 1, 1, ny + 1, true, true});
  double sum = 0, size = 0;
  for (int i = 1; i <= nx; ++i)
    for (int j = 1; j <= ny; ++j) {
      sum += r.deta(i, j);
      size += std::abs(r.deta(i, j));
      for (int k = 0; k < layers; ++k) {
        CHECK(std::isfinite(r.du(i, j, k)));
        CHECK(std::isfinite(r.dv(i, j, k)));
        if (j == 1) CHECK(r.dv(i, j, k) == 0);
      }
    }
  CHECK(size > 1);
  CHECK(std::abs(sum) <= 1e-13 * size);
}

TEST_CASE("ocean: a single row between two walls has no northward velocity") {
  sea<> const s;
  s.spoil({0, 2});
  rates const r(s, {1, nx + 1, 1, 2, true, true});
  for (int i = 1; i <= nx; ++i) {
    CHECK(std::isfinite(r.deta(i, 1)));
    for (int k = 0; k < layers; ++k) CHECK((std::isfinite(r.du(i, 1, k)) && r.dv(i, 1, k) == 0));
  }
}

TEST_CASE("ocean: a step writes owned cells alone") {
  sea<> const s = advanced(sea<>(), sea<>(content::some, 5), {1, nx + 1, 1, ny + 1, false, false}, 0.7);
  for (int i = 0; i < nx + 2; ++i)
    for (int j = 0; j < ny + 2; ++j)
      if (i == 0 || i > nx || j == 0 || j > ny) CHECK((s.eta(i, j) == 0 && s.u(i, j, 3) == 0 && s.v(i, j, 3) == 0));
}
