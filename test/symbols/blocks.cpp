// SPDX-License-Identifier: MIT
/// @file
/// A loop of Kokkos, alone and over blocks of keel's: what keel adds to a program's size.
#if WITH_KEEL
#include <keel/space/blocked.hpp>
#endif
#include <Kokkos_Core.hpp>

#include <cstdio>

namespace {

using space = Kokkos::DefaultHostExecutionSpace;
using view = Kokkos::View<double*, Kokkos::HostSpace>;

struct axpy {
  view x, y;

  KOKKOS_FUNCTION void operator()(int i) const { y(i) += 2 * x(i); }
#if WITH_KEEL
  template <class Block>
  KOKKOS_FUNCTION void operator()(Block block) const {
    for (auto i = block.begin(); i < block.end(); ++i) (*this)(int(i));
  }
#endif
};

} // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  view const x("x", 1000), y("y", 1000);
#if WITH_KEEL
  keel::block::for_each_block<64>("axpy", space{}, 0, 1000, axpy{x, y});
#else
  Kokkos::parallel_for("axpy", Kokkos::RangePolicy<space>(0, 1000), axpy{x, y});
#endif
  std::printf("%g\n", y(3));
}
