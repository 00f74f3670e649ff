// SPDX-License-Identifier: MIT
#include <keel/space.hpp>

#include <cstdlib>

struct heap {
  static constexpr char const* name = "heap";
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
  void* allocate(std::size_t bytes, std::size_t alignment) const { return std::aligned_alloc(alignment, bytes); }
  void deallocate(void* pointer, std::size_t, std::size_t) const { std::free(pointer); }
};

struct quiet {
  static constexpr std::string_view name = "quiet";
  static constexpr int order = 10;
  static void initialize(keel::space::settings const&) {}
  static void finalize() {}
  static void fence(std::string const&) {}
  static void print_configuration(std::ostream&, bool) {}
};

int main() {
  keel::space::plugins<quiet>::enroll();
  Kokkos::View<double*, keel::space::memory<heap>> const near("near", 10);
  Kokkos::View<double*, Kokkos::HostSpace> host = near;
  Kokkos::View<double*, keel::space::simulated_memory> const far("far", 10);
  Kokkos::deep_copy(host, far);
  Kokkos::View<double, Kokkos::HostSpace> const sum("sum");
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 10), KOKKOS_LAMBDA(int i, double& s) { s += near(i); },
      sum);
  (void)keel::block::blocked_view<5>(host);
}
