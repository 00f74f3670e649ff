/* SPDX-License-Identifier: MIT */
/* The Nway API from C: each line that does not hold is said, and counted in the exit code. */
#include <keel/topology/nway.h>

#include <stdio.h>
#include <string.h>

static int failures;

static void check(int holds, char const* what) {
  if (holds) return;
  fprintf(stderr, "nway.c: does not hold: %s\n", what);
  ++failures;
}
#define CHECK(expression) check(expression, #expression)

/* Started with HWLOC_SYNTHETIC="package:2 numa:1 core:4 pu:2". */
int main(void) {
  struct mem_info memory;
  struct core_info core;
  struct dev_info device;
  core_set_t cores;
  mem_set_t memories;
  dev_mask_t devices;

  CHECK(get_num_mems() == 2);
  CHECK(get_num_cores() == 8);
  CHECK(get_num_devs() == 0);

  CHECK(get_mem_info(1, &memory) == NWAY_SUCCESS);
  CHECK(memory.mem_id == 1 && memory.mem_type == MEM_TYPE_DRAM && memory.rel_speed == 100);
  CHECK(strcmp(memory.name, "numa 1") == 0);
  CHECK(memory.extent > 0 && memory.base_addr == NULL);
  CHECK(get_core_info(7, &core) == NWAY_SUCCESS);
  CHECK(core.core_id == 7 && core.num_threads == 2 && core.core_type == CORE_TYPE_PERFORMANCE);
  CHECK(core.shares_l1_with[0].words[0] == 0);

  CHECK(get_nearby_cores(5, CORE_TYPE_ANY, 0, 1, &cores) == NWAY_SUCCESS && cores.words[0] == 0xf0);
  CHECK(get_nearby_mems(5, MEM_TYPE_ANY, 0, 1, &memories) == NWAY_SUCCESS && memories.words[0] == 2);
  CHECK(get_nearby_devs(5, DEV_TYPE_ANY, 0, -1, &devices) == NWAY_SUCCESS && devices.words[0] == 0);
  CHECK(get_dev_info(0, &device) == NWAY_NO_SUCH_ID);
  return failures == 0 ? 0 : 1;
}
