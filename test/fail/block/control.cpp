// SPDX-License-Identifier: MIT
#include <keel/block.hpp>

struct field {
  static constexpr std::size_t rank = 3;
  double* data() const { return nullptr; }
  std::size_t extent(int) const { return 0; }
  std::size_t stride(int) const { return 1; }
};

struct body {
  template <class Block>
  void operator()(Block const& b) const { b.store(field{}, b.load(field{}, 0), 0); }
};

int main() {
  keel::block::for_each_block<8>(keel::block::columns_of(field{}), body{});
  keel::block::solve_tridiagonal<8>("solve", keel::block::caller{}, keel::block::tridiagonal{field{}, field{}, field{}}, field{});
  keel::block::for_each_block<4>(0, 10, [](auto) {});
  keel::block::mask<4> const two = keel::block::mask<4>::first(2);
  if (all(two) || exp(keel::block::pack<double, 4>::filled(1))[0] < 0) return 1;
  return keel::block::pack<int, 4>::filled(0)[0];
}
