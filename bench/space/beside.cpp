// SPDX-License-Identifier: MIT
/// @file
/// keel's pools beside what they stand on, and beside Kokkos' own memory, in one run.
#include <keel/space.hpp>

#include "turns.hpp"

#include <cstdlib>
#include <memory_resource>

namespace {

using bench::compare;

void pools() {
  keel::space::pool<> const pool{keel::space::pool_resource<Kokkos::HostSpace>(keel::space::pool_options{})};
  std::pmr::synchronized_pool_resource below;
  constexpr std::size_t bytes = 64;
  auto const from_pool = [&] { pool.deallocate(pool.allocate(bytes), bytes); };
  auto const from_below = [&] { below.deallocate(below.allocate(bytes, 64), bytes, 64); };
  auto const& resource = pool.resource();
  compare(
      "64 B: std::pmr's pool, keel's", 20000, from_below,
      [&] { resource.deallocate(resource.allocate(bytes, 64), bytes, 64); }, 1.05);
  compare("64 B: the same, Kokkos' tools asked twice", 20000, from_below, from_pool, 1.05);
  compare(
      "64 B: aligned_alloc, keel's pool", 20000,
      [] {
        void* const volatile p = std::aligned_alloc(64, bytes);
        std::free(p);
      },
      from_pool);
  compare(
      "64 B: Kokkos::HostSpace, keel's pool", 20000,
      [] {
        Kokkos::HostSpace const host;
        host.deallocate(host.allocate(bytes), bytes);
      },
      from_pool);
}

} // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  bench::print_head();
  pools();
  Kokkos::finalize();
}
