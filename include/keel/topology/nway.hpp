// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The Nway Discovery API over keel's node, with its own names and signatures.
///
/// C programs take the same from <keel/topology/nway.h> and the library keel_nway.

#include <keel/policy/macros.hpp>
#include <keel/topology/node.hpp>
#include <keel/topology/nway.h>

namespace keel::nway {

using set = nway_set;

/// Answers all further calls from this node instead of this machine's. May be called while other threads
/// ask: each call is answered from one node.
void use(topology::node node);

/// How many there are, or a code, which is negative.
int get_num_mems() noexcept;
int get_num_cores() noexcept;
int get_num_devs() noexcept;

/// Fill `*info`, and answer `NWAY_SUCCESS`; or leave it as it was, and answer a code.
int get_mem_info(int mem_id, mem_info* info) noexcept;

int get_core_info(int core_id, core_info* info) noexcept;

int get_dev_info(int dev_id, dev_info* info) noexcept;

/// What lies between two distances from a core, both included; (0, -1) is everything of that type that the
/// core can reach. Distances are the node's: steps, which latencies refine for memories if the system reports them.
/// The set is replaced, not added to; with a code as the answer it stays as it was.
int get_nearby_mems(int core_id, mem_type_t mem_type, int min_dist, int max_dist, mem_set_t* nearby_mems) noexcept;
int get_nearby_cores(int core_id, core_type_t core_type, int min_dist, int max_dist, core_set_t* nearby_cores) noexcept;
int get_nearby_devs(int core_id, dev_type_t dev_type, int min_dist, int max_dist, dev_mask_t* nearby_devs) noexcept;

} // namespace keel::nway

#if !KEEL_COMPILED
#include <keel/impl/topology/nway.ipp>
#endif
