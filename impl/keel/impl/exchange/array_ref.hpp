// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// An array of the application's, without its type.

#include <keel/impl/exchange/copy_queue_of_space.hpp>
#include <keel/layout/grid.hpp>
#include <keel/layout/variable.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

template <class T>
inline char type_mark = 0; ///< its address tells types apart

/// The memory of a kind of view, and the space whose default queue works on it.
struct array_memory {
  std::string_view name;
  void const* type;           ///< that of the memory space
  void (*fence)();            ///< what the host has to wait for before it reads there; of memory that it reaches
  copy_queue (*make_queue)(); ///< null if the host reaches it
};

/// That of views of memory `Memory` that kernels of `Space` work on.
template <class Space, class Memory>
[[nodiscard]] array_memory const* memory_of_space() {
  static constexpr bool is_reached = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible;
  static constexpr auto fence = [] { space::detail::wait_for(Space{}); };
  static constexpr auto make = []() -> copy_queue {
    if constexpr (!is_reached) return kokkos_copy_queue(Space{});
    else return {};
  };
  static constexpr array_memory of{Memory::name(), &type_mark<Memory>, +fence, is_reached ? nullptr : +make};
  return &of;
}

struct array_ref {
  void* data = nullptr;
  int rank = 0;
  std::int64_t extents[max_rank]{}, strides[max_rank]{}; ///< strides in elements
  std::int64_t element_bytes = 0, alignment = 1;
  addend added_as = addend::none;
  lattice on;
  std::array<std::int8_t, max_grid_rank> index_of{};
  int indexed = 0; ///< how many of `index_of` are given
  int layers = 0;  ///< of ghosts, if it says so
  bool says_layers = false;
  array_memory const* where = nullptr; ///< null: what a pointer is to, memory of the host

  [[nodiscard]] bool is_on_device() const { return where != nullptr && where->make_queue != nullptr; }
  /// The number of the index that counts a dimension of the grid.
  [[nodiscard]] int index(int d) const { return indexed == 0 ? d : index_of[std::size_t(d)]; }
  /// Says how what a pointer is to lies; with the strides of C's arrays if none are given.
  void set(std::span<std::int64_t const> lengths, std::span<std::int64_t const> steps);
  /// From its first to its last element, in elements before and after `data`.
  [[nodiscard]] std::array<std::int64_t, 2> reach() const;
  /// Whether it lies as the other one, data aside.
  [[nodiscard]] bool lies_as(array_ref const& other) const;
};

/// Whether an element of one lies where one of the other does, exactly: sections of one array may be interleaved. All
/// memories of a process have one set of addresses. It goes by strides: a few steps if both are sections of one array,
/// else at most about as many as the longest stride is taken.
[[nodiscard]] bool share_elements(array_ref const& a, array_ref const& b);
/// Its indices as digits of base 8 behind a 1, that along which elements are nearest to each other first. Larger than
/// any other code if a rank with other lengths along the grid's or mesh's indices might find another one: ranks agree
/// on the least.
[[nodiscard]] std::int64_t order_of(array_ref const& a, int on_grid);
/// Throws `keel::error` unless the array has what the rank has of its grid or mesh, each element once.
void require_fits(array_ref const& a, share const& s, std::string_view place, std::string const& who);
/// Throws `keel::error` if the host cannot read what a pointer is to, which counts as memory of the host.
void require_reached(array_ref const& a, std::string_view place, std::string const& who);
/// How it lies, with dimensions of this order, which it refers to: messages have their words in one order on all ranks.
[[nodiscard]] shape shape_of(array_ref const& from, share const& s, std::int64_t order, std::string_view place,
                             std::vector<dimension_run>& dimensions);

template <class Option>
inline constexpr bool is_property = requires { Option::longer; } || requires { Option::dimensions; } ||
                                    requires { Option::widths; } || requires { Option::signs; };

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/array_ref.ipp>
#endif
