// SPDX-License-Identifier: MIT
#include <keel/space.hpp>

#include <cstdlib>

/// What a resource of a memory space has, and what a plug-in has but for its fence.
struct named {
  static constexpr char const* name = "heap";
};
struct reached {
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
};
struct allocating {
  void* allocate(std::size_t bytes, std::size_t alignment) const { return std::aligned_alloc(alignment, bytes); }
};
struct deallocating {
  void deallocate(void* pointer, std::size_t, std::size_t) const { std::free(pointer); }
};
template <class... Parts>
struct made_of : Parts... {};
struct silent {
  static constexpr std::string_view name = "quiet";
  static constexpr int order = 10;
  static void initialize(keel::space::settings const&) {}
  static void finalize() {}
  static void print_configuration(std::ostream&, bool) {}
};

#if defined(HOST_SUM_INTO_SIMULATED)
// expect: reduce result must be a View
int main() {
  Kokkos::View<double, keel::space::simulated_memory> const sum("sum");
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 10), KOKKOS_LAMBDA(int i, double& s) { s += i; }, sum);
}
#elif defined(HOST_VIEW_OF_SIMULATED)
// expect: HostSpace
// expect: simulated_resource
int main() {
  Kokkos::View<double*, keel::space::simulated_memory> const far("far", 10);
  Kokkos::View<double*, Kokkos::HostSpace> host = far;
}
#elif defined(PLUGIN_TWICE)
// expect: keel::space::plugins: a plug-in stands in the list twice
int main() { keel::space::plugins<keel::space::simulated::plugin, keel::space::simulated::plugin>::enroll(); }
#elif defined(PLUGIN_WITHOUT_FENCE)
// expect: keel::space::plugins: a plug-in has no fence
int main() { keel::space::plugins<silent>::enroll(); }
#elif defined(POOL_OF_DEVICE_MEMORY)
// expect: keel::space::pool: host code may not touch the upstream
int main() { keel::space::pool<keel::space::simulated_memory> const space; }
#elif defined(POOL_OF_NO_SPACE)
// expect: keel::space::pool: the upstream is not a memory space
int main() { keel::space::pool<int> const space; }
#elif defined(RESOURCE_WITHOUT_ALLOCATE)
// expect: keel::space::memory: the resource has no allocate
struct without_alignment {
  void* allocate(std::size_t bytes) const { return std::malloc(bytes); }
};
int main() { keel::space::memory<made_of<named, reached, without_alignment, deallocating>> const space; }
#elif defined(RESOURCE_WITHOUT_DEALLOCATE)
// expect: keel::space::memory: the resource has no deallocate
int main() { keel::space::memory<made_of<named, reached, allocating>> const space; }
#elif defined(RESOURCE_WITHOUT_NAME)
// expect: keel::space::memory: the resource has no name
int main() { keel::space::memory<made_of<reached, allocating, deallocating>> const space; }
#elif defined(RESOURCE_WITHOUT_REACH)
// expect: keel::space::memory: the resource has no reached_from
int main() { keel::space::memory<made_of<named, allocating, deallocating>> const space; }
#else
struct quiet : silent {
  static void fence(std::string const&) {}
};
int main() {
  keel::space::plugins<quiet>::enroll();
  Kokkos::View<double*, keel::space::memory<made_of<named, reached, allocating, deallocating>>> const near("near", 10);
  Kokkos::View<double*, Kokkos::HostSpace> host = near;
  Kokkos::View<double*, keel::space::simulated_memory> const far("far", 10);
  Kokkos::deep_copy(host, far);
  Kokkos::View<double, Kokkos::HostSpace> const sum("sum");
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 10), KOKKOS_LAMBDA(int i, double& s) { s += near(i); },
      sum);
}
#endif
