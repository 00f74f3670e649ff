// SPDX-License-Identifier: MIT
// The length comes from the compile line, as Omega's users have it, by one of Omega's two names; keel's own beats it.
#undef KEEL_VECTOR_SIZE
#ifdef REQUESTED_BY_KEEL
#define KEEL_VECTOR_SIZE REQUESTED_BY_KEEL
#endif
#include <keel/block/length.hpp>

#include <cstdio>

int main() {
  int const inside = int(keel::block::length<double, keel::serial>);
  int const on_device = int(keel::block::length<float, keel::cuda>);
  bool const good = inside == WANTED && on_device == 1;
  std::printf("the length is seen as %d on the host, %d on an accelerator\n", inside, on_device);
  std::printf("%d passed, %d failed, 0 skipped\n", good, !good);
  return good ? 0 : 1;
}
