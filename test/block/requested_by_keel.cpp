// SPDX-License-Identifier: MIT
// keel's own name beats OMEGA's where both stand on the compile line.
#undef KEEL_VECTOR_SIZE
#define KEEL_VECTOR_SIZE 8
#define OMEGA_VECTOR_SIZE 16
#include <keel/block/length.hpp>

#include <cstdio>

int main() {
  int const inside = int(keel::block::length<double, keel::serial>);
  std::printf("KEEL_VECTOR_SIZE=%d seen as %d\n", KEEL_VECTOR_SIZE, inside);
  bool const good = inside == 8 && keel::block::length<double, keel::cuda> == 1;
  std::printf("%d passed, %d failed, 0 skipped\n", good, !good);
  return good ? 0 : 1;
}
