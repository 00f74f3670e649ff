// SPDX-License-Identifier: MIT
#include <keel/topology/node.hpp>
#include <keel/impl/topology/discover.hpp>
#include <keel/impl/topology/place.hpp>
#include <keel/policy/error.hpp>

#include <cerrno>
#include <new>
#include <utility>

namespace keel::topology {

namespace detail {

[[noreturn, gnu::cold]] KEEL_INLINE void no_such_id(int id, std::size_t count) {
  throw error("topology", "there is no id " + std::to_string(id), "the node has " + std::to_string(count),
              "Count from 0", EINVAL);
}
[[noreturn, gnu::cold]] KEEL_INLINE void no_such_range(int min, int max) {
  throw error("topology", "no distance lies between " + std::to_string(min) + " and " + std::to_string(max), {},
              "Say -1 for no upper bound", EINVAL);
}
inline inventory read(loaded const& from) {
  try {
    return discovery{from}.take();
  } catch (std::bad_alloc const&) {
    throw_lack_of_memory(from.source);
  }
}
inline std::size_t checked(int id, std::size_t count) {
  if (id < 0 || std::size_t(id) >= count) no_such_id(id, count);
  return std::size_t(id);
}
inline void check(inventory const& all, int core, int min, int max) {
  checked(core, all.cores.size());
  if (min < 0 || (max < min && max != -1)) no_such_range(min, max);
}
inline int distance(inventory const& all, int core, int other, std::vector<int> const& places) {
  int const from = all.core_places[checked(core, all.cores.size())];
  return all.tree.distance(from, places[checked(other, places.size())]);
}
inline std::optional<std::uint64_t> number(inventory const& all, numbers_to_memories const& table, int core,
                                           int memory) {
  auto const value = table.at(int(checked(core, all.cores.size())), int(checked(memory, all.memories.size())));
  return value == 0 ? std::nullopt : std::optional{value};
}
template <class Object, class Type>
id_set nearby(inventory const& all, int core, Type type, int min, int max, std::vector<Object> const& objects,
              auto const& distance_to) {
  check(all, core, min, max);
  id_set found;
  for (auto const& object : objects) {
    if (type != Type::any && type != object.type) continue;
    if (int const distance = distance_to(object.id); distance >= min && (max == -1 || distance <= max))
      found.insert(object.id);
  }
  return found;
}

} // namespace detail

KEEL_INLINE node::node(detail::inventory all) : all_(std::make_shared<detail::inventory const>(std::move(all))) {}

KEEL_INLINE node node::here() { return node{detail::read(detail::from_here())}; }
KEEL_INLINE node node::from_xml(std::string const& path) {
  return node{detail::read(detail::from_xml_file(path, path))};
}
KEEL_INLINE node node::from_xml_text(std::string_view text, std::string const& name) {
  return node{detail::read(detail::from_xml_text(text, name))};
}
KEEL_INLINE node node::from_synthetic(std::string_view text) {
  return node{detail::read(detail::from_synthetic(text, "synthetic description '" + std::string{text} + "'"))};
}

KEEL_INLINE std::span<memory const> node::memories() const noexcept { return all_->memories; }
KEEL_INLINE std::span<core const> node::cores() const noexcept { return all_->cores; }
KEEL_INLINE std::span<device const> node::devices() const noexcept { return all_->devices; }
KEEL_INLINE id_set const& node::withheld_hardware_threads() const noexcept { return all_->withheld_threads; }
KEEL_INLINE id_set const& node::withheld_memories() const noexcept { return all_->withheld_memories; }
KEEL_INLINE std::string const& node::source() const noexcept { return all_->source; }
KEEL_INLINE bool node::is_this_machine() const noexcept { return all_->here; }

KEEL_INLINE int node::distance_to_memory(int core, int memory) const {
  return all_->distance_to_memory(int(detail::checked(core, all_->cores.size())),
                                  int(detail::checked(memory, all_->memories.size())));
}
KEEL_INLINE int node::distance_to_core(int core, int other) const {
  return detail::distance(*all_, core, other, all_->core_places);
}
KEEL_INLINE int node::distance_to_device(int core, int device) const {
  return detail::distance(*all_, core, device, all_->device_places);
}
KEEL_INLINE int node::steps_to_memory(int core, int memory) const {
  return detail::distance(*all_, core, memory, all_->memory_places);
}
KEEL_INLINE std::optional<std::uint64_t> node::latency(int core, int memory) const {
  return detail::number(*all_, all_->ways.latencies, core, memory);
}
KEEL_INLINE std::optional<std::uint64_t> node::bandwidth(int core, int memory) const {
  return detail::number(*all_, all_->ways.bandwidths, core, memory);
}
KEEL_INLINE latency_unit node::unit_of_latencies() const noexcept { return all_->ways.unit; }

KEEL_INLINE id_set node::nearby_memories(int core, memory_type type, int min, int max) const {
  return detail::nearby(*all_, core, type, min, max, all_->memories,
                        [&](int m) { return all_->distance_to_memory(core, m); });
}
KEEL_INLINE id_set node::nearby_memories(int core, memory_type type, within at_most) const {
  detail::checked(core, all_->cores.size());
  id_set found;
  for (auto const& m : all_->memories)
    if (auto const known = all_->ways.latencies.at(core, m.id);
        known > 0 && known <= at_most.latency && (type == memory_type::any || type == m.type))
      found.insert(m.id);
  return found;
}
KEEL_INLINE id_set node::nearby_cores(int core, core_type type, int min, int max) const {
  return detail::nearby(*all_, core, type, min, max, all_->cores, [&](int c) { return distance_to_core(core, c); });
}
KEEL_INLINE id_set node::nearby_devices(int core, device_type type, int min, int max) const {
  return detail::nearby(*all_, core, type, min, max, all_->devices, [&](int d) { return distance_to_device(core, d); });
}
KEEL_INLINE id_set node::sharing(int core, cache which) const {
  int const at = all_->caches[detail::checked(core, all_->cores.size())][std::size_t(which)];
  return at < 0 ? id_set{} : id_set::range(all_->tree[at].first_core, all_->tree[at].end_core);
}
KEEL_INLINE std::vector<placement> node::place(int ranks, placing const& rule) const {
  return detail::place(*all_, ranks, rule);
}

} // namespace keel::topology
