// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The provider of `fields`, which moves bytes between the host's memory and those of Kokkos' spaces.

#include <keel/impl/exchange/copy_queue.hpp>
#include <keel/impl/layout/array_kind.hpp>
#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>
#include <keel/validity/traffic.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace keel::residency {

namespace detail {
struct array_ref;
}

/// Copies whole arrays as they lie; of a region it gathers the elements where they are, sends them
/// in one piece with those of the whole batch, and scatters them where they go.
///
/// Copies travel in the queue of the device's kernels, so they need no fence of their own.
/// Staging memory grows to what is under way at once, and is not given back before the end.
/// No template, so that it is compiled once: what depends on a memory's type is its copy queue.
class kokkos_provider {
public:
  /// Allocates an array for each level and component of a variable in `m`, and reports them by `place`.
  using allocator = void (*)(void* owner, int variable, memory m);

  kokkos_provider();
  ~kokkos_provider();
  kokkos_provider(kokkos_provider const&) = delete;
  kokkos_provider& operator=(kokkos_provider const&) = delete;

  /// How the arrays of each component lie; one shape if all are alike.
  void add(std::vector<detail::shape> lies, int levels, allocator make, void* owner);
  /// Forgets all variables but the first ones.
  void keep(std::size_t first);
  /// The variable that an array shares elements with.
  [[nodiscard]] std::optional<int> sharing(detail::array_ref const& a) const;
  /// Where the array of a component and a slot (a level before any cycling) lies in `m`. Throws if it shares elements
  /// with one that is known: what is written in one would go stale in the other unseen.
  void place(int variable, memory m, std::vector<void*> arrays);
  /// Says where the arrays lie in memory that others use at other times. `owner_of` does not find them.
  void place_shared(int variable, memory m, std::vector<void*> arrays) {
    arrays_[std::size_t(variable)].is_shared = true;
    arrays_[std::size_t(variable)].data[std::size_t(m)] = std::move(arrays);
  }
  /// How the arrays of a variable lie in a memory, and where.
  struct layout {
    std::vector<detail::shape> lies; ///< by component, or one for all
    std::array<std::vector<void*>, max_memories> data;
  };
  [[nodiscard]] layout const& layout_of(int variable) const { return arrays_[std::size_t(variable)]; }
  /// Gives a variable the other arrays. Does not throw.
  void swap(int variable, layout& other) { std::swap(static_cast<layout&>(arrays_[std::size_t(variable)]), other); }
  /// The array that all these bytes lie in.
  [[nodiscard]] std::optional<owner> owner_of(void const* data, std::size_t bytes) const;
  /// What copies to `m` and from it; of a space of Kokkos `detail::kokkos_copy_queue` makes it. The first stays.
  void connect(memory m, detail::copy_queue queue) {
    if (!channel_of(m).queue) channel_of(m).queue = std::move(queue);
  }
  [[nodiscard]] detail::copy_queue const& queue_of(memory m) { return m == host ? of_host_ : channel_of(m).queue; }

  /// See `copy_queue::take_failure`.
  [[nodiscard]] bool take_failure(memory m) { return queue_of(m).take_failure(); }
  /// By variable and level.
  [[nodiscard]] std::vector<std::vector<int>> const& slots() const { return slots_; }
  void set_slots(std::vector<std::vector<int>> const& as_they_were) { slots_ = as_they_were; }
  [[nodiscard]] int slot(int variable, int level) const { return slots_[std::size_t(variable)][std::size_t(level)]; }
  [[nodiscard]] detail::shape const& shape_of(int variable, int component = 0) const {
    auto const& all = arrays_[std::size_t(variable)].lies;
    return all[all.size() == 1 ? 0 : std::size_t(component)];
  }
  [[nodiscard]] std::size_t size_of(int variable, int component) const {
    return std::size_t(shape_of(variable, component).elements * shape_of(variable, component).element_bytes);
  }
  /// The bytes that a copy of the whole takes.
  [[nodiscard]] std::size_t used_of(int variable, int component) const {
    detail::shape const& lies = shape_of(variable, component);
    return std::size_t((lies.elements - lies.unused) * lies.element_bytes);
  }
  [[nodiscard]] void* array(int variable, int level, int component, memory m) const {
    variable_arrays const& r = arrays_[std::size_t(variable)];
    return r.data[std::size_t(m)][std::size_t(component * r.levels + slot(variable, level))];
  }
  [[nodiscard]] region_bytes bytes_of(int variable, int component = 0) const;

  void create(int variable, memory m);
  started copy_cycle(int variable);
  started copy_from_past(int variable, int component, memory m);
  started to_device(std::span<transfer const> batch) {
    ship(batch, batch[0].to);
    return {};
  }
  finished to_host(std::span<transfer const> batch) {
    begin_to_host(batch), wait(batch[0].from);
    return {};
  }
  void begin_to_host(std::span<transfer const> batch) { ship(batch, batch[0].from); }
  finished pre_sync(std::span<transfer const> batch) { return to_host(batch); }
  started post_sync(std::span<transfer const> batch) { return to_device(batch); }
  void wait(memory m);
  void poison(int variable, int level, int component, region where, memory m);
  /// A number for what lies there; waits for it. Other contents have, but for a chance of 2^-64, another one.
  [[nodiscard]] std::uint64_t digest(int variable, int level, int component, region where, memory m);
  /// Words of eight bytes there that hold poison. Waits for them; allocates.
  [[nodiscard]] std::uint64_t count_poison(int variable, int level, int component, region where, memory m);

private:
  struct variable_arrays : layout {
    int levels;
    allocator make;
    void* owner;
    bool is_shared = false;
  };
  struct staging {
    std::shared_ptr<std::byte> there, here;
  };
  // A copy queue, and staging memory on both of its ends. `used` is what copies that may still be under way occupy.
  struct staging_channel {
    detail::copy_queue queue;
    staging held;
    std::size_t size = 0, used = 0;
    std::vector<staging> retired;      // copies may still need them
    std::vector<detail::job> arrivals; // what the host does with that which is under way there
  };

  [[nodiscard]] staging_channel& channel_of(memory m) { return channels_[std::size_t(m) - 1]; }
  // Calls f(variable, slot and component, memory, first byte, number of bytes) for each array.
  template <class F>
  void for_each_array(F&& f) const;
  // Calls f(transfer, box, offset in the staging memory) for each box that is not sent whole.
  template <class F>
  std::size_t for_each_box(std::span<transfer const> batch, F&& f) const;
  // Makes room for the boxes of a batch, and returns how many bytes of staging memory they get on both ends, from
  // `used` on.
  std::size_t make_room(staging_channel& channel, std::span<transfer const> batch);
  // Between the host and memory `m`.
  void ship(std::span<transfer const> batch, memory m);
  [[nodiscard]] bool is_whole(transfer const& t) const;

  std::vector<variable_arrays> arrays_;
  std::vector<std::vector<int>> slots_;
  std::array<staging_channel, max_memories - 1> channels_;
  detail::copy_queue of_host_;
  std::vector<detail::job> moves_; // of the batch at work; kept, so that no batch allocates
};

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/exchange/kokkos_provider.ipp>
#endif
