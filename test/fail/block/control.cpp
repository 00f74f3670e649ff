// SPDX-License-Identifier: MIT
#include <keel/block.hpp>

int main() {
  keel::block::for_each_block<4>(0, 10, [](auto) {});
  return keel::block::pack<int, 4>::filled(0)[0];
}
