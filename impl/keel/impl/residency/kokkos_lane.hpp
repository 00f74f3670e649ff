// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The lane of a Kokkos space.

#include <keel/impl/residency/digest.hpp>
#include <keel/impl/residency/lane.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/pinned.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace keel::residency::detail {

/// What a lane to the memory of `Space` does. Only one that `Digests` has the kernels for that.
template <class Space, bool Digests>
struct kokkos_lane_calls {
  using policy = Kokkos::RangePolicy<Space>;
  using words_count = typename policy::member_type;
  template <class Memory>
  using borrowed = Kokkos::View<unsigned char*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static Space const& space(void const* queue) { return *static_cast<Space const*>(queue); }
  static auto there(void const* data, std::size_t bytes) {
    return borrowed<typename Space::memory_space>(static_cast<unsigned char*>(const_cast<void*>(data)), bytes);
  }
  static auto here(void const* data, std::size_t bytes) {
    return borrowed<Kokkos::HostSpace>(static_cast<unsigned char*>(const_cast<void*>(data)), bytes);
  }

  template <class Memory>
  static std::shared_ptr<std::byte> allocate(char const* label, std::size_t bytes) {
    using view = Kokkos::View<std::byte*, Memory>;
    auto const made =
        std::make_shared<view>(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), bytes);
    return {made, made->data()};
  }
  static void to_device(void const* queue, void* to, void const* host_from, std::size_t bytes) {
    Kokkos::deep_copy(space(queue), there(to, bytes), here(host_from, bytes));
  }
  static void to_host(void const* queue, void* host_to, void const* from, std::size_t bytes) {
    Kokkos::deep_copy(space(queue), here(host_to, bytes), there(from, bytes));
  }
  static void copy(void const* queue, void* to, void const* from, std::size_t bytes) {
    Kokkos::deep_copy(space(queue), there(to, bytes), there(from, bytes));
  }
  static void move(void const* queue, motion how, shape const& lies, void* array, void* buffer, bounds const& box) {
    strip const s = strip_of(lies, box);
    Kokkos::parallel_for("keel: region", policy(space(queue), 0, words_count(s.words)),
                         move_words{how, array, buffer, s});
  }
  static std::uint64_t digest([[maybe_unused]] void const* queue, [[maybe_unused]] shape const& lies,
                              [[maybe_unused]] void const* array, [[maybe_unused]] bounds const& box) {
    std::uint64_t sum = 0;
    if constexpr (Digests) {
      digest_words const words{array, strip_of(lies, box)};
      Kokkos::parallel_reduce("keel: digest", policy(space(queue), 0, words_count(words.which.words)), words, sum);
    }
    return sum;
  }
  static void fence(void const* queue) { space(queue).fence(); }

  static constexpr lane::calls all{&allocate<typename Space::memory_space>,
                                   &allocate<keel::space::pinned>,
                                   &to_device,
                                   &to_host,
                                   &copy,
                                   &move,
                                   &digest,
                                   &fence};
};

/// To the memory of a space, in the queue of one of its instances.
template <bool Digests, class Space>
[[nodiscard]] lane kokkos_lane(Space const& queue) {
  return {std::make_shared<Space>(queue), kokkos_lane_calls<Space, Digests>::all};
}

} // namespace keel::residency::detail
