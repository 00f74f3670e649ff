// SPDX-License-Identifier: MIT
// keel's own name beats OMEGA's where both stand on the compile line.
#undef KEEL_VECTOR_SIZE
#define KEEL_VECTOR_SIZE 8
#define OMEGA_VECTOR_SIZE 16
#include <keel/block/length.hpp>

#include <cstdio>

int main() {
  int const inside = static_cast<int>(keel::block::length<double, keel::cuda>);
  std::printf("KEEL_VECTOR_SIZE=%d seen as %d\n", KEEL_VECTOR_SIZE, inside);
  std::printf("%d passed, %d failed, 0 skipped\n", inside == 8, inside != 8);
  return inside == 8 ? 0 : 1;
}
