// SPDX-License-Identifier: MIT
// expect: keel::block::chunks: the length is 0
#include <keel/block.hpp>

int main() {
  keel::block::for_each_block<0>(0, 10, [](auto) {});
}
