// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Traits that devices have in common, and what Kokkos' accelerators call their own.

#include <keel/space/kokkos.hpp>
#include <keel/space/settings.hpp>
#include <keel/topology/affinity.hpp>

#include <algorithm>
#include <cctype>
#include <string>

namespace keel::space::detail {

/// What the devices asked for before Kokkos starts.
inline settings& wanted_settings() {
  static settings wanted;
  return wanted;
}

/// Hardware threads that this process may use: what a host parallel device takes by itself.
inline int hardware_threads() { return std::max(1, int(topology::bound_hardware_threads().size())); }

/// The most that it takes when asked: more than the hardware has, as OpenMP allows it, because a job's variables are
/// written for its largest node; but a slip of the finger does not start a million.
inline int most_threads() { return std::max(1024, 8 * hardware_threads()); }

struct no_knobs {
  static constexpr bool supported = true;
  static constexpr bool has_threads = false;
  static constexpr bool has_numa_regions = false;
  static constexpr bool has_instances = false;
  static bool available() { return true; }
  static void configure(settings const&) {}
};

/// Host threads, as many as the hardware has if no number is given.
struct host_threads : no_knobs {
  static constexpr int preference = 200;
  static constexpr bool has_threads = true;
  static int default_threads() { return hardware_threads(); }
  static int max_threads() { return hardware_threads(); }
  static int most_threads() { return detail::most_threads(); }
};

/// A host parallel space of Kokkos' own. Kokkos 3.7 took the NUMA knob away.
template <class Space>
struct kokkos_threads : host_threads {
  static constexpr bool has_numa_regions = KOKKOS_VERSION < 30700;
  using execution_space = Space;

  static void configure(settings const& wanted) { merge(wanted_settings(), wanted); }
  static int threads() { return Space().concurrency(); }
#if KOKKOS_VERSION < 30700
  static int max_numa_regions() {
    return Kokkos::hwloc::available() ? int(Kokkos::hwloc::get_available_numa_count()) : 1;
  }
#endif
};

/// An accelerator of Kokkos' own; `Calls` counts the visible ones, names them and says which one runs.
template <class Calls>
struct kokkos_accelerator : no_knobs {
  static constexpr int preference = 300;
  static constexpr bool has_instances = true;
  using execution_space = typename Calls::execution_space;

  /// The variable that says which of them a process sees.
  static constexpr std::string_view visible_by = Calls::visible_by;

  static bool available() { return max_devices() > 0; }
  static void configure(settings const& wanted) { merge(wanted_settings(), wanted); }
  /// Whether a call of the vendor's has failed in this process, as a kernel that faults makes all of them.
  static bool has_failed() { return Calls::has_failed(); }
  static int max_devices() { return Calls::count(); }
  static int device_instance() { return Calls::current(); }
  /// `"0000:1b:00.0"`, lower case; empty if the vendor does not report it.
  static std::string pci_id(int instance) {
    std::string id = Calls::pci_id(instance);
    for (char& c : id) c = char(std::tolower(static_cast<unsigned char>(c)));
    return id;
  }
};

/// Why a call of a vendor's failed, by its `Errors`; empty if it did not.
template <class Errors>
std::string reason_of_code(auto code) {
  if (code == Errors::success) return {};
  (void)Errors::last(); // so that no later call reports it
  return Errors::text(code);
}

#ifdef KOKKOS_ENABLE_CUDA
struct cuda_errors {
  static constexpr auto success = cudaSuccess;
  static constexpr auto last = &cudaGetLastError;
  static constexpr auto text = &cudaGetErrorString;
};
struct cuda_calls {
  using execution_space = Kokkos::Cuda;
  static constexpr std::string_view visible_by = "CUDA_VISIBLE_DEVICES";
  static bool has_failed() {
    auto const state = cudaStreamQuery(nullptr);
    return state != cudaSuccess && state != cudaErrorNotReady;
  }
  static int count() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
  }
  static int current() { return execution_space().cuda_device(); }
  static std::string pci_id(int instance) {
    char id[32] = {};
    return cudaDeviceGetPCIBusId(id, sizeof id, instance) == cudaSuccess ? id : "";
  }
};
#endif

#ifdef KOKKOS_ENABLE_HIP
struct hip_errors {
  static constexpr auto success = hipSuccess;
  static constexpr auto last = &hipGetLastError;
  static constexpr auto text = &hipGetErrorString;
};
struct hip_calls {
#if KOKKOS_VERSION < 40000
  using execution_space = Kokkos::Experimental::HIP;
#else
  using execution_space = Kokkos::HIP;
#endif
  static constexpr std::string_view visible_by = "HIP_VISIBLE_DEVICES";
  static bool has_failed() {
    auto const state = hipStreamQuery(nullptr);
    return state != hipSuccess && state != hipErrorNotReady;
  }
  static int count() {
    int devices = 0;
    return hipGetDeviceCount(&devices) == hipSuccess ? devices : 0;
  }
  static int current() { return execution_space().hip_device(); }
  static std::string pci_id(int instance) {
    char id[32] = {};
    return hipDeviceGetPCIBusId(id, sizeof id, instance) == hipSuccess ? id : "";
  }
};
#endif

#ifdef KOKKOS_ENABLE_SYCL
struct sycl_calls {
#if KOKKOS_VERSION < 40100
  using execution_space = Kokkos::Experimental::SYCL;
#else
  using execution_space = Kokkos::SYCL;
#endif
  static constexpr std::string_view visible_by = "ONEAPI_DEVICE_SELECTOR";
  static bool has_failed() { return false; }
  static int count() { return int(sycl::device::get_devices(sycl::info::device_type::gpu).size()); }
  static int current() {
    auto const all = sycl::device::get_devices(sycl::info::device_type::gpu);
    auto const mine = execution_space().sycl_queue().get_device();
    return int(std::find(all.begin(), all.end(), mine) - all.begin());
  }
  static std::string pci_id(int) { return {}; }
};
#endif

} // namespace keel::space::detail
