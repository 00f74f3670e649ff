// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How bytes are gathered, sent and scattered.

#include <keel/policy/error.hpp>
#include <keel/residency/kokkos_provider.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace keel::residency {

template <class... Lanes>
region_bytes kokkos_provider<keel::list<Lanes...>>::bytes_of(int variable, int component) const {
  region_bytes bytes{};
  for (region one : single_regions) {
    detail::box_set const set = boxes(variable, component, one);
    for (int b = 0; b < set.count; ++b)
      bytes[std::size_t(index_of(one))] += std::uint64_t(detail::bytes_of(shape_of(variable, component), set.boxes[b]));
  }
  return bytes;
}

template <class... Lanes>
void kokkos_provider<keel::list<Lanes...>>::place(int variable, memory m, std::vector<void*> arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    auto const* const begin = static_cast<std::byte const*>(arrays[i]);
    std::size_t const size = size_of(variable, int(i) / arrays_[std::size_t(variable)].levels);
    for_each_array([&](int other, int, memory, std::byte const* first, std::size_t bytes) {
      if (std::less<>{}(begin, first + bytes) && std::less<>{}(first, begin + size))
        throw error("residency::kokkos_provider", "arrays of variables " + std::to_string(other) + " and " + std::to_string(variable) +
                    " overlap", "what is written in one would go stale in the other", "Give each memory of its own");
    });
  }
  arrays_[std::size_t(variable)].data[std::size_t(m)] = std::move(arrays);
}

template <class... Lanes>
std::optional<owner> kokkos_provider<keel::list<Lanes...>>::owner_of(void const* data, std::size_t bytes) const {
  std::optional<owner> found;
  auto const* const begin = static_cast<std::byte const*>(data);
  for_each_array([&](int variable, int i, memory m, std::byte const* first, std::size_t size) {
    if (bytes == 0 || std::less<>{}(begin, first) || std::less<>{}(first + size, begin + bytes)) return;
    int const levels = arrays_[std::size_t(variable)].levels;
    int level = 0;
    while (slot(variable, level) != i % levels) ++level;
    found = owner{variable, level, i / levels, m, bytes == size};
  });
  return found;
}

// Pieces begin at multiples of eight bytes, so that words of any length are aligned.
template <class... Lanes>
template <class F>
std::size_t kokkos_provider<keel::list<Lanes...>>::for_each_box(std::span<transfer const> batch, F&& f) const {
  std::size_t offset = 0;
  for (transfer const& t : batch) {
    if (is_whole(t)) continue;
    detail::shape const& lies = shape_of(t.variable, t.component);
    detail::box_set const set = boxes(t.variable, t.component, t.where);
    for (int b = 0; b < set.count; ++b) {
      f(t, set.boxes[b], offset);
      offset += (std::size_t(detail::bytes_of(lies, set.boxes[b])) + 7) / 8 * 8;
    }
  }
  return offset;
}

template <class... Lanes>
template <class L>
void kokkos_provider<keel::list<Lanes...>>::staging_channel<L>::reserve(std::size_t bytes) {
  if (used + bytes <= here.extent(0)) return;
  using Kokkos::view_alloc, Kokkos::WithoutInitializing;
  std::size_t const size = std::max(bytes, 2 * here.extent(0));
  bytes_in<memory_space> far(view_alloc(std::string("keel: staging"), WithoutInitializing), size);
  bytes_in<space::pinned> near(view_alloc(std::string("keel: staging"), WithoutInitializing), size);
  retired.emplace_back(std::exchange(there, far), std::exchange(here, near));
  used = 0;
}

// Whole arrays first; then the other regions of the batch are gathered on the host, sent in one
// piece, and scattered by kernels. All in the device's queue, so nothing here waits for it.
template <class... Lanes>
started kokkos_provider<keel::list<Lanes...>>::to_device(std::span<transfer const> batch) {
  in_lane(batch[0].to, [&]<class L>(staging_channel<L>& lane) {
    using there = typename L::memory_space;
    std::size_t const size = for_each_box(batch, [](auto&&...) {});
    if (size != 0) lane.reserve(size); // first, because it may fail
    for (transfer const& t : batch)
      if (is_whole(t)) {
        std::size_t const bytes = size_of(t.variable, t.component);
        auto* const from = static_cast<unsigned char*>(array(t.variable, t.level, t.component, host));
        auto* const to = static_cast<unsigned char*>(array(t.variable, t.level, t.component, t.to));
        Kokkos::deep_copy(*lane.queue, borrowed<there>(to, bytes), borrowed<Kokkos::HostSpace>(from, bytes));
      }
    if (size == 0) return;
    unsigned char* const here = lane.here.data() + lane.used;
    unsigned char* const far = lane.there.data() + lane.used;
    lane.used += size;
    for_each_box(batch, [&](transfer const& t, bounds const& box, std::size_t offset) {
      detail::move_on_host<detail::motion::gather>(shape_of(t.variable, t.component), array(t.variable, t.level, t.component, host),
                                                   here + offset, box);
    });
    Kokkos::deep_copy(*lane.queue, borrowed<there>(far, size), borrowed<Kokkos::HostSpace>(here, size));
    for_each_box(batch, [&](transfer const& t, bounds const& box, std::size_t offset) {
      detail::launch_move<detail::motion::scatter>(*lane.queue, shape_of(t.variable, t.component),
                                                   array(t.variable, t.level, t.component, t.to), far + offset, box);
    });
  });
  return {};
}

// The same the other way round. The host scatters when all has arrived: where the levels have cycled since, to the
// arrays that were meant.
template <class... Lanes>
void kokkos_provider<keel::list<Lanes...>>::begin_to_host(std::span<transfer const> batch) {
  in_lane(batch[0].from, [&]<class L>(staging_channel<L>& lane) {
    using there = typename L::memory_space;
    std::size_t const size = for_each_box(batch, [](auto&&...) {});
    if (size != 0) { // first, because it may fail
      lane.reserve(size);
      lane.arrivals.reserve(lane.arrivals.size() + batch.size());
    }
    for (transfer const& t : batch)
      if (is_whole(t)) {
        std::size_t const bytes = size_of(t.variable, t.component);
        auto* const from = static_cast<unsigned char*>(array(t.variable, t.level, t.component, t.from));
        auto* const to = static_cast<unsigned char*>(array(t.variable, t.level, t.component, host));
        Kokkos::deep_copy(*lane.queue, borrowed<Kokkos::HostSpace>(to, bytes), borrowed<there>(from, bytes));
      }
    if (size == 0) return;
    unsigned char* const here = lane.here.data() + lane.used;
    unsigned char* const far = lane.there.data() + lane.used;
    lane.used += size;
    transfer const* last = nullptr;
    for_each_box(batch, [&](transfer const& t, bounds const& box, std::size_t offset) {
      detail::launch_move<detail::motion::gather>(*lane.queue, shape_of(t.variable, t.component),
                                                  array(t.variable, t.level, t.component, t.from), far + offset, box);
      if (std::exchange(last, &t) != &t) lane.arrivals.push_back({t, array(t.variable, t.level, t.component, host), here + offset});
    });
    Kokkos::deep_copy(*lane.queue, borrowed<Kokkos::HostSpace>(here, size), borrowed<there>(far, size));
  });
}

template <class... Lanes>
finished kokkos_provider<keel::list<Lanes...>>::to_host(std::span<transfer const> batch) {
  begin_to_host(batch);
  wait(batch[0].from);
  return {};
}

template <class... Lanes>
template <class L>
void kokkos_provider<keel::list<Lanes...>>::finish(staging_channel<L>& lane) {
  lane.queue->fence();
  for (arrival const& a : lane.arrivals)
    for_each_box({&a.what, 1}, [&](transfer const& t, bounds const& box, std::size_t offset) {
      detail::move_on_host<detail::motion::scatter>(shape_of(t.variable, t.component), a.array, a.staged + offset, box);
    });
  lane.arrivals.clear();
  lane.used = 0;
  lane.retired.clear();
}

template <class... Lanes>
started kokkos_provider<keel::list<Lanes...>>::copy_from_past(int variable, int component, memory m) {
  std::size_t const size = size_of(variable, component);
  auto* const from = static_cast<unsigned char*>(array(variable, 1, component, m));
  auto* const to = static_cast<unsigned char*>(array(variable, 0, component, m));
  if (m == host) std::memcpy(to, from, size);
  else
    in_lane(m, [&]<class L>(staging_channel<L>& lane) {
      using there = typename L::memory_space;
      Kokkos::deep_copy(*lane.queue, borrowed<there>(to, size), borrowed<there>(from, size));
    });
  return {};
}

template <class... Lanes>
void kokkos_provider<keel::list<Lanes...>>::poison(int variable, int level, int component, region where, memory m) {
  detail::box_set const set = boxes(variable, component, where);
  void* const data = array(variable, level, component, m);
  for (int b = 0; b < set.count; ++b) {
    if (m == host) detail::move_on_host<detail::motion::poison>(shape_of(variable, component), data, nullptr, set.boxes[b]);
    else
      in_lane(m, [&](auto& lane) {
        detail::launch_move<detail::motion::poison>(*lane.queue, shape_of(variable, component), data, nullptr, set.boxes[b]);
      });
  }
}

template <class... Lanes>
std::uint64_t kokkos_provider<keel::list<Lanes...>>::digest(int variable, int level, int component, region where, memory m) {
  detail::shape const& lies = shape_of(variable, component);
  detail::box_set const set = boxes(variable, component, where);
  void const* const data = array(variable, level, component, m);
  std::uint64_t all = 0;
  detail::with_word(lies, [&]<class Word>(Word) {
    for (int b = 0; b < set.count; ++b) {
      detail::digest_words<Word> const words{static_cast<Word const*>(data), detail::strip_of(lies, set.boxes[b])};
      std::uint64_t sum = 0;
      if (m == host)
        for (std::int64_t i = 0; i < words.which.words; ++i) words(i, sum);
      else
        in_lane(m, [&]<class L>(staging_channel<L>& lane) {
          using policy = Kokkos::RangePolicy<typename L::execution_space>;
          Kokkos::parallel_reduce("keel: digest", policy(*lane.queue, 0, typename policy::member_type(words.which.words)), words, sum);
        });
      all += sum;
    }
  });
  return all;
}

} // namespace keel::residency
