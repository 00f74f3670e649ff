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

/// To the memory of `Space`, in the queue of one of its instances. Only one that `Digests` has the kernels for that.
template <class Space, bool Digests>
class kokkos_lane final : public lane {
public:
  explicit kokkos_lane(Space const& queue) : queue_(queue) {}

  std::shared_ptr<std::byte> allocate(char const* label, std::size_t bytes) override {
    return allocate_in<typename Space::memory_space>(label, bytes);
  }
  std::shared_ptr<std::byte> allocate_on_host(char const* label, std::size_t bytes) override {
    return allocate_in<space::pinned>(label, bytes);
  }
  void to_device(void* to, void const* host_from, std::size_t bytes) override { Kokkos::deep_copy(queue_, there(to, bytes), here(host_from, bytes)); }
  void to_host(void* host_to, void const* from, std::size_t bytes) override { Kokkos::deep_copy(queue_, here(host_to, bytes), there(from, bytes)); }
  void copy(void* to, void const* from, std::size_t bytes) override { Kokkos::deep_copy(queue_, there(to, bytes), there(from, bytes)); }

  void move(motion how, shape const& lies, void* array, void* buffer, bounds const& box) override {
    strip const s = strip_of(lies, box);
    Kokkos::parallel_for("keel: region", policy(queue_, 0, typename policy::member_type(s.words)), move_words{how, array, buffer, s});
  }
  std::uint64_t digest([[maybe_unused]] shape const& lies, [[maybe_unused]] void const* array, [[maybe_unused]] bounds const& box) override {
    std::uint64_t sum = 0;
    if constexpr (Digests) {
      digest_words const words{array, strip_of(lies, box)};
      Kokkos::parallel_reduce("keel: digest", policy(queue_, 0, typename policy::member_type(words.which.words)), words, sum);
    }
    return sum;
  }
  void fence() override { queue_.fence(); }

private:
  using policy = Kokkos::RangePolicy<Space>;
  template <class Memory>
  using borrowed = Kokkos::View<unsigned char*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static auto there(void const* data, std::size_t bytes) {
    return borrowed<typename Space::memory_space>(static_cast<unsigned char*>(const_cast<void*>(data)), bytes);
  }
  static auto here(void const* data, std::size_t bytes) {
    return borrowed<Kokkos::HostSpace>(static_cast<unsigned char*>(const_cast<void*>(data)), bytes);
  }
  template <class Memory>
  static std::shared_ptr<std::byte> allocate_in(char const* label, std::size_t bytes) {
    using view = Kokkos::View<std::byte*, Memory>;
    auto const made = std::make_shared<view>(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), bytes);
    return {made, made->data()};
  }

  Space queue_;
};

} // namespace keel::residency::detail
