// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A Kokkos memory space made of a resource: what a `View` needs of it is written here, once.

#include <keel/policy/error.hpp>
#include <keel/space/concepts.hpp>
#include <keel/space/kokkos.hpp>

#include <keel/impl/space/huge_pages.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace keel::space {

namespace detail {

template <class R>
struct runs_on {
  using type = Kokkos::DefaultHostExecutionSpace;
};
template <class R>
  requires requires { typename R::execution_space; }
struct runs_on<R> {
  using type = typename R::execution_space;
};

} // namespace detail

/// The memory space whose bytes come from the resource `R`; usable wherever Kokkos takes a memory space.
///
/// Every allocation is aligned as Kokkos' own spaces align and shown to
/// Kokkos' tools. An exhausted resource throws `keel::out_of_memory_error` with the words of
/// Kokkos' own spaces: name, size and label. Copies of a space share its resource.
template <class R>
class memory {
  static_assert(
      requires {
        { R::name } -> std::convertible_to<char const*>;
      }, "keel::space::memory: the resource has no name (labels and messages show it). "
         "Add static constexpr char const* name.");
  static_assert(
      requires {
        { R::reached_from } -> std::convertible_to<reach>;
      }, "keel::space::memory: the resource has no reached_from (which code may access an element). "
         "Add static constexpr keel::space::reach reached_from.");
  static_assert(
      requires(R const& r, std::size_t n) {
        { r.allocate(n, n) } -> std::same_as<void*>;
      }, "keel::space::memory: the resource has no allocate (a space gives bytes). "
         "Add void* allocate(std::size_t bytes, std::size_t alignment) const.");
  static_assert(
      requires(R const& r, void* p, std::size_t n) { r.deallocate(p, n, n); },
      "keel::space::memory: the resource has no deallocate (a space takes bytes back). "
      "Add void deallocate(void*, std::size_t bytes, std::size_t alignment) const.");

public:
  using resource_type = R;
  using memory_space = memory;
  using execution_space = typename detail::runs_on<R>::type;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;
  using index_type = std::ptrdiff_t;

  /// The alignment of every allocation, in bytes; what Kokkos' own spaces give.
  static constexpr std::size_t alignment = 64;

  /// Over a resource made by default.
  memory()
    requires std::default_initializable<R>
  = default;
  explicit memory(R resource) : resource_(std::move(resource)) {}

  [[nodiscard]] static constexpr char const* name() { return R::name; }
  [[nodiscard]] R const& resource() const& { return resource_; }
  /// The resource of a space that ends with the expression, a copy.
  [[nodiscard]] R resource() const&& { return resource_; }

  /// `bytes` for `label`; `logical` of them are the user's, the rest is Kokkos' own.
  [[nodiscard]] void* allocate(char const* label, std::size_t bytes, std::size_t logical = 0) const {
    void* pointer = nullptr;
    try {
      pointer = resource_.allocate(bytes == 0 ? 1 : bytes, alignment);
    } catch (std::bad_alloc const&) { // the same as null
    } catch (std::exception const& thrown) {
      refuse(label, bytes, reason_of(thrown));
    }
    if (pointer == nullptr) [[unlikely]]
      refuse(label, bytes, "insufficient memory");
    if constexpr (R::reached_from == reach::host) detail::huge_pages::advise(pointer, bytes);
    if (Kokkos::Profiling::profileLibraryLoaded())
      Kokkos::Profiling::allocateData(Kokkos::Profiling::make_space_handle(name()), label, pointer,
                                      logical == 0 ? bytes : logical);
    return pointer;
  }
  [[nodiscard]] void* allocate(std::size_t bytes) const { return allocate("[unlabeled]", bytes); }

  /// Allocates, and waits for no kernel.
  template <class Execution>
    requires Kokkos::is_execution_space<Execution>::value
  [[nodiscard]] void* allocate(Execution const&, char const* label, std::size_t bytes, std::size_t logical = 0) const {
    return allocate(label, bytes, logical);
  }
  template <class Execution>
    requires Kokkos::is_execution_space<Execution>::value
  [[nodiscard]] void* allocate(Execution const&, std::size_t bytes) const {
    return allocate(bytes);
  }

  /// Takes back what this space or a copy of it gave, with the same numbers.
  void deallocate(char const* label, void* pointer, std::size_t bytes, std::size_t logical = 0) const {
    if (Kokkos::Profiling::profileLibraryLoaded())
      Kokkos::Profiling::deallocateData(Kokkos::Profiling::make_space_handle(name()), label, pointer,
                                        logical == 0 ? bytes : logical);
    resource_.deallocate(pointer, bytes == 0 ? 1 : bytes, alignment);
  }
  void deallocate(void* pointer, std::size_t bytes) const { deallocate("[unlabeled]", pointer, bytes); }

private:
  [[noreturn]] static void refuse(char const* label, std::size_t bytes, std::string_view why) {
    throw out_of_memory_error("space",
                              std::string(name()) + " memory space failed to allocate " + std::to_string(bytes) +
                                  " bytes (label=\"" + label + "\")",
                              why, "Use a smaller view or another space");
  }
  R resource_;
};

/// Whether `M` is a memory space made by `keel::space::memory`.
template <class M>
inline constexpr bool is_memory = false;
template <class R>
inline constexpr bool is_memory<memory<R>> = true;

} // namespace keel::space

#include <keel/impl/space/memory_hooks.hpp>
