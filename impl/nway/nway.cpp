// SPDX-License-Identifier: MIT
/// @file
/// The Nway Discovery API with C linkage: the header-only functions, their values copied bit by bit.

#include <keel/topology/nway.h>
#include <keel/topology/nway.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace {

namespace cpp = keel::nway;

template <class C, class Cpp>
inline constexpr bool alike = sizeof(C) == sizeof(Cpp) && alignof(C) == alignof(Cpp) &&
                              std::is_trivially_copyable_v<C> && std::is_trivially_copyable_v<Cpp>;
static_assert(alike<mem_set_t, cpp::set> && alike<core_set_t, cpp::set> && alike<dev_mask_t, cpp::set>);
static_assert(offsetof(mem_info, rel_speed) == offsetof(cpp::mem_info, rel_speed));
static_assert(offsetof(core_info, shares_l3_with) == offsetof(cpp::core_info, shares_l3_with));
static_assert(offsetof(dev_info, rel_speed) == offsetof(cpp::dev_info, rel_speed));
static_assert(int{MEM_TYPE_CACHE_SIDE} == int{cpp::MEM_TYPE_CACHE_SIDE} &&
              int{DEV_TYPE_OTHER} == int{cpp::DEV_TYPE_OTHER} &&
              int{CORE_TYPE_EFFICIENCY} == int{cpp::CORE_TYPE_EFFICIENCY} &&
              int{NWAY_NO_NODE} == int{cpp::NWAY_NO_NODE});

/// Lets `ask` fill the C++ twin of `*to`, and copies it where that went well.
template <class Cpp, class C>
int filled(C* to, auto const& ask) noexcept {
  static_assert(alike<C, Cpp>);
  Cpp twin;
  int const answer = ask(to == nullptr ? nullptr : &twin);
  if (answer == NWAY_SUCCESS) std::memcpy(to, &twin, sizeof twin);
  return answer;
}

} // namespace

int get_num_mems() { return cpp::get_num_mems(); }
int get_num_cores() { return cpp::get_num_cores(); }
int get_num_devs() { return cpp::get_num_devs(); }

int get_mem_info(int id, mem_info* info) {
  return filled<cpp::mem_info>(info, [&](cpp::mem_info* twin) { return cpp::get_mem_info(id, twin); });
}
int get_core_info(int id, core_info* info) {
  return filled<cpp::core_info>(info, [&](cpp::core_info* twin) { return cpp::get_core_info(id, twin); });
}
int get_dev_info(int id, dev_info* info) {
  return filled<cpp::dev_info>(info, [&](cpp::dev_info* twin) { return cpp::get_dev_info(id, twin); });
}

int get_nearby_mems(int core, mem_type_t type, int min, int max, mem_set_t* found) {
  return filled<cpp::mem_set_t>(
      found, [&](cpp::set* twin) { return cpp::get_nearby_mems(core, cpp::mem_type_t(type), min, max, twin); });
}
int get_nearby_cores(int core, core_type_t type, int min, int max, core_set_t* found) {
  return filled<cpp::core_set_t>(
      found, [&](cpp::set* twin) { return cpp::get_nearby_cores(core, cpp::core_type_t(type), min, max, twin); });
}
int get_nearby_devs(int core, dev_type_t type, int min, int max, dev_mask_t* found) {
  return filled<cpp::dev_mask_t>(
      found, [&](cpp::set* twin) { return cpp::get_nearby_devs(core, cpp::dev_type_t(type), min, max, twin); });
}
