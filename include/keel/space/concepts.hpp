// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a plug-in and a memory resource must have. Depends only on the standard library.

#include <keel/space/settings.hpp>

#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

namespace keel::space {

/// A type whose static functions run when Kokkos starts, ends, fences and prints.
///
/// | member | meaning |
/// |---|---|
/// | `name` | `static constexpr std::string_view`, shown and, after `order`, sorted by |
/// | `order` | `static constexpr int`, not negative: host parallel below 100, serial 100, devices above |
/// | `initialize(settings const&)` | with `Kokkos::initialize`; may throw, then what started earlier is ended |
/// | `finalize()` | with `Kokkos::finalize`, before Kokkos' own spaces end; must not throw |
/// | `fence(std::string const& label)` | with `Kokkos::fence`; never before `initialize` or after `finalize` |
/// | `print_configuration(std::ostream&, bool detail)` | with `Kokkos::print_configuration` |
template <class P>
concept Plugin = requires(settings const& wanted, std::string const& label, std::ostream& out, bool detail) {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::order } -> std::convertible_to<int>;
  P::initialize(wanted);
  P::finalize();
  P::fence(label);
  P::print_configuration(out, detail);
};

/// Whether host code may touch an element.
enum class reach {
  host,  ///< it may: the space stands beside `Kokkos::HostSpace`
  device ///< it aborts: only kernels of the resource's `execution_space` may
};

/// The source of a memory space's bytes; `keel::space::memory<R>` makes a Kokkos memory space of it.
///
/// | member | meaning |
/// |---|---|
/// | `name` | `static constexpr char const*`, for labels, tools and messages |
/// | `reached_from` | `static constexpr reach` |
/// | `allocate(bytes, alignment)` | `const`; null or an exception if there is no room; `bytes` is never 0 |
/// | `deallocate(pointer, bytes, alignment)` | `const`; takes back what `allocate` gave, from any thread |
/// | copying | copies share one source: each takes back what another gave |
/// | `execution_space` | a type; optional for `reach::host`, whose default is Kokkos' host space |
///
/// A resource with `reach::device` needs an `execution_space` that copies for the host: the static function
/// `impl_copy(to, from, bytes)` returns when the copy is done, and `impl_copy_asynchronously(to, from, bytes)` of an
/// instance may return before. `Kokkos::deep_copy` calls one of the two.
///
/// Laws every model must keep: test/laws/memory_space.hpp, installed as <keel/laws/memory_space.hpp>.
template <class R>
concept Resource =
    std::copy_constructible<R> && requires(R const& resource, void* pointer, std::size_t bytes, std::size_t alignment) {
      { R::name } -> std::convertible_to<char const*>;
      { R::reached_from } -> std::convertible_to<reach>;
      { resource.allocate(bytes, alignment) } -> std::same_as<void*>;
      resource.deallocate(pointer, bytes, alignment);
    };

} // namespace keel::space
