// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What this build knows of each device: compiled in, here now, its knobs, its execution space.

#include <keel/policy/list.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/tags.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/settings.hpp>
#include <keel/space/simulated.hpp>
#include <keel/space/tbb.hpp>

#include <keel/impl/space/kokkos_devices.hpp>

#include <array>
#include <type_traits>

namespace keel {

/// Whether the device is compiled in. A tag without traits is no device, so it is not.
template <class Tag>
inline constexpr bool supported = [] {
  if constexpr (requires { device_traits<Tag>::supported; }) return bool{device_traits<Tag>::supported};
  else return false;
}();

/// Whether the device is here, now. Asks the system; false if it is not compiled in.
template <class Tag>
[[nodiscard]] bool available() {
  if constexpr (supported<Tag>) return device_traits<Tag>::available();
  else return false;
}

namespace space::detail {

template <class Tag>
struct is_supported : std::bool_constant<supported<Tag>> {};

} // namespace space::detail

/// The devices of `List` that this build has, in their order.
template <policy::TypeList List>
using where_supported = policy::filter<List, space::detail::is_supported>;

// One that is not compiled in has no traits, so that naming its tag costs nothing.

#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct device_traits<serial> : space::detail::no_knobs {
  static constexpr int preference = 100;
  using execution_space = Kokkos::Serial;
};
#endif

#ifdef KOKKOS_ENABLE_OPENMP
template <>
struct device_traits<openmp> : space::detail::kokkos_threads<Kokkos::OpenMP> {};
#endif

#ifdef KOKKOS_ENABLE_THREADS
template <>
struct device_traits<threads> : space::detail::kokkos_threads<Kokkos::Threads> {};
#endif

/// Its threads are keel's to start, so its knob does not pass through Kokkos.
#if KEEL_WITH_TBB
template <>
struct device_traits<tbb> : space::detail::host_threads {
  static constexpr bool has_numa_regions = true;
  using execution_space = space::tbb;

  static void configure(space::settings const& wanted) { space::tbb::plugin::wanted() = wanted; }
  static bool is_running() { return space::detail::events_of<space::tbb::plugin>.is_running(); }
  static int threads() { return space::tbb().threads(); }
  static int max_numa_regions() { return space::tbb::max_numa_regions(); }
  static constexpr std::array own_knobs{
      space::own_knob{"stack-size", &space::tbb::stack_sizes},
      space::own_knob{"hugepages", [] { return space::bounds{0, 1}; }},
  };
};
#endif

#ifdef KOKKOS_ENABLE_CUDA
template <>
struct device_traits<cuda> : space::detail::kokkos_accelerator<space::detail::cuda_calls> {};
#endif

#ifdef KOKKOS_ENABLE_HIP
template <>
struct device_traits<hip> : space::detail::kokkos_accelerator<space::detail::hip_calls> {};
#endif

#ifdef KOKKOS_ENABLE_SYCL
template <>
struct device_traits<sycl> : space::detail::kokkos_accelerator<space::detail::sycl_calls> {};
#endif

/// Always compiled in and available; of lowest preference, so it runs only if it is asked for.
template <>
struct device_traits<simulated> : space::detail::no_knobs {
  static constexpr int preference = 0;
  using execution_space = space::simulated;
};

} // namespace keel
