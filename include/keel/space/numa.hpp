// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory on one NUMA node, or on all of them in turns.

#include <keel/space/memory.hpp>
#include <keel/topology/id_set.hpp>
#include <keel/topology/memory_binding.hpp>

#include <array>
#include <cstddef>
#include <string>

namespace keel::space {

namespace detail {

/// `"numa<Node>"`, put together at compile time.
template <int Node>
inline constexpr auto numa_name = [] {
  std::array<char, 17> name{'n', 'u', 'm', 'a', '<'};
  std::size_t at = 5;
  int scale = 1;
  while (Node / scale >= 10) scale *= 10;
  for (; scale > 0; scale /= 10) name[at++] = char('0' + Node / scale % 10);
  name[at] = '>';
  return name;
}();

/// Pages bound to the `memories()` of a resource.
template <class Resource>
struct bound_pages {
  static constexpr reach reached_from = reach::host;

  [[nodiscard]] static bool is_available() { return why_not_available().empty(); }
  /// Empty if it is available. Asks the system.
  [[nodiscard]] static std::string why_not_available() { return topology::why_not_bindable(Resource::memories()); }

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t) const {
    return topology::allocate_pages(Resource::memories(), bytes);
  }
  void deallocate(void* pointer, std::size_t bytes, std::size_t) const { topology::free_pages(pointer, bytes); }
};

} // namespace detail

/// Memory on NUMA node number `Node`, the system's number, as `numactl` and `topology::memory::os_index` count.
///
/// The pages lie there, whichever thread touches them first. Compiled in everywhere; a node that is not here, or a
/// system that binds no pages, is known by `is_available` and an error at the first allocation. Each allocation
/// takes whole pages and a call to the system: many small ones want `pool<numa<Node>>`.
template <int Node>
class numa_resource : public detail::bound_pages<numa_resource<Node>> {
  static_assert(Node >= 0, "keel::space::numa: the node is negative (the system counts from 0). Name one that it has.");

public:
  static constexpr char const* name = detail::numa_name<Node>.data();
  static topology::id_set memories() { return {Node}; }
};

/// Memory page by page in turns on all ordinary memories of the machine: for what every core reads alike.
struct numa_interleave_resource : detail::bound_pages<numa_interleave_resource> {
  static constexpr char const* name = "numa_interleave";
  static topology::id_set const& memories() {
    static auto const all = topology::ordinary_memories();
    return all;
  }
};

/// The memory spaces. `Kokkos::View<double*, keel::space::numa<1>>` has its elements on node 1.
template <int Node>
using numa = memory<numa_resource<Node>>;
using numa_interleave = memory<numa_interleave_resource>;

/// The memories that a contiguous view of host memory lies on now, by the system's numbers, asked of the system;
/// pages that were never touched have no memory yet. For views of any host space.
template <class... V>
  requires(bool{Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Kokkos::View<V...>::memory_space>::accessible})
[[nodiscard]] topology::id_set memories_of(Kokkos::View<V...> const& view) {
  return topology::memories_of(view.data(), view.span() * sizeof(typename Kokkos::View<V...>::value_type));
}

} // namespace keel::space
