/* SPDX-License-Identifier: MIT */
#pragma once

/** @file
 * The Nway Discovery API for C: link with keel_nway. C++ programs take <keel/topology/nway.hpp>, which needs no
 * library; they have these types in namespace keel::nway.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <bit>

namespace keel::nway {
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

/** What a function answers if it does not answer a number. Every misuse has a code of its own, and leaves the output as
 * it was. */
enum {
  NWAY_SUCCESS = 0,
  NWAY_NO_SUCH_ID = -1,
  NWAY_NO_SUCH_TYPE = -2,
  NWAY_BAD_RANGE = -3, /**< min < 0, or max < min and not -1 */
  NWAY_NULL_POINTER = -4,
  NWAY_TOO_LARGE = -5, /**< the node has more ids than a set holds */
  NWAY_NO_NODE = -6    /**< the node cannot be read; `keel::topology::node::here()` says why */
};

/** Room for 4,096 ids, as a value: id i is bit i % 64 of word i / 64. */
typedef struct nway_set {
  uint64_t words[64];
#ifdef __cplusplus
  static constexpr int capacity = 4096;
  [[nodiscard]] constexpr bool contains(int id) const noexcept {
    return id >= 0 && id < capacity && (words[id / 64] >> (id % 64) & 1) != 0;
  }
  [[nodiscard]] constexpr int count() const noexcept {
    int sum = 0;
    for (auto const w : words) sum += std::popcount(w);
    return sum;
  }
  friend bool operator==(nway_set const&, nway_set const&) = default;
#endif
} nway_set;
typedef nway_set mem_set_t;
typedef nway_set core_set_t;
typedef nway_set dev_mask_t;

struct mem_info {
  int mem_id;          /**< logical id of the memory */
  mem_type_t mem_type; /**< type of memory */
  char name[16];       /**< always terminated */
  void* base_addr;     /**< base physical address; null if it is 0 or the system does not report it */
  size_t extent;       /**< in bytes */
  uint64_t rel_speed;  /**< 100 is the first memory's */
};

struct core_info {
  int core_id;                  /**< logical id of the core */
  core_type_t core_type;        /**< type of core */
  char name[16];                /**< always terminated */
  int num_threads;              /**< number of hardware execution contexts */
  uint64_t rel_speed;           /**< 100 is the fastest core's */
  uint64_t page_sizes;          /**< bit b for pages of 2^b bytes */
  core_set_t shares_l1_with[2]; /**< index 0: instruction cache, index 1: data cache */
  core_set_t shares_l2_with[2];
  core_set_t shares_l3_with[2];
};

struct dev_info {
  int dev_id;          /**< logical id of the device */
  dev_type_t dev_type; /**< type of device */
  char name[16];       /**< always terminated */
  int num_contexts;    /**< simultaneous contexts; 0 if the system does not report it */
  uint64_t rel_speed;  /**< of its link; 100 is the fastest's of its type */
};

#ifdef __cplusplus
} // namespace keel::nway
#else
int get_num_mems(void);
int get_num_cores(void);
int get_num_devs(void);
int get_mem_info(int mem_id, struct mem_info* info);
int get_core_info(int core_id, struct core_info* info);
int get_dev_info(int dev_id, struct dev_info* info);
int get_nearby_mems(int core_id, mem_type_t mem_type, int min_dist, int max_dist, mem_set_t* nearby_mems);
int get_nearby_cores(int core_id, core_type_t core_type, int min_dist, int max_dist, core_set_t* nearby_cores);
int get_nearby_devs(int core_id, dev_type_t dev_type, int min_dist, int max_dist, dev_mask_t* nearby_devs);
#endif
