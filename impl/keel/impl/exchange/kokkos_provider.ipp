// SPDX-License-Identifier: MIT
#include <keel/exchange/kokkos_provider.hpp>
#include <keel/impl/exchange/array_ref.hpp>
#include <keel/impl/exchange/packing.hpp>

#include <algorithm>
#include <functional>
#include <string>

namespace keel::residency {

KEEL_INLINE kokkos_provider::kokkos_provider() = default;
KEEL_INLINE kokkos_provider::~kokkos_provider() = default;

KEEL_INLINE void kokkos_provider::add(std::vector<detail::shape> lies, int levels, allocator make, void* owner) {
  arrays_.push_back({{std::move(lies), {}}, levels, make, owner, false});
  slots_.emplace_back();
  for (int l = 0; l < levels; ++l) slots_.back().push_back(l);
}

KEEL_INLINE void kokkos_provider::keep(std::size_t first) {
  while (arrays_.size() > first) arrays_.pop_back();
  while (slots_.size() > first) slots_.pop_back();
}

template <class F>
void kokkos_provider::for_each_array(F&& f) const {
  for (std::size_t v = 0; v < arrays_.size(); ++v)
    for (std::size_t m = 0; m < arrays_[v].data.size() && !arrays_[v].is_shared; ++m)
      for (std::size_t i = 0; i < arrays_[v].data[m].size(); ++i)
        f(int(v), int(i), memory(m), static_cast<std::byte const*>(arrays_[v].data[m][i]),
          size_of(int(v), int(i) / arrays_[v].levels));
}

// Where the elements of an array are that lies so.
[[nodiscard]] inline detail::array_ref ref_of(detail::shape const& lies, void const* data) {
  detail::array_ref made;
  made.data = const_cast<void*>(data), made.element_bytes = lies.element_bytes;
  if (lies.order.empty()) made.extents[made.rank] = lies.elements, made.strides[made.rank++] = 1;
  for (detail::dimension_run const& d : lies.order)
    made.extents[made.rank] = d.count, made.strides[made.rank++] = d.stride;
  return made;
}

KEEL_INLINE std::optional<int> kokkos_provider::sharing(detail::array_ref const& a) const {
  std::optional<int> found;
  for_each_array([&](int other, int i, memory, std::byte const* first, std::size_t) {
    if (share_elements(a, ref_of(shape_of(other, i / arrays_[std::size_t(other)].levels), first))) found = other;
  });
  return found;
}

KEEL_INLINE void kokkos_provider::place(int variable, memory m, std::vector<void*> arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (auto const other =
            sharing(ref_of(shape_of(variable, int(i) / arrays_[std::size_t(variable)].levels), arrays[i])))
      throw error("residency::kokkos_provider",
                  "arrays of variables " + std::to_string(*other) + " and " + std::to_string(variable) + " overlap",
                  "what is written in one would go stale in the other", "Give each memory of its own");
  arrays_[std::size_t(variable)].data[std::size_t(m)] = std::move(arrays);
}

KEEL_INLINE std::optional<owner> kokkos_provider::owner_of(void const* data, std::size_t bytes) const {
  std::optional<owner> found;
  auto const* const begin = static_cast<std::byte const*>(data);
  for_each_array([&](int variable, int i, memory m, std::byte const* first, std::size_t size) {
    bool const is_it = bytes == 0 ? size == 0 && begin == first && begin != nullptr // of a rank without cells
                                  : !std::less<>{}(begin, first) && !std::less<>{}(first + size, begin + bytes);
    if (!is_it) return;
    int const levels = arrays_[std::size_t(variable)].levels;
    int level = 0;
    while (slot(variable, level) != i % levels) ++level;
    found = owner{variable, level, i / levels, m, bytes == size};
  });
  return found;
}

[[nodiscard]] inline std::int64_t bytes_in(detail::shape const& lies, region where) {
  std::int64_t bytes = 0;
  for (detail::index_set const& box : detail::boxes_of(lies, where)) bytes += detail::bytes_of(lies, box);
  return bytes;
}

// A core is not listed for it, which may take long.
KEEL_INLINE region_bytes kokkos_provider::bytes_of(int variable, int component) const {
  region_bytes bytes{};
  detail::shape const& lies = shape_of(variable, component);
  auto const of = [&](region one) -> std::uint64_t& { return bytes[std::size_t(index_of(one))]; };
  for (region const one : single_regions)
    of(one) = std::uint64_t(bytes_in(lies, one == region::core ? region::owned : one));
  of(region::core) -= of(region::rim);
  return bytes;
}

// Whether the region is all that the array has, except padding.
KEEL_INLINE bool kokkos_provider::is_whole(transfer const& t) const {
  detail::shape const& lies = shape_of(t.variable, t.component);
  std::int64_t const cells = lies.rank != 0 ? lies.part->everywhere().size(lies.rank) : 1;
  return lies.unused >= 0 && bytes_in(lies, t.where) == cells * lies.inner * lies.element_bytes;
}

template <class F>
std::size_t kokkos_provider::for_each_box(std::span<transfer const> batch, F&& f) const {
  std::size_t offset = 0;
  for (transfer const& t : batch) {
    if (is_whole(t)) continue;
    detail::shape const& lies = shape_of(t.variable, t.component);
    for (detail::index_set const& box : detail::boxes_of(lies, t.where)) {
      f(t, box, offset);
      offset += detail::padded(lies, box);
    }
  }
  return offset;
}

KEEL_INLINE std::size_t kokkos_provider::make_room(staging_channel& channel, std::span<transfer const> batch) {
  std::size_t boxes = 0;
  std::size_t const bytes = for_each_box(batch, [&](auto&&, detail::index_set const& box, auto&&) {
    ++boxes;
    (void)channel.queue.numbers(box);
  });
  moves_.clear();
  moves_.reserve(boxes);
  channel.arrivals.reserve(channel.arrivals.size() + boxes);
  if (channel.used + bytes > channel.size) {
    constexpr auto label = "keel: staging";
    std::size_t const size = std::max(bytes, 2 * channel.size);
    staging larger{channel.queue.allocate(label, size), channel.queue.allocate_on_host(label, size)};
    channel.retired.push_back(channel.held);
    channel.held = std::move(larger);
    channel.size = size;
    channel.used = 0;
  }
  return bytes;
}

KEEL_INLINE void kokkos_provider::create(int variable, memory m) {
  variable_arrays const& r = arrays_[std::size_t(variable)];
  r.make(r.owner, variable, m);
}

KEEL_INLINE started kokkos_provider::copy_cycle(int variable) {
  auto& levels = slots_[std::size_t(variable)];
  rotate_levels(levels.data(), int(levels.size()), rotation::cycle);
  return {};
}

// Whole arrays first; then the other regions of the batch are gathered, sent in one piece, and scattered: by kernels in
// memory `m`, and by the host, to the arrays that were meant, even if the levels have cycled until all has arrived. All
// in the device's queue, so nothing here waits for it.
KEEL_INLINE void kokkos_provider::ship(std::span<transfer const> batch, memory m) {
  staging_channel& channel = channel_of(m);
  detail::copy_queue const& queue = channel.queue;
  bool const leaves = batch[0].to == m;
  std::size_t const bytes = make_room(channel, batch); // first, because it may fail
  for (transfer const& t : batch) {
    if (!is_whole(t)) continue;
    void *const here = array(t.variable, t.level, t.component, host),
                *there = array(t.variable, t.level, t.component, m);
    if (leaves) queue.to_device(there, here, used_of(t.variable, t.component));
    else queue.to_host(here, there, used_of(t.variable, t.component));
  }
  if (bytes == 0) return;
  std::size_t const at = std::exchange(channel.used, channel.used + bytes);
  std::byte *const here = channel.held.here.get() + at, *const there = channel.held.there.get() + at;
  using detail::motion;
  motion const by_host = leaves ? motion::gather : motion::scatter,
               by_queue = leaves ? motion::scatter : motion::gather;
  for_each_box(batch, [&](transfer const& t, detail::index_set const& box, std::size_t offset) {
    detail::shape const& lies = shape_of(t.variable, t.component);
    detail::job const ours =
        detail::job_of(by_host, lies, array(t.variable, t.level, t.component, host), here + offset, box, box.numbers());
    if (leaves) detail::move_on_host(ours);
    else channel.arrivals.push_back(ours);
    moves_.push_back(detail::job_of(by_queue, lies, array(t.variable, t.level, t.component, m), there + offset, box,
                                    queue.numbers(box)));
  });
  if (leaves) queue.to_device(there, here, bytes);
  queue.move(moves_);
  if (!leaves) queue.to_host(here, there, bytes);
}

KEEL_INLINE void kokkos_provider::wait(memory m) {
  staging_channel& channel = channel_of(m);
  channel.queue.fence();
  of_host_.move(channel.arrivals);
  channel.arrivals.clear();
  channel.used = 0;
  channel.retired.clear();
}

KEEL_INLINE started kokkos_provider::copy_from_past(int variable, int component, memory m) {
  std::size_t const size = size_of(variable, component);
  void *const from = array(variable, 1, component, m), *const to = array(variable, 0, component, m);
  queue_of(m).copy(to, from, size);
  return {};
}

KEEL_INLINE void kokkos_provider::poison(int variable, int level, int component, region where, memory m) {
  detail::shape const& lies = shape_of(variable, component);
  void* const data = array(variable, level, component, m);
  moves_.clear();
  for (detail::index_set const& box : detail::boxes_of(lies, where))
    moves_.push_back(detail::job_of(detail::motion::poison, lies, data, nullptr, box, queue_of(m).numbers(box)));
  queue_of(m).move(moves_);
}

KEEL_INLINE std::uint64_t kokkos_provider::digest(int variable, int level, int component, region where, memory m) {
  detail::shape const& lies = shape_of(variable, component);
  void const* const data = array(variable, level, component, m);
  std::uint64_t all = 0;
  for (detail::index_set const& box : detail::boxes_of(lies, where)) all += queue_of(m).digest(lies, data, box);
  return all;
}

KEEL_INLINE std::uint64_t kokkos_provider::count_poison(int variable, int level, int component, region where,
                                                        memory m) {
  detail::shape const& lies = shape_of(variable, component);
  if (lies.element_bytes % 8 != 0) return 0;
  void* const data = array(variable, level, component, m);
  std::uint64_t found = 0;
  for (detail::index_set const& box : detail::boxes_of(lies, where)) {
    std::vector<std::uint64_t> words(std::size_t(detail::bytes_of(lies, box)) / 8);
    auto const there = queue_of(m).allocate("keel: checked", words.size() * 8);
    detail::job const gathered =
        detail::job_of(detail::motion::gather, lies, data, there.get(), box, queue_of(m).numbers(box));
    queue_of(m).move({&gathered, 1});
    queue_of(m).to_host(words.data(), there.get(), words.size() * 8);
    queue_of(m).fence();
    found += std::uint64_t(std::count(words.begin(), words.end(), ~std::uint64_t{0}));
  }
  return found;
}

} // namespace keel::residency
