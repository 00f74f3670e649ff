// SPDX-License-Identifier: MIT
// As OMEGA's users have it: the length comes from the compile line under OMEGA's name.
#undef KEEL_VECTOR_SIZE
#ifndef OMEGA_VECTOR_LENGTH
#define OMEGA_VECTOR_SIZE 16
#endif
#include <keel/block/length.hpp>

#include <cstdio>

int main() {
  int const inside = int(keel::block::length<double, keel::serial>);
  int const on_device = int(keel::block::length<float, keel::cuda>);
  bool const good = inside == 16 && on_device == 1;
  std::printf("Omega's 16 is seen as %d on the host, %d on an accelerator\n", inside, on_device);
  std::printf("%d passed, %d failed, 0 skipped\n", good, !good);
  return good ? 0 : 1;
}
