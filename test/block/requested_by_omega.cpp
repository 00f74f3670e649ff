// SPDX-License-Identifier: MIT
// As OMEGA's users have it: the length comes from the compile line under OMEGA's name.
#undef KEEL_VECTOR_SIZE
#define OMEGA_VECTOR_SIZE 16
#include <keel/block/length.hpp>

#include <cstdio>

int main() {
  int const inside = static_cast<int>(keel::block::length<double, keel::serial>);
  std::printf("OMEGA_VECTOR_SIZE=%d seen as %d\n", OMEGA_VECTOR_SIZE, inside);
  std::printf("%d passed, %d failed, 0 skipped\n", inside == 16, inside != 16);
  return inside == 16 ? 0 : 1;
}
