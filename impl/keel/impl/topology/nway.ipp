// SPDX-License-Identifier: MIT
#include <keel/topology/nway.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace keel::nway {

namespace detail {

using node_pointer = std::shared_ptr<topology::node const>;

struct current_node {
  std::mutex mutex;
  node_pointer node;
};
inline current_node& current() {
  static current_node one;
  return one;
}

/// The node in use; this machine's, read at the first call. Null if it cannot be read.
inline node_pointer node() noexcept {
  auto& now = current();
  try {
    std::lock_guard const lock{now.mutex};
    if (!now.node) now.node = std::make_shared<topology::node const>(topology::node::here());
    return now.node;
  } catch (...) {
    return {};
  }
}

inline void copy_name(char (&to)[16], std::string const& from) noexcept {
  std::memset(to, 0, sizeof to);
  std::memcpy(to, from.data(), from.size() < 15 ? from.size() : 15);
}

inline set as_set(topology::id_set const& ids) noexcept {
  set made{};
  for (int const id : ids) made.words[id / 64] |= std::uint64_t{1} << (id % 64);
  return made;
}

inline int count(auto const& objects) noexcept { return int(objects.size()); }
inline bool has(auto const& objects, int id) noexcept { return id >= 0 && id < count(objects); }
inline bool fits(auto const& objects) noexcept { return count(objects) <= set::capacity; }

/// How many objects of a kind there are.
inline int number(auto objects) noexcept {
  auto const on = node();
  return on ? count(((*on).*objects)()) : NWAY_NO_NODE;
}

/// Checks what the questions about one object have in common, and only then asks and writes.
template <class Info>
int describe(int id, Info* info, auto objects, auto const& fill) noexcept {
  auto const on = node();
  if (!on) return NWAY_NO_NODE;
  if (info == nullptr) return NWAY_NULL_POINTER;
  auto const& all = ((*on).*objects)();
  if (!has(all, id)) return NWAY_NO_SUCH_ID;
  Info made{};
  if (int const code = fill(made, all[std::size_t(id)], *on); code != NWAY_SUCCESS) return code;
  *info = made;
  return NWAY_SUCCESS;
}

/// Checks what the three questions about what is near have in common, and only then asks and writes.
template <class Type>
int nearby(int core_id, Type type, Type last, int min_dist, int max_dist, set* found, auto objects,
           topology::id_set (topology::node::*ask)(int, Type, int, int) const) noexcept {
  auto const on = node();
  if (!on) return NWAY_NO_NODE;
  if (found == nullptr) return NWAY_NULL_POINTER;
  if (!has(on->cores(), core_id)) return NWAY_NO_SUCH_ID;
  if (int(type) < 0 || type > last) return NWAY_NO_SUCH_TYPE;
  if (min_dist < 0 || (max_dist < min_dist && max_dist != -1)) return NWAY_BAD_RANGE;
  if (!fits(((*on).*objects)())) return NWAY_TOO_LARGE;
  try {
    *found = as_set(((*on).*ask)(core_id, type, min_dist, max_dist));
    return NWAY_SUCCESS;
  } catch (...) {
    return NWAY_NO_NODE; // memory ran out
  }
}

} // namespace detail

KEEL_INLINE void use(topology::node node) {
  auto replacing = std::make_shared<topology::node const>(std::move(node));
  std::lock_guard const lock{detail::current().mutex};
  detail::current().node = std::move(replacing);
}

KEEL_INLINE int get_num_mems() noexcept { return detail::number(&topology::node::memories); }
KEEL_INLINE int get_num_cores() noexcept { return detail::number(&topology::node::cores); }
KEEL_INLINE int get_num_devs() noexcept { return detail::number(&topology::node::devices); }

KEEL_INLINE int get_mem_info(int mem_id, mem_info* info) noexcept {
  return detail::describe(mem_id, info, &topology::node::memories, [&](mem_info& made, auto const& m, auto const&) {
    made.mem_id = mem_id;
    made.mem_type = mem_type_t(m.type);
    detail::copy_name(made.name, m.name);
    made.base_addr = reinterpret_cast<void*>(std::uintptr_t(m.base_address.value_or(0)));
    made.extent = std::size_t(m.bytes);
    made.rel_speed = std::uint64_t(m.relative_speed);
    return NWAY_SUCCESS;
  });
}

KEEL_INLINE int get_core_info(int core_id, core_info* info) noexcept {
  using topology::cache;
  return detail::describe(core_id, info, &topology::node::cores, [&](core_info& made, auto const& c, auto const& on) {
    if (!detail::fits(on.cores())) return NWAY_TOO_LARGE;
    made.core_id = core_id;
    made.core_type = core_type_t(c.type);
    detail::copy_name(made.name, c.name);
    made.num_threads = int(c.hardware_threads.size());
    made.rel_speed = std::uint64_t(c.relative_speed);
    made.page_sizes = c.page_sizes;
    try {
      made.shares_l1_with[0] = detail::as_set(on.sharing(core_id, cache::l1_instruction));
      made.shares_l1_with[1] = detail::as_set(on.sharing(core_id, cache::l1_data));
      made.shares_l2_with[0] = made.shares_l2_with[1] = detail::as_set(on.sharing(core_id, cache::l2));
      made.shares_l3_with[0] = made.shares_l3_with[1] = detail::as_set(on.sharing(core_id, cache::l3));
    } catch (...) {
      return NWAY_NO_NODE; // memory ran out
    }
    return NWAY_SUCCESS;
  });
}

KEEL_INLINE int get_dev_info(int dev_id, dev_info* info) noexcept {
  return detail::describe(dev_id, info, &topology::node::devices, [&](dev_info& made, auto const& d, auto const&) {
    made.dev_id = dev_id;
    made.dev_type = dev_type_t(d.type);
    detail::copy_name(made.name, d.name);
    made.num_contexts = d.contexts;
    made.rel_speed = std::uint64_t(d.relative_speed);
    return NWAY_SUCCESS;
  });
}

KEEL_INLINE int get_nearby_mems(int core_id, mem_type_t mem_type, int min_dist, int max_dist,
                                mem_set_t* nearby_mems) noexcept {
  using topology::memory_type, topology::node;
  return detail::nearby(core_id, memory_type(mem_type), memory_type::cache_side, min_dist, max_dist, nearby_mems,
                        &node::memories, &node::nearby_memories);
}
KEEL_INLINE int get_nearby_cores(int core_id, core_type_t core_type, int min_dist, int max_dist,
                                 core_set_t* nearby_cores) noexcept {
  using type = topology::core_type;
  return detail::nearby(core_id, type(core_type), type::efficiency, min_dist, max_dist, nearby_cores,
                        &topology::node::cores, &topology::node::nearby_cores);
}
KEEL_INLINE int get_nearby_devs(int core_id, dev_type_t dev_type, int min_dist, int max_dist,
                                dev_mask_t* nearby_devs) noexcept {
  using topology::device_type, topology::node;
  return detail::nearby(core_id, device_type(dev_type), device_type::other, min_dist, max_dist, nearby_devs,
                        &node::devices, &node::nearby_devices);
}

} // namespace keel::nway
