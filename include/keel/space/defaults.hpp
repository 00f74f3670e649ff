// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// keel's four default spaces, used if a program names none. Kokkos' own are fixed by its build.

#include <keel/policy/list.hpp>
#include <keel/policy/tags.hpp>
#include <keel/space/devices.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/memkind.hpp>
#include <keel/space/memory.hpp>
#include <keel/space/numa.hpp>
#include <keel/space/pinned.hpp>
#include <keel/space/pool.hpp>
#include <keel/space/settings.hpp>
#include <keel/space/simulated.hpp>
#include <keel/space/tbb.hpp>
#include <keel/space/umpire.hpp>

#include <array>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

namespace keel::space {

namespace detail {

/// The space of `Tags` with the highest preference; the first of several.
template <class... Tags>
struct preferred {
  static_assert(sizeof...(Tags) > 0);
};
template <class Tag>
struct preferred<Tag> {
  using type = typename device_traits<Tag>::execution_space;
  static constexpr int preference = device_traits<Tag>::preference;
};
template <class Tag, class... Rest>
struct preferred<Tag, Rest...> : std::conditional_t<(preferred<Tag>::preference >= preferred<Rest...>::preference),
                                                    preferred<Tag>, preferred<Rest...>> {};

template <class List>
struct preferred_of;
template <class... Tags>
struct preferred_of<list<Tags...>> : preferred<Tags...> {};

/// The devices of this build without the simulated one, and those of them that work in host memory.
template <class Tag>
struct is_real : std::bool_constant<!std::is_same_v<Tag, keel::simulated>> {};
using real_devices = policy::filter<where_supported<all_devices>, is_real>;
template <class Tag>
struct works_on_host : std::is_same<typename device_traits<Tag>::execution_space::memory_space, Kokkos::HostSpace> {};
using host_devices = policy::filter<real_devices, works_on_host>;
using preferred_space = typename preferred_of<real_devices>::type;

} // namespace detail

/// Device execution: `KEEL_DEFAULT_EXECUTION_SPACE` from the compile line, else the space of the device
/// that this build prefers, an accelerator before threads before one thread.
#ifdef KEEL_DEFAULT_EXECUTION_SPACE
using default_execution_space = KEEL_DEFAULT_EXECUTION_SPACE;
#else
using default_execution_space = detail::preferred_space;
#endif

/// Host parallel execution: `KEEL_DEFAULT_HOST_EXECUTION_SPACE`, else the preferred of those that work in host memory.
#ifdef KEEL_DEFAULT_HOST_EXECUTION_SPACE
using default_host_execution_space = KEEL_DEFAULT_HOST_EXECUTION_SPACE;
#else
using default_host_execution_space = typename detail::preferred_of<detail::host_devices>::type;
#endif

/// Device memory: `KEEL_DEFAULT_MEMORY_SPACE`, else the default execution space's own.
#ifdef KEEL_DEFAULT_MEMORY_SPACE
using default_memory_space = KEEL_DEFAULT_MEMORY_SPACE;
#else
using default_memory_space = typename default_execution_space::memory_space;
#endif

/// Host memory: `KEEL_DEFAULT_HOST_MEMORY_SPACE`, else plain.
#ifdef KEEL_DEFAULT_HOST_MEMORY_SPACE
using default_host_memory_space = KEEL_DEFAULT_HOST_MEMORY_SPACE;
#else
using default_host_memory_space = Kokkos::HostSpace;
#endif

/// keel's own four, as an application policy says them.
struct defaults {
  using default_execution_space = space::default_execution_space;
  using default_host_execution_space = space::default_host_execution_space;
  using default_memory_space = space::default_memory_space;
  using default_host_memory_space = space::default_host_memory_space;
};

/// Checks four defaults, one requirement a sentence.
template <class D>
consteval bool require_defaults() {
  using execution = typename D::default_execution_space;
  using host_execution = typename D::default_host_execution_space;
  static_assert(
      Kokkos::is_execution_space<execution>::value && Kokkos::is_execution_space<host_execution>::value,
      "keel::defaults: a default for execution is no execution space (kernels run there). Name one, keel::space::tbb for instance.");
  using memory = typename D::default_memory_space;
  using host_memory = typename D::default_host_memory_space;
  static_assert(
      Kokkos::is_memory_space<memory>::value && Kokkos::is_memory_space<host_memory>::value,
      "keel::defaults: a default for memory is no memory space (views lie there). Name one, keel::space::pool<> for instance.");
  static_assert(
      Kokkos::SpaceAccessibility<execution, memory>::accessible,
      "keel::defaults: default_execution_space cannot reach default_memory_space (its kernels work there). Change both.");
  static_assert(
      Kokkos::SpaceAccessibility<host_execution, host_memory>::accessible &&
          Kokkos::SpaceAccessibility<Kokkos::HostSpace, host_memory>::accessible,
      "keel::defaults: host code cannot reach default_host_memory_space (it works there). Choose memory of the host.");
  static_assert(Kokkos::SpaceAccessibility<host_execution, Kokkos::HostSpace>::accessible,
                "keel::defaults: default_host_execution_space does not work in host memory (it is the host's). "
                "Choose a space of the host.");
  return true;
}

/// Prints the four with `Kokkos::print_configuration`.
struct shown_defaults {
  static constexpr std::string_view name = "defaults";
  static constexpr int order = 0;
  static void initialize(settings const&) {}
  static void finalize() {}
  static void fence(std::string const&) {}
  static void print_configuration(std::ostream& out, bool) {
    out << "keel's defaults: device " << text()[0] << " in " << text()[2] << ", host " << text()[1] << " in "
        << text()[3] << '\n';
  }
  /// Makes those of `D` the ones that are printed.
  template <class D>
  static void show() {
    text() = {D::default_execution_space::name(), D::default_host_execution_space::name(),
              D::default_memory_space::name(), D::default_host_memory_space::name()};
  }

private:
  static std::array<std::string, 4>& text() {
    static std::array<std::string, 4> names;
    return names;
  }
};

} // namespace keel::space
