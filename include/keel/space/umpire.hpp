// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Memory of Umpire's allocators: by name, or new ones made from a strategy.

#include <keel/policy/macros.hpp>

#if KEEL_WITH_UMPIRE

#include <keel/policy/error.hpp>
#include <keel/space/memory.hpp>
#include <keel/space/pinned.hpp>

#include <umpire/Allocator.hpp>
#include <umpire/ResourceManager.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace keel::space {

namespace detail {

/// Umpire's own name of a Kokkos memory space that host code may touch, and the kind of resource; empty if it has
/// none.
template <class Upstream>
struct umpire_source {
  static constexpr std::string_view name = std::is_same_v<Upstream, Kokkos::HostSpace> ? "HOST"
                                           : std::is_same_v<Upstream, pinned>          ? "PINNED"
                                                                                       : "";
  using kind = ::umpire::MemoryResourceTraits::resource_type;
  static constexpr kind wanted = name == "HOST" ? kind::host : kind::pinned;
};

/// Umpire's strategies are for one thread: one lock over all of them, for what goes through keel.
inline std::mutex& umpire_lock() {
  static std::mutex one;
  return one;
}

/// The sentence in one of Umpire's messages, without the place in its source before and the stack after it.
inline std::string sentence(std::string_view said) {
  said = said.substr(0, said.find('\n'));
  auto const place = said.find("]: ");
  return std::string(place == said.npos ? said : said.substr(place + 3));
}

} // namespace detail

/// An allocator of Umpire's over `Upstream`, Kokkos' host memory or pinned memory. Copies are the same allocator.
///
/// Safe from any thread as long as all calls of Umpire come through keel. Every
/// allocation takes up to 64 bytes more than it reports, because Umpire aligns to 16.
template <class Upstream = Kokkos::HostSpace>
class umpire_resource {
  static_assert(!detail::umpire_source<Upstream>::name.empty(),
                "keel::space::umpire: Umpire has no resource for the upstream that host code may touch. "
                "Name Kokkos::HostSpace or keel::space::pinned.");

public:
  static constexpr char const* name = "umpire";
  static constexpr reach reached_from = reach::host;

  /// The allocator called so. Throws if Umpire knows none, or one whose memory is not `Upstream`'s.
  explicit umpire_resource(std::string const& allocator = std::string(detail::umpire_source<Upstream>::name))
      : umpire_resource(found(allocator)) {}
  /// One that the application holds; its memory is checked as above.
  explicit umpire_resource(::umpire::Allocator allocator) : allocator_(std::move(allocator)) {
    if (allocator_.getAllocationStrategy()->getTraits().resource != detail::umpire_source<Upstream>::wanted)
      throw error("space", "Umpire's allocator '" + allocator_.getName() + "' is not over " + Upstream::name(),
                  "its memory is of another kind", "Name the upstream in keel::space::umpire<...>");
  }

  /// A new allocator over this one, by a strategy of Umpire's; what follows the name is the strategy's. It lives
  /// until the process ends. Throws if the name is taken.
  template <class Strategy, class... Arguments>
  [[nodiscard]] umpire_resource make(std::string const& called, Arguments&&... arguments) const {
    auto& manager = ::umpire::ResourceManager::getInstance();
    std::lock_guard const lock(detail::umpire_lock());
    if (manager.isAllocator(called))
      throw error("space", "Umpire has an allocator '" + called + "' already", "names are unique",
                  "Look it up by its name");
    return umpire_resource(manager.makeAllocator<Strategy>(called, allocator_, std::forward<Arguments>(arguments)...));
  }

  /// Throws if the allocator refuses, with its name and its reason.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const {
    if (bytes > SIZE_MAX - alignment) return nullptr;
    void* raw = nullptr;
    try {
      std::lock_guard const lock(detail::umpire_lock());
      raw = allocator_.allocate(bytes + alignment);
    } catch (std::exception const& thrown) {
      throw std::runtime_error("Umpire's allocator '" + allocator_.getName() +
                               "' says: " + detail::sentence(thrown.what()));
    }
    // Where it began is written before what is given: Umpire aligns to 16, so there is room.
    auto const at = reinterpret_cast<std::uintptr_t>(raw);
    auto* const given = static_cast<void**>(raw) + (alignment - at % alignment) / sizeof(void*);
    given[-1] = raw;
    return given;
  }
  void deallocate(void* pointer, std::size_t, std::size_t) const {
    std::lock_guard const lock(detail::umpire_lock());
    allocator_.deallocate(static_cast<void**>(pointer)[-1]);
  }

  [[nodiscard]] ::umpire::Allocator const& allocator() const { return allocator_; }
  /// Bytes taken from below, and the most that were ever given out.
  [[nodiscard]] std::size_t held() const { return allocator_.getActualSize(); }
  [[nodiscard]] std::size_t high_water() const { return allocator_.getHighWatermark(); }

private:
  static ::umpire::Allocator found(std::string const& called) {
    auto& manager = ::umpire::ResourceManager::getInstance();
    if (manager.isAllocator(called)) return manager.getAllocator(called);
    auto const made = manager.getAllocatorNames();
    auto const resources = manager.getResourceNames(); // made when they are first named
    std::set<std::string> names(made.begin(), made.end());
    names.insert(resources.begin(), resources.end());
    std::string known;
    for (auto const& each : names) known += (known.empty() ? "" : ", ") + each;
    throw error("space", "Umpire knows no allocator '" + called + "'", "it knows " + known,
                "Make it first, or name one of these");
  }

  mutable ::umpire::Allocator allocator_; // Umpire's functions are not const
};

/// The memory space of Umpire: plain host memory by default, else `umpire<>(umpire_resource<>("by name"))`.
template <class Upstream = Kokkos::HostSpace>
using umpire = memory<umpire_resource<Upstream>>;

} // namespace keel::space

#endif
