// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The copy queue of a Kokkos space.

#include <keel/impl/residency/copy_queue.hpp>
#include <keel/space/peers.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/pinned.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace keel::residency::detail {

/// What a copy queue to the memory of `Space` does. Only one that `Digests` has the kernels for that.
template <class Space, bool Digests>
struct kokkos_queue_calls {
  using policy = Kokkos::RangePolicy<Space>;
  using words_count = typename policy::member_type;
  using device_memory = typename Space::memory_space;

  static Space const& space(void const* queue) { return *static_cast<Space const*>(queue); }

  template <class Memory>
  static std::shared_ptr<std::byte> allocate(char const* label, std::size_t bytes) {
    return {static_cast<std::byte*>(Kokkos::kokkos_malloc<Memory>(label, bytes)), &Kokkos::kokkos_free<Memory>};
  }
  /// What `Kokkos::deep_copy` does with two arrays of bytes. Its kernels for other arrays cost the compiler time.
  template <class To, class From>
  static void copy_bytes(void const* queue, void* to, void const* from, std::size_t bytes) {
    if (bytes == 0) return;
    bool const is_shown = Kokkos::Tools::profileLibraryLoaded();
    if (is_shown) [[unlikely]]
      Kokkos::Tools::beginDeepCopy(Kokkos::Tools::make_space_handle(To::name()), {}, to,
                                   Kokkos::Tools::make_space_handle(From::name()), {}, from, bytes);
    (void)Kokkos::Impl::DeepCopy<To, From, Space>(space(queue), to, from, bytes);
    if (is_shown) [[unlikely]]
      Kokkos::Tools::endDeepCopy();
  }
  static void move(void const* queue, move_words const& words) {
    bool const is_flags = words.listed == nullptr && words.pieces[0].how >= motion::raise;
    Kokkos::parallel_for(is_flags ? "keel: flags" : "keel: regions",
                         Kokkos::Experimental::require(policy(space(queue), 0, words_count(words.words)),
                                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                         words); // the hint: as arguments of the kernel, without a copy that is waited for
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
  static bool is_reached_by_host() {
    if constexpr (std::is_same_v<device_memory, keel::space::simulated_memory>)
      return keel::space::chosen_guard() != keel::space::guard::pages;
    else return false;
  }
  static void* native(void const* queue) {
    if constexpr (requires { space(queue).cuda_stream(); }) return space(queue).cuda_stream();
    else if constexpr (requires { space(queue).hip_stream(); }) return space(queue).hip_stream();
    else return nullptr;
  }

  static constexpr copy_queue::calls all{&allocate<device_memory>,
                                         &allocate<keel::space::pinned>,
                                         &copy_bytes<device_memory, Kokkos::HostSpace>,
                                         &copy_bytes<Kokkos::HostSpace, device_memory>,
                                         &copy_bytes<device_memory, device_memory>,
                                         &move,
                                         &digest,
                                         &fence,
                                         &is_reached_by_host,
                                         &keel::space::peers_of<device_memory>,
                                         &native};
};

/// To the memory of a space, in the queue of one of its instances.
template <bool Digests, class Space>
[[nodiscard]] copy_queue kokkos_copy_queue(Space const& queue) {
  return {std::make_shared<Space>(queue), kokkos_queue_calls<Space, Digests>::all};
}

} // namespace keel::residency::detail
