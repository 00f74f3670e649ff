// SPDX-License-Identifier: MIT
#include <ocean/kernels.hpp>

#include <support/test.hpp>
#include <support/lanes.hpp>

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
