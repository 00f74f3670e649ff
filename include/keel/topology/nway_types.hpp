// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Constants, sets and structs of the Nway Discovery API. Depends only on the standard library.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace keel::nway {

enum mem_type_t {
  MEM_TYPE_ANY,
  MEM_TYPE_DRAM,
  MEM_TYPE_HIGH_BANDWIDTH,
  MEM_TYPE_DEVICE,
  MEM_TYPE_PERSISTENT,
  MEM_TYPE_CXL,
  MEM_TYPE_CACHE_SIDE
};
enum core_type_t { CORE_TYPE_ANY, CORE_TYPE_PERFORMANCE, CORE_TYPE_EFFICIENCY };
enum dev_type_t {
  DEV_TYPE_ANY,
  DEV_TYPE_NETWORK,
  DEV_TYPE_GPU,
  DEV_TYPE_FPGA,
  DEV_TYPE_COPROCESSOR,
  DEV_TYPE_STORAGE,
  DEV_TYPE_OTHER
};

/// What a function answers if it does not answer a number. Every misuse has a code of its own,
/// and leaves the output as it was.
enum code {
  NWAY_SUCCESS = 0,
  NWAY_NO_SUCH_ID = -1,
  NWAY_NO_SUCH_TYPE = -2,
  NWAY_BAD_RANGE = -3, ///< min < 0, or max < min and not -1
  NWAY_NULL_POINTER = -4,
  NWAY_TOO_LARGE = -5, ///< the node has more ids than a set holds
  NWAY_NO_NODE = -6,   ///< the node cannot be read; `keel::topology::node::here()` says why
};

/// Room for 4,096 ids, as a value.
struct set {
  static constexpr int capacity = 4096;
  std::uint64_t words[capacity / 64];

  [[nodiscard]] constexpr bool contains(int id) const noexcept {
    return id >= 0 && id < capacity && (words[id / 64] >> (id % 64) & 1) != 0;
  }
  [[nodiscard]] constexpr int count() const noexcept {
    int sum = 0;
    for (auto const w : words) sum += std::popcount(w);
    return sum;
  }
  friend bool operator==(set const&, set const&) = default;
};
using mem_set_t = set;
using core_set_t = set;
using dev_mask_t = set;

struct mem_info {
  int mem_id;              ///< logical id of the memory
  mem_type_t mem_type;     ///< type of memory
  char name[16];           ///< always terminated
  void* base_addr;         ///< base physical address; null if it is 0 or the system does not report it
  std::size_t extent;      ///< in bytes
  std::uint64_t rel_speed; ///< 100 is the first memory's
};

struct core_info {
  int core_id;                  ///< logical id of the core
  core_type_t core_type;        ///< type of core
  char name[16];                ///< always terminated
  int num_threads;              ///< number of hardware execution contexts
  std::uint64_t rel_speed;      ///< 100 is the fastest core's
  std::uint64_t page_sizes;     ///< bit b for pages of 2^b bytes
  core_set_t shares_l1_with[2]; ///< index 0: instruction cache, index 1: data cache
  core_set_t shares_l2_with[2];
  core_set_t shares_l3_with[2];
};

struct dev_info {
  int dev_id;              ///< logical id of the device
  dev_type_t dev_type;     ///< type of device
  char name[16];           ///< always terminated
  int num_contexts;        ///< simultaneous contexts; 0 if the system does not report it
  std::uint64_t rel_speed; ///< of its link; 100 is the fastest's of its type
};

} // namespace keel::nway
