// SPDX-License-Identifier: MIT
/// @file
/// A tool of Kokkos, loaded as its connectors to profilers are: prints the regions and kernels that it hears of.

#include <cstdint>
#include <cstdio>

extern "C" {

void kokkosp_push_profile_region(char const* name) { std::printf("region %s\n", name); }

void kokkosp_begin_parallel_for(char const* name, std::uint32_t, std::uint64_t*) { std::printf("kernel %s\n", name); }
}
