// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where boxes of arrays are packed into messages and unpacked: on the host, or on a device.

#include <keel/impl/residency/strip.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/pinned.hpp>

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
    using policy = Kokkos::RangePolicy<Space>;
    Kokkos::parallel_for("keel: region", policy(space, 0, typename policy::member_type(s.words)),
                         move_words<Word, M>{static_cast<Word*>(array), static_cast<Word*>(buffer), s});
  });
}

/// Packs on the host, at once. Buffers grow to the largest asked for. Of both packings: boxes move from and to `out`
/// and `in`, messages leave and arrive at `mail_out` and `mail_in`.
class host_packing {
public:
  static constexpr bool is_behind_caller = false;

  std::byte* out(std::size_t bytes) { return room(out_, bytes); }
  std::byte* in(std::size_t bytes) { return room(in_, bytes); }
  std::byte* mail_out() { return out(0); }
  std::byte* mail_in() { return in(0); }
  template <motion M>
  void move(shape const& lies, void* array, std::byte* buffer, bounds const& box) {
    move_on_host<M>(lies, array, buffer, box);
  }
  /// Returns when what was packed may leave, and more may arrive.
  void settle() {}
  /// What arrived may be unpacked.
  void collect() {}

private:
  static std::byte* room(std::vector<std::uint64_t>& words, std::size_t bytes) {
    if (words.size() * 8 < bytes) words.resize(bytes / 8);
    return reinterpret_cast<std::byte*>(words.data());
  }
  std::vector<std::uint64_t> out_, in_;
};

/// Packs on a device, in its memory, behind the kernels of its queue. Messages leave from there and arrive there; or,
/// where MPI does not reach that memory, in one piece of pinned host memory each way.
template <class Space>
class device_packing {
public:
  static constexpr bool is_behind_caller = true;

  void connect(Space const& queue, bool by_way_of_host) { queue_ = &queue, by_way_of_host_ = by_way_of_host; }

  std::byte* out(std::size_t bytes) { return room(out_, mail_out_, bytes); }
  std::byte* in(std::size_t bytes) { return room(in_, mail_in_, bytes); }
  std::byte* mail_out() { return by_way_of_host_ ? bytes_of(mail_out_) : bytes_of(out_); }
  std::byte* mail_in() { return by_way_of_host_ ? bytes_of(mail_in_) : bytes_of(in_); }
  template <motion M>
  void move(shape const& lies, void* array, std::byte* buffer, bounds const& box) {
    launch_move<M>(*queue_, lies, array, buffer, box);
  }
  void settle() {
    if (by_way_of_host_) Kokkos::deep_copy(*queue_, borrowed(mail_out_), out_);
    queue_->fence();
  }
  void collect() {
    if (by_way_of_host_) Kokkos::deep_copy(*queue_, in_, borrowed(mail_in_));
  }

private:
  using words = Kokkos::View<std::uint64_t*, typename Space::memory_space>;
  using pinned_words = Kokkos::View<std::uint64_t*, space::pinned>;

  using host_words = Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static host_words borrowed(pinned_words const& mail) { return host_words(mail.data(), mail.extent(0)); }
  template <class Words>
  static std::byte* bytes_of(Words const& all) {
    return reinterpret_cast<std::byte*>(all.data());
  }
  std::byte* room(words& all, pinned_words& mail, std::size_t bytes) {
    using Kokkos::view_alloc, Kokkos::WithoutInitializing;
    if (all.extent(0) * 8 < bytes) {
      queue_->fence(); // what the last exchange brought may not be unpacked yet
      all = words(view_alloc(std::string("keel: ghosts"), WithoutInitializing), bytes / 8);
    }
    if (by_way_of_host_ && mail.extent(0) != all.extent(0))
      mail = pinned_words(view_alloc(std::string("keel: ghosts"), WithoutInitializing), all.extent(0));
    return bytes_of(all);
  }

  Space const* queue_ = nullptr;
  bool by_way_of_host_ = false;
  words out_, in_;
  pinned_words mail_out_, mail_in_;
};

} // namespace keel::residency::detail
