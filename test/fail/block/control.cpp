// SPDX-License-Identifier: MIT
#include <keel/block.hpp>

int main() {
  keel::block::for_each_block<4>(0, 10, [](auto) {});
  keel::block::mask<4> const two = keel::block::mask<4>::first(2);
  if (all(two) || exp(keel::block::pack<double, 4>::filled(1))[0] < 0) return 1;
  return keel::block::pack<int, 4>::filled(0)[0];
}
