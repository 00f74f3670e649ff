// SPDX-License-Identifier: MIT
/// @file
/// What keel's node costs and saves beside hwloc asked directly. Both in turns, in one run; medians.
#include "../medians.hpp"

#include <keel/impl/topology/discover.hpp>
#include <keel/topology.hpp>

#include <hwloc.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace kt = keel::topology;

namespace {

std::size_t allocated = 0; // bytes that live, as the allocator counts them

using clock = std::chrono::steady_clock;

/// Nanoseconds of one call of `f(i)`, i < calls, of the median of 31 turns.
template <class F>
double measured(int calls, F const& f) {
  std::vector<double> turns;
  for (int t = 0; t < 31; ++t) {
    auto const begun = clock::now();
    for (int i = 0; i < calls; ++i) f(i);
    turns.push_back(std::chrono::duration<double, std::nano>(clock::now() - begun).count() / calls);
  }
  return bench::median(turns);
}

/// "Cores within [a, b]" by hwloc alone: up the tree by different cpusets, then one set without the other.
int directly(hwloc_topology_t all, int core, int min, int max, hwloc_bitmap_t inner, hwloc_bitmap_t outer) {
  auto at = hwloc_get_obj_by_type(all, HWLOC_OBJ_CORE, unsigned(core));
  auto const up = [](hwloc_obj_t from) {
    auto const before = from;
    while (from->parent != nullptr && hwloc_bitmap_isequal(from->cpuset, before->cpuset) != 0) from = from->parent;
    return from;
  };
  int steps = 0;
  hwloc_bitmap_zero(inner);
  for (; steps < max; ++steps) {
    if (steps == min - 1) hwloc_bitmap_copy(inner, at->cpuset);
    at = up(at);
  }
  hwloc_bitmap_andnot(outer, at->cpuset, inner);
  return hwloc_get_nbobjs_inside_cpuset_by_type(all, outer, HWLOC_OBJ_CORE);
}

void report(char const* what, double raw, double keel, char const* reach) {
  if (raw > 0) std::printf("%-46s %14.1f %14.1f   %s\n", what, raw, keel, reach);
  else std::printf("%-46s %14s %14.1f   %s\n", what, "-", keel, reach);
}

long volatile consumed = 0;

void nearness() {
  char const* const text = "package:2 numa:4 l3:2 core:8 pu:2";
  auto const node = kt::node::from_synthetic(text);
  hwloc_topology_t all = nullptr;
  hwloc_topology_init(&all);
  hwloc_topology_set_synthetic(all, text);
  hwloc_topology_load(all);
  struct question {
    int core, min, max;
  };
  std::vector<question> questions(4096);
  std::mt19937 random{17};
  for (auto& q : questions) {
    q = {int(random() % 128), int(random() % 3), 0};
    q.max = q.min + int(random() % 3);
  }
  auto const* const opaque = questions.data();
  long sum = 0;
  double const keel = measured(4096 * 16, [&](int i) {
    auto const& q = opaque[i & 4095];
    sum += node.cores_between(q.core, q.min, q.max).size();
  });
  long const by_keel = sum;
  auto* const inner = hwloc_bitmap_alloc();
  auto* const outer = hwloc_bitmap_alloc();
  sum = 0;
  double const raw = measured(4096, [&](int i) {
    auto const& q = opaque[i & 4095];
    sum += directly(all, q.core, q.min, q.max, inner, outer);
  });
  consumed = sum;
  if (by_keel != 16 * sum) std::printf("WRONG: %ld cores by keel, %ld by hwloc\n", by_keel, 16 * sum);
  report("cores within [a, b] and their count, 128, ns", raw, keel, "at most 3");
  double const set = measured(4096, [&](int i) {
    auto const& q = opaque[i & 4095];
    sum += long(node.nearby_cores(q.core, kt::core_type::any, q.min, q.max).size());
  });
  consumed = sum;
  report("the same as an id_set, ns", raw, set, "");
  hwloc_bitmap_free(inner);
  hwloc_bitmap_free(outer);
  hwloc_topology_destroy(all);
}

void tables() {
  for (auto const& [text, what, reach] :
       {std::tuple{"package:2 numa:4 l3:2 core:8 pu:2", "table for 128 cores, us", "at most 50"},
        {"package:4 numa:4 l3:8 core:8 pu:2", "table for 1024 cores, us", "at most 2000"}}) {
    kt::detail::discovery found{kt::detail::from_synthetic(text, text)};
    auto const all = found.take();
    long sum = 0;
    double const keel = measured(20, [&](int) {
      kt::detail::reach const table{all.tree, all.core_places};
      sum += table.within(0, 1).end;
    });
    consumed = sum;
    report(what, 0, keel / 1000, reach);
  }
}

/// Two ways to a node in turns, in microseconds, and the median of the quotients of neighbouring turns.
void in_turns(char const* what, auto const& raw, auto const& keel, int calls, char const* reach) {
  auto const [of_raw, of_keel, quotient] = bench::in_turns(
      41, [&] { return bench::microseconds(calls, raw); }, [&] { return bench::microseconds(calls, keel); });
  report(what, of_raw, of_keel, "");
  std::printf("%-46s %14s %14.3f   %s\n", "the same, quotient of neighbouring turns", "", quotient, reach);
}

hwloc_topology_t with_devices() {
  hwloc_topology_t all = nullptr;
  hwloc_topology_init(&all);
  hwloc_topology_set_io_types_filter(all, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  return all;
}

void start() {
  auto const raw = [] {
    auto* const all = with_devices();
    hwloc_topology_load(all);
    hwloc_topology_destroy(all);
  };
  in_turns(
      "start on this machine, us", raw, [] { consumed = long(kt::node::here().cores().size()); }, 1, "at most 1.02");
}

void memory() {
  auto const before = allocated;
  auto const node = kt::node::from_synthetic("package:2 numa:4 l3:4 core:8 pu:2");
  report("memory of a node of 256 cores, KiB", 0, double(allocated - before) / 1024, "at most 64");
}

} // namespace

#if !KEEL_ON_ACCELERATOR // nvcc takes these for functions of both sides
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  auto* const at = static_cast<std::size_t*>(std::malloc(bytes + 16));
  if (at == nullptr) throw std::bad_alloc{};
  *at = bytes;
  allocated += bytes;
  return at + 2;
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
  if (at == nullptr) return;
  auto* const begin = static_cast<std::size_t*>(at) - 2;
  allocated -= *begin;
  std::free(begin);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
#endif

int main() {
  std::printf("%-46s %14s %14s   %s\n", "", "hwloc", "keel", "reach");
  nearness();
  tables();
  start();
  memory();
}
