// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where boxes of arrays are packed into messages and unpacked: on the host, or on a device.

#include <keel/impl/residency/strip.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace keel::residency::detail {

/// Moves the words of a box between `array` and `buffer`, both in the memory of `space`, by a kernel.
template <motion M, class Space>
void launch_move(Space const& space, shape const& lies, void* array, void* buffer, bounds const& box) {
  with_word(lies, [&]<class Word>(Word) {
    strip const s = strip_of(lies, box);
    Kokkos::parallel_for("keel: region", Kokkos::RangePolicy<Space>(space, 0, s.words),
                         move_words<Word, M>{static_cast<Word*>(array), static_cast<Word*>(buffer), s});
  });
}

/// Packs on the host, at once. Buffers grow to the largest asked for.
class host_packing {
public:
  std::byte* out(std::size_t bytes) { return room(out_, bytes); }
  std::byte* in(std::size_t bytes) { return room(in_, bytes); }
  template <motion M>
  void move(shape const& lies, void* array, std::byte* buffer, bounds const& box) {
    move_on_host<M>(lies, array, buffer, box);
  }
  /// Returns when the buffers are free for messages.
  void settle() {}

private:
  static std::byte* room(std::vector<std::uint64_t>& words, std::size_t bytes) {
    if (words.size() * 8 < bytes) words.resize(bytes / 8);
    return reinterpret_cast<std::byte*>(words.data());
  }
  std::vector<std::uint64_t> out_, in_;
};

/// Packs on a device, in its memory, which messages then leave from and arrive in; behind the kernels of its queue.
template <class Space>
class device_packing {
public:
  void connect(Space const& queue) { queue_ = &queue; }

  std::byte* out(std::size_t bytes) { return room(out_, bytes); }
  std::byte* in(std::size_t bytes) { return room(in_, bytes); }
  template <motion M>
  void move(shape const& lies, void* array, std::byte* buffer, bounds const& box) {
    launch_move<M>(*queue_, lies, array, buffer, box);
  }
  void settle() { queue_->fence(); }

private:
  using words = Kokkos::View<std::uint64_t*, typename Space::memory_space>;
  static std::byte* room(words& all, std::size_t bytes) {
    if (all.extent(0) * 8 < bytes)
      all = words(Kokkos::view_alloc(std::string("keel: ghosts"), Kokkos::WithoutInitializing), bytes / 8);
    return reinterpret_cast<std::byte*>(all.data());
  }
  Space const* queue_ = nullptr;
  words out_, in_;
};

} // namespace keel::residency::detail
