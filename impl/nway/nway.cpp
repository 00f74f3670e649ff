// SPDX-License-Identifier: MIT
/// @file
/// The Nway Discovery API with C linkage.

#include <keel/topology/nway.hpp>

namespace cpp = keel::nway;

extern "C" {
int get_num_mems() { return cpp::get_num_mems(); }
int get_num_cores() { return cpp::get_num_cores(); }
int get_num_devs() { return cpp::get_num_devs(); }
int get_mem_info(int id, cpp::mem_info* info) { return cpp::get_mem_info(id, info); }
int get_core_info(int id, cpp::core_info* info) { return cpp::get_core_info(id, info); }
int get_dev_info(int id, cpp::dev_info* info) { return cpp::get_dev_info(id, info); }
int get_nearby_mems(int core, cpp::mem_type_t type, int min, int max, cpp::mem_set_t* found) {
  return cpp::get_nearby_mems(core, type, min, max, found);
}
int get_nearby_cores(int core, cpp::core_type_t type, int min, int max, cpp::core_set_t* found) {
  return cpp::get_nearby_cores(core, type, min, max, found);
}
int get_nearby_devs(int core, cpp::dev_type_t type, int min, int max, cpp::dev_mask_t* found) {
  return cpp::get_nearby_devs(core, type, min, max, found);
}
}
