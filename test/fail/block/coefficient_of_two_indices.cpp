// SPDX-License-Identifier: MIT
// expect: a coefficient has another number of indices than the unknowns, and more than one
#include <keel/block.hpp>

template <std::size_t Rank>
struct field {
  static constexpr std::size_t rank = Rank;
  double* data() const { return nullptr; }
  std::size_t extent(int) const { return 0; }
  std::size_t stride(int) const { return 1; }
};

int main() {
  keel::block::tridiagonal const m{field<2>{}, field<1>{}, field<1>{}};
  keel::block::solve_tridiagonal<8>("solve", keel::block::caller{}, m, field<3>{});
}
