// SPDX-License-Identifier: MIT
#include <keel/topology/memory_binding.hpp>
#include <keel/impl/topology/hwloc.hpp>
#include <keel/impl/topology/memories.hpp>
#include <keel/policy/error.hpp>

#include <cerrno>
#include <system_error>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace keel::topology {

namespace detail {

/// What hwloc needs to bind pages; loaded at the first use and kept until the process ends.
inline hwloc_topology_t here_for_pages() {
  static loaded const here = from_here();
  return here.tree.get();
}

inline void copy(id_set const& from, bitmap const& to) {
  for (int const id : from) hwloc_bitmap_set(to.bits, unsigned(id));
}
inline id_set ids_of(hwloc_const_bitmap_t bits) {
  id_set found;
  for (int id = hwloc_bitmap_first(bits); id >= 0; id = hwloc_bitmap_next(bits, id)) found.insert(id);
  return found;
}

/// Null and errno if the system refuses. One memory holds all pages, several take them in turns.
inline void* pages_on(id_set const& memories, std::size_t bytes) {
  bitmap nodes;
  copy(memories, nodes);
  auto const policy = memories.size() == 1 ? HWLOC_MEMBIND_BIND : HWLOC_MEMBIND_INTERLEAVE;
  return hwloc_alloc_membind(here_for_pages(), bytes, nodes.bits, policy,
                             HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT);
}

} // namespace detail

KEEL_INLINE id_set ordinary_memories() {
  auto const here = detail::here_for_pages();
  id_set found;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(here, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    auto const type = detail::memory_of(node, false).type;
    if ((type == memory_type::dram || type == memory_type::cache_side) &&
        hwloc_bitmap_isset(hwloc_topology_get_allowed_nodeset(here), node->os_index) != 0)
      found.insert(int(node->os_index));
  }
  return found;
}

KEEL_INLINE std::string why_not_bindable(id_set const& memories) {
  auto const here = detail::here_for_pages();
  if (memories.empty()) return "no memory is named";
  if (hwloc_topology_is_thissystem(here) == 0) return "HWLOC_XMLFILE or HWLOC_SYNTHETIC shows another machine";
  auto const text = [](id_set const& ids) { return "NUMA node " + to_string(ids); };
  if (auto const absent = memories - detail::ids_of(hwloc_topology_get_complete_nodeset(here)); !absent.empty())
    return "this machine has no " + text(absent);
  if (auto const withheld = memories - detail::ids_of(hwloc_topology_get_allowed_nodeset(here)); !withheld.empty())
    return "this process may not use " + text(withheld);
  void* const page = detail::pages_on(memories, 1);
  if (page == nullptr)
    return "the system does not bind pages to " + text(memories) + ": " + std::generic_category().message(errno);
  hwloc_free(here, page, 1);
  return {};
}

KEEL_INLINE void* allocate_pages(id_set const& memories, std::size_t bytes) {
  auto const here = detail::here_for_pages();
  auto const refuse = [&](std::string const& why, int code) {
    throw error("topology", "no " + std::to_string(bytes) + " bytes on NUMA node " + to_string(memories), why,
                "Ask keel::topology::why_not_bindable first", code);
  };
  void* pages = nullptr;
  errno = EINVAL;
  if (hwloc_topology_is_thissystem(here) != 0) { // else hwloc binds nothing, and reports that it did
    std::uint64_t room = 0;
    for (int const id : memories)
      if (auto const node = hwloc_get_numanode_obj_by_os_index(here, unsigned(id)); node != nullptr)
        room += node->attr->numanode.local_memory;
    if (room > 0 && bytes > room) refuse("there are " + std::to_string(room) + " in all", ENOMEM);
    pages = detail::pages_on(memories, bytes);
  }
  if (pages == nullptr) {
    int const code = errno;
    auto const why = why_not_bindable(memories);
    refuse(why.empty() ? std::generic_category().message(code) : why, code);
  }
  return pages;
}

KEEL_INLINE void free_pages(void* pages, std::size_t bytes) noexcept {
  hwloc_free(detail::here_for_pages(), pages, bytes);
}

KEEL_INLINE id_set memories_of(void const* at, std::size_t bytes) {
  detail::bitmap nodes;
  errno = 0;
  if (bytes > 0 &&
      hwloc_get_area_memlocation(detail::here_for_pages(), at, bytes, nodes.bits, HWLOC_MEMBIND_BYNODESET) != 0)
    throw error("topology", "it is unknown where " + std::to_string(bytes) + " bytes lie",
                std::generic_category().message(errno), {}, errno);
  return detail::ids_of(nodes.bits);
}

KEEL_INLINE memory_preference::memory_preference(int memory) {
  mask wanted{};
  auto const bit = std::size_t(memory);
  if (memory < 0 || bit >= bits) code_ = EINVAL;
  else if (syscall(SYS_get_mempolicy, &policy_, before_.data(), bits, nullptr, 0) != 0) code_ = errno;
  else if (wanted[bit / 64] = std::uint64_t{1} << (bit % 64); set(MPOL_PREFERRED, wanted) != 0) code_ = errno;
}
KEEL_INLINE memory_preference::~memory_preference() {
  if (code_ == 0) set(policy_, before_);
}
KEEL_INLINE std::string memory_preference::why_not() const {
  return code_ == 0 ? std::string{} : std::generic_category().message(code_);
}
KEEL_INLINE long memory_preference::set(int policy, mask const& nodes) {
  bool const is_default = policy == MPOL_DEFAULT;
  return syscall(SYS_set_mempolicy, policy, is_default ? nullptr : nodes.data(), is_default ? 0 : bits + 1);
}

} // namespace keel::topology
