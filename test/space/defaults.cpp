// SPDX-License-Identifier: MIT
#include <keel/space/defaults.hpp>

#include <keel/space/start.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

namespace {

namespace ks = keel::space;
using keel::test::in_child;

/// What Kokkos prints of the four, started by keel or not.
template <class Defaults>
std::string printed() {
  ks::start<keel::list<keel::simulated>, Defaults>();
  std::ostringstream out;
  Kokkos::print_configuration(out);
  return out.str();
}

/// Devices of equal preference, and a lesser one.
template <int Number, int Preference>
struct device {};
using lesser = device<0, 1>;
using first = device<1, 2>;
using second = device<2, 2>;

struct all_simulated : ks::defaults {
  using default_execution_space = ks::simulated;
  using default_memory_space = ks::simulated_memory;
  using default_host_memory_space = ks::pool<>;
};

} // namespace

template <int Number, int Preference>
struct keel::device_traits<device<Number, Preference>> {
  using execution_space = device<Number, Preference>;
  static constexpr int preference = Preference;
};

// This file is compiled twice: as it is, and with all four chosen on the compile line.
#ifdef KEEL_DEFAULT_EXECUTION_SPACE

TEST_CASE("space: the compile line chooses the four defaults") {
  CHECK(std::is_same_v<ks::default_execution_space, ks::simulated>);
  CHECK(std::is_same_v<ks::default_host_execution_space, Kokkos::DefaultHostExecutionSpace>);
  CHECK(std::is_same_v<ks::default_memory_space, ks::simulated_memory>);
  CHECK(std::is_same_v<ks::default_host_memory_space, ks::pool<>>);
}

#else

TEST_CASE("space: by default a build runs on what it prefers, in that memory") {
  using host = ks::default_host_execution_space;
  CHECK(std::is_same_v<typename host::memory_space, Kokkos::HostSpace>);
  CHECK(std::is_same_v<ks::default_memory_space, typename ks::default_execution_space::memory_space>);
  CHECK(std::is_same_v<ks::default_host_memory_space, Kokkos::HostSpace>);
  CHECK_FALSE(std::is_same_v<ks::default_execution_space, ks::simulated>);
#if defined(KOKKOS_ENABLE_CUDA)
  CHECK(std::is_same_v<ks::default_execution_space, Kokkos::Cuda>);
#elif defined(KOKKOS_ENABLE_OPENMP)
  CHECK(std::is_same_v<ks::default_execution_space, Kokkos::OpenMP>);
#elif KEEL_WITH_TBB && !defined(KOKKOS_ENABLE_THREADS)
  CHECK(std::is_same_v<ks::default_execution_space, ks::tbb>);
  CHECK(std::is_same_v<host, ks::tbb>);
#endif
}

TEST_CASE("space: of devices the most preferred gives the default, and of equal ones the first") {
  CHECK(std::is_same_v<ks::detail::preferred<lesser, first, second>::type, first>);
  CHECK(std::is_same_v<ks::detail::preferred<second, lesser, first>::type, second>);
  CHECK(std::is_same_v<ks::detail::preferred<lesser>::type, lesser>);
}

TEST_CASE("space: Kokkos prints the four defaults with its configuration") {
  auto const own = in_child([] {
    auto const text = "keel's defaults: device " + std::string(ks::default_execution_space::name()) + " in " +
                      ks::default_memory_space::name() + ", host " + ks::default_host_execution_space::name() + " in " +
                      ks::default_host_memory_space::name() + "\n";
    return printed<ks::defaults>().find(text) != std::string::npos;
  });
  CHECK(own.status == 0);
  auto const chosen = in_child([] {
    Kokkos::initialize();
    auto const text = "keel's defaults: device keel::space::simulated in simulated, host " +
                      std::string(ks::default_host_execution_space::name()) + " in pool\n";
    return printed<all_simulated>().find(text) != std::string::npos;
  });
  CHECK(chosen.status == 0);
}

#endif
