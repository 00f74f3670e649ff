// SPDX-License-Identifier: MIT
/// @file
/// Compiled for OpenMP and started with OMP_NUM_THREADS=3: the number is that of a region, seen from outside one.
#include <keel/machine/threads.hpp>

#include <cstdio>
#include <cstdlib>

static_assert(keel::machine::ThreadSource<keel::machine::openmp_threads>);

int main() {
  int const counted = keel::machine::openmp_threads::count();
  char const* const wished = std::getenv("OMP_NUM_THREADS");
  bool const right = wished != nullptr && counted == std::atoi(wished);
  std::printf("%d threads counted, %s wished for\n%d passed, %d failed, 0 skipped\n", counted, wished ? wished : "?",
              right, !right);
  return right ? 0 : 1;
}
