/* SPDX-License-Identifier: MIT */
#pragma once

/** @file
 * The Nway Discovery API for C: link with keel_nway. C++ programs take <keel/topology/nway.hpp>,
 * which needs no library and says what each thing means.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mem_type_t {
  MEM_TYPE_ANY,
  MEM_TYPE_DRAM,
  MEM_TYPE_HIGH_BANDWIDTH,
  MEM_TYPE_DEVICE,
  MEM_TYPE_PERSISTENT,
  MEM_TYPE_CXL,
  MEM_TYPE_CACHE_SIDE
} mem_type_t;
typedef enum core_type_t { CORE_TYPE_ANY, CORE_TYPE_PERFORMANCE, CORE_TYPE_EFFICIENCY } core_type_t;
typedef enum dev_type_t {
  DEV_TYPE_ANY,
  DEV_TYPE_NETWORK,
  DEV_TYPE_GPU,
  DEV_TYPE_FPGA,
  DEV_TYPE_COPROCESSOR,
  DEV_TYPE_STORAGE,
  DEV_TYPE_OTHER
} dev_type_t;

/** Every misuse has a code of its own, and leaves the output as it was. */
enum {
  NWAY_SUCCESS = 0,
  NWAY_NO_SUCH_ID = -1,
  NWAY_NO_SUCH_TYPE = -2,
  NWAY_BAD_RANGE = -3,
  NWAY_NULL_POINTER = -4,
  NWAY_TOO_LARGE = -5,
  NWAY_NO_NODE = -6
};

/** Room for 4,096 ids: id i is bit i % 64 of word i / 64. */
typedef struct mem_set_t {
  uint64_t words[64];
} mem_set_t;
typedef struct core_set_t {
  uint64_t words[64];
} core_set_t;
typedef struct dev_mask_t {
  uint64_t words[64];
} dev_mask_t;

struct mem_info {
  int mem_id;
  mem_type_t mem_type;
  char name[16];
  void* base_addr; /**< null if it is 0 or the system does not report it */
  size_t extent;   /**< in bytes */
  uint64_t rel_speed;
};

struct core_info {
  int core_id;
  core_type_t core_type;
  char name[16];
  int num_threads;
  uint64_t rel_speed;
  uint64_t page_sizes;          /**< bit b for pages of 2^b bytes */
  core_set_t shares_l1_with[2]; /**< index 0: instruction cache, index 1: data cache */
  core_set_t shares_l2_with[2];
  core_set_t shares_l3_with[2];
};

struct dev_info {
  int dev_id;
  dev_type_t dev_type;
  char name[16];
  int num_contexts; /**< 0 if the system does not report it */
  uint64_t rel_speed;
};

int get_num_mems(void);
int get_num_cores(void);
int get_num_devs(void);
int get_mem_info(int mem_id, struct mem_info* info);
int get_core_info(int core_id, struct core_info* info);
int get_dev_info(int dev_id, struct dev_info* info);
int get_nearby_mems(int core_id, mem_type_t mem_type, int min_dist, int max_dist, mem_set_t* nearby_mems);
int get_nearby_cores(int core_id, core_type_t core_type, int min_dist, int max_dist, core_set_t* nearby_cores);
int get_nearby_devs(int core_id, dev_type_t dev_type, int min_dist, int max_dist, dev_mask_t* nearby_devs);

#ifdef __cplusplus
}
#endif
