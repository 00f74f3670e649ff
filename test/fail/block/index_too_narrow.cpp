// SPDX-License-Identifier: MIT
// expect: keel::block::chunks: the length does not fit the index type
#include <keel/block.hpp>

int main() {
  signed char const end = 10;
  keel::block::for_each_block<200>(end, [](auto) {});
}
