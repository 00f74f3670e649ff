// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>

struct app : keel::defaults {
  static constexpr std::size_t vector_length = 8; // beats KEEL_VECTOR_SIZE; 0 leaves it to the processor
};

/// The number of elements that travel together, a constant of the program.
constexpr std::size_t length = keel::block::length<double, keel::serial, app>;

/// Called with blocks of exactly `length` indices, and once with the rest. A struct, because nvcc refuses generic
/// lambdas.
template <class View>
struct axpy {
  double a;
  View x, y;

  template <class Block>
  KOKKOS_FUNCTION void operator()(Block block) const {
    for (auto i = block.begin(); i < block.end(); ++i) y(i) += a * x(i);
  }
};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  run.start_devices();
  using host = Kokkos::DefaultHostExecutionSpace;
  using view = Kokkos::View<double*, Kokkos::HostSpace>;

  int const n = 100;
  view const x("x", n), y("y", n);
  for (int i = 0; i < n; ++i) x(i) = i;

  // A kernel of Kokkos over blocks.
  keel::block::for_each_block<length>("axpy", host{}, 0, n, axpy<view>{2, x, y});
  host{}.fence();

  // The same arithmetic without Kokkos, in packs: loops of a length that the compiler knows.
  using pack = keel::block::pack<double, length>;
  pack sums = pack::filled(0);
  keel::block::chunks<length, int> const cut(n);
  for (std::size_t b = 0; b < cut.size(); ++b) sums = sums + pack::load(&y(cut.first_of(b)), cut.size_of(b));

  std::cout << cut.full_blocks() << " blocks of " << length << " and a rest of " << cut.tail() << '\n';
  std::cout << "the sum is " << sum(sums) << '\n';
} catch (std::exception const& e) {
  return keel::report(e);
}
