// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <cstdlib>
#include <iostream>

/// Where the bytes of a memory space come from: two functions and two constants. This one counts.
struct counted {
  static constexpr char const* name = "counted";                               // in labels and messages
  static constexpr keel::space::reach reached_from = keel::space::reach::host; // who may touch an element
  static inline std::size_t in_use = 0, limit = std::size_t{1} << 20;

  void* allocate(std::size_t bytes, std::size_t alignment) const {
    if (in_use + bytes > limit) return nullptr; // keel throws an error with the name, the label and the size
    in_use += bytes;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void deallocate(void* pointer, std::size_t bytes, std::size_t) const {
    in_use -= bytes;
    std::free(pointer);
  }
};

/// A memory space of Kokkos.
using counted_space = keel::space::memory<counted>;

int main(int argc, char** argv) try {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  {
    Kokkos::View<double*, counted_space> const v("v", 1000);
    Kokkos::deep_copy(v, 0.5);
    double sum = 0;
    Kokkos::parallel_reduce(
        "sum", Kokkos::RangePolicy<counted_space::execution_space>(0, 1000),
        KOKKOS_LAMBDA(int i, double& s) { s += v(i); }, sum);
    std::cout << "the sum is " << sum << ", in " << (counted::in_use >= 8000 ? "counted" : "other") << " memory\n";
  }
  std::cout << counted::in_use << " bytes are left\n";
  try {
    Kokkos::View<double*, counted_space> const large("large", 1000000);
  } catch (std::exception const&) {
    std::cout << "too large a view is refused\n";
  }
} catch (std::exception const& e) {
  return keel::report(e);
}
