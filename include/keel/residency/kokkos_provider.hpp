// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The provider that moves bytes with Kokkos, between the host's memory and those of a list's devices.

#include <keel/impl/residency/digest.hpp>
#include <keel/impl/residency/memories.hpp>
#include <keel/impl/residency/packing.hpp>
#include <keel/residency/concepts.hpp>
#include <keel/residency/grid.hpp>
#include <keel/residency/ledger.hpp>
#include <keel/space/pinned.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency {

/// The array that some bytes lie in, and whether they are all of it.
struct owner {
  int variable, level, component;
  memory where;
  bool is_whole;
};

/// Copies whole arrays as they lie; of a region it gathers the elements where they are, sends them
/// in one piece with those of the whole batch, and scatters them where they go.
///
/// Copies travel in the queue of the device's kernels, so they need no fence of their own.
/// Staging memory grows to what is under way at once, and is not given back before the end.
template <class Lanes>
class kokkos_provider;

template <class... Lanes>
class kokkos_provider<keel::list<Lanes...>> {
public:
  /// Allocates an array for each level and component of a variable in `m`, and reports them by `place`.
  using allocator = void (*)(void* owner, int variable, memory m);

  /// The shares of the components; one where they are all alike.
  explicit kokkos_provider(std::vector<share> shares) : shares_(std::move(shares)) {}

  /// `lies` has a shape for each share.
  void add(std::vector<detail::shape> lies, int levels, int components, allocator make, void* owner) {
    for (std::size_t c = 0; c < lies.size(); ++c) lies[c].all = regions_of_all(lies[c], int(c));
    arrays_.push_back({std::move(lies), levels, components, make, owner, {}});
    slots_.emplace_back();
    for (int l = 0; l < levels; ++l) slots_.back().push_back(l);
  }
  /// Where the array of a component and a slot (a level before any cycling) lies in `m`. Throws where it
  /// overlaps one that is known: what is written in one would go stale in the other unseen.
  void place(int variable, memory m, std::vector<void*> arrays);
  /// Whose array these bytes lie in, all of them.
  [[nodiscard]] std::optional<owner> owner_of(void const* data, std::size_t bytes) const;
  /// Gives the lane to `m` its queue.
  template <class Space>
  void connect(Space const& space) {
    ((connect_lane<Lanes>(space)), ...);
  }

  /// That queue.
  template <std::size_t Lane>
  [[nodiscard]] auto const& queue() const {
    return *std::get<Lane>(channels_).queue;
  }

  [[nodiscard]] int slot(int variable, int level) const { return slots_[std::size_t(variable)][std::size_t(level)]; }
  [[nodiscard]] detail::shape const& shape_of(int variable, int component = 0) const {
    auto const& all = arrays_[std::size_t(variable)].lies;
    return all[all.size() == 1 ? 0 : std::size_t(component)];
  }
  [[nodiscard]] std::size_t size_of(int variable, int component) const {
    return std::size_t(shape_of(variable, component).elements * shape_of(variable, component).element_bytes);
  }
  [[nodiscard]] void* array(int variable, int level, int component, memory m) const {
    record const& r = arrays_[std::size_t(variable)];
    return r.data[std::size_t(m)][std::size_t(component * r.levels + slot(variable, level))];
  }
  [[nodiscard]] region_bytes bytes_of(int variable, int component = 0) const;

  void create(int variable, memory m) {
    record const& r = arrays_[std::size_t(variable)];
    r.make(r.owner, variable, m);
  }
  started copy_cycle(int variable) {
    auto& levels = slots_[std::size_t(variable)];
    rotate_levels(levels.data(), int(levels.size()), rotation::cycle);
    return {};
  }
  started copy_from_past(int variable, int component, memory m);
  started to_device(std::span<transfer const> batch);
  finished to_host(std::span<transfer const> batch);
  void begin_to_host(std::span<transfer const> batch);
  finished pre_sync(std::span<transfer const> batch) { return to_host(batch); }
  started post_sync(std::span<transfer const> batch) { return to_device(batch); }
  void wait(memory m) {
    in_lane(m, [&](auto& lane) { finish(lane); });
  }
  void poison(int variable, int level, int component, region where, memory m);
  /// A number for what lies there; waits for it. Other contents have, but for a chance of 2^-64, another one.
  [[nodiscard]] std::uint64_t digest(int variable, int level, int component, region where, memory m);

private:
  struct record {
    std::vector<detail::shape> lies; // by component, or one for all
    int levels, components;
    allocator make;
    void* owner;
    std::array<std::vector<void*>, max_memories> data;
  };

  // Calls f(variable, slot and component, memory, first byte, number of bytes) for each array.
  template <class F>
  void for_each_array(F&& f) const {
    for (std::size_t v = 0; v < arrays_.size(); ++v)
      for (std::size_t m = 0; m < arrays_[v].data.size(); ++m)
        for (std::size_t i = 0; i < arrays_[v].data[m].size(); ++i)
          f(int(v), int(i), memory(m), static_cast<std::byte const*>(arrays_[v].data[m][i]),
            size_of(int(v), int(i) / arrays_[v].levels));
  }

  template <class Memory>
  using bytes_in = Kokkos::View<unsigned char*, Memory>;
  template <class Memory>
  using borrowed = Kokkos::View<unsigned char*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  // What lies, or will lie, in staging memory on the host for one array there.
  struct arrival {
    transfer what;
    void* array;
    unsigned char* staged;
  };

  // One device's queue, and staging memory on both of its ends. `used` is what copies that
  // may still be under way occupy.
  template <class L>
  struct staging_channel {
    using memory_space = typename L::memory_space;
    using execution_space = typename L::execution_space;
    std::optional<execution_space> queue;
    bytes_in<memory_space> there;
    bytes_in<space::pinned> here;
    std::size_t used = 0;
    std::vector<std::pair<bytes_in<memory_space>, bytes_in<space::pinned>>> retired; // copies may still need them
    std::vector<arrival> arrivals;

    void reserve(std::size_t bytes);
  };

  template <class L, class Space>
  void connect_lane(Space const& space) {
    if constexpr (std::is_same_v<typename L::execution_space, Space>) std::get<staging_channel<L>>(channels_).queue = space;
  }
  template <class F>
  void in_lane([[maybe_unused]] memory m, F&& f) {
    detail::with_index<sizeof...(Lanes)>(std::size_t(m) - 1, [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      f(std::get<I>(channels_));
    });
  }
  // Waits for what was given to the lane, and puts in place what has arrived.
  template <class L>
  void finish(staging_channel<L>& lane);
  // Calls f(transfer, box, offset in the staging memory) for each box that is not sent whole.
  template <class F>
  std::size_t for_each_box(std::span<transfer const> batch, F&& f) const;
  // The regions that have cells, where these are all that the array has.
  [[nodiscard]] region regions_of_all(detail::shape const& lies, int component) const {
    region all = region::none;
    std::int64_t bytes = 0;
    for (region one : single_regions) {
      detail::box_set const set = boxes(lies, component, one);
      for (int b = 0; b < set.count; ++b) bytes += detail::bytes_of(lies, set.boxes[b]);
      if (set.count != 0) all = all | (one & region::everywhere);
    }
    return bytes == lies.elements * lies.element_bytes ? all : region::none;
  }
  [[nodiscard]] bool is_whole(transfer const& t) const {
    region const all = shape_of(t.variable, t.component).all;
    return all != region::none && without(all, t.where) == region::none;
  }
  [[nodiscard]] detail::box_set boxes(int variable, int component, region where) const {
    return boxes(shape_of(variable, component), component, where);
  }
  [[nodiscard]] detail::box_set boxes(detail::shape const& lies, int component, region where) const {
    return detail::boxes_of(lies.rank != 0 ? shares_[shares_.size() == 1 ? 0 : std::size_t(component)] : share{}, where, lies.has_ghosts);
  }

  std::vector<share> shares_;
  std::vector<record> arrays_;
  std::vector<std::vector<int>> slots_;
  std::tuple<staging_channel<Lanes>...> channels_;
};

} // namespace keel::residency

#include <keel/impl/residency/kokkos_provider.hpp>
