// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What oneTBB is given and asked for the whole process: limits, NUMA regions, its version.

#include <keel/policy/macros.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace keel::space::detail {

/// oneTBB runs no more threads than cores, whatever an arena asks for, unless its limit is raised; it is kept
/// as high as the widest instance wanted it, until Kokkos ends.
struct thread_limit {
  static void raise(int threads);
  /// Bytes of the stack of every thread that oneTBB starts from now on; those that run keep theirs.
  static void set_stack(std::int64_t bytes);
  static void drop();
};

/// oneTBB's numbers of the NUMA regions that this process has cores in.
std::vector<int> numa_regions_of_tbb();
/// `"2021.8"`
std::string version_of_tbb();

} // namespace keel::space::detail

#if !KEEL_COMPILED
#include <keel/impl/space/limits_of_tbb.ipp>
#endif
