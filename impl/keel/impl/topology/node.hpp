// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Bodies of `node`: where it is read from, and the questions that answer with a set.

#include <keel/impl/topology/discover.hpp>
#include <keel/impl/topology/place.hpp>
#include <keel/impl/topology/start_cache.hpp>
#include <keel/policy/error.hpp>
#include <keel/topology/node.hpp>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace keel::topology {

namespace detail {

KEEL_INLINE void no_such_id(int id, std::size_t count) {
  throw error("topology", "there is no id " + std::to_string(id), "the node has " + std::to_string(count),
              "Count from 0", EINVAL);
}
KEEL_INLINE void no_such_range(int min, int max) {
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

} // namespace detail

KEEL_INLINE node node::here() { return node{detail::read(detail::from_here())}; }
KEEL_INLINE node node::here(std::filesystem::path const& kept_in) { return node{detail::from_here_kept(kept_in)}; }
KEEL_INLINE std::string node::why_not_kept_in(std::filesystem::path const& folder) {
  return detail::cache_folder::why_not(folder);
}
KEEL_INLINE node node::from_xml(std::filesystem::path const& path) {
  return node{detail::read(detail::from_xml_file(path, path.string()))};
}
KEEL_INLINE node node::from_xml_text(std::string_view text, std::string const& name) {
  return node{detail::read(detail::from_xml_text(text, name))};
}
KEEL_INLINE node node::from_synthetic(std::string_view text) {
  return node{detail::read(detail::from_synthetic(text, "synthetic description '" + std::string{text} + "'"))};
}

template <class Object, class Type>
id_set node::nearby(int core, Type type, int min, int max, std::vector<Object> const& objects,
                    auto const& distance_to) const {
  check(core, min, max);
  id_set found;
  for (auto const& object : objects) {
    if (type != Type::any && type != object.type) continue;
    if (int const distance = distance_to(object.id); distance >= min && (max == -1 || distance <= max))
      found.insert(object.id);
  }
  return found;
}
KEEL_INLINE id_set node::nearby_memories(int core, memory_type type, int min, int max) const {
  return nearby(core, type, min, max, all_.memories, [&](int m) { return all_.distance_to_memory(core, m); });
}
KEEL_INLINE id_set node::nearby_memories(int core, memory_type type, within at_most) const {
  checked(core, all_.cores.size());
  id_set found;
  for (auto const& m : all_.memories)
    if (auto const known = all_.ways.latencies.at(core, m.id);
        known > 0 && known <= at_most.latency && (type == memory_type::any || type == m.type))
      found.insert(m.id);
  return found;
}
KEEL_INLINE id_set node::nearby_cores(int core, core_type type, int min, int max) const {
  auto const shell = cores_between(core, min, max);
  id_set found;
  if (type == core_type::any) {
    found.insert(shell.first, shell.hole_first);
    found.insert(shell.hole_end, shell.end);
  } else {
    for (int id = shell.first; id < shell.end; ++id)
      if (shell.contains(id) && all_.cores[std::size_t(id)].type == type) found.insert(id);
  }
  return found;
}
KEEL_INLINE id_set node::nearby_devices(int core, device_type type, int min, int max) const {
  return nearby(core, type, min, max, all_.devices, [&](int d) { return distance_to_device(core, d); });
}
KEEL_INLINE id_set node::sharing(int core, cache which) const {
  int const at = all_.caches[checked(core, all_.cores.size())][std::size_t(which)];
  return at < 0 ? id_set{} : id_set::range(all_.tree[at].first_core, all_.tree[at].end_core);
}
KEEL_INLINE std::vector<placement> node::place(int ranks, placing const& rule) const {
  return detail::place(all_, ranks, rule);
}

} // namespace keel::topology
