// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What it costs to know that nothing has to be copied: a routine of four reads and one write, again and again.

#include "model.hpp"

#include <Kokkos_DualView.hpp>

#include <string_view>

namespace bench {

struct a : kr::variable<"a", double**> {};
struct b : kr::variable<"b", double**> {};
struct c : kr::variable<"c", double**> {};
struct d : kr::variable<"d", double**> {};
struct r : kr::variable<"r", double**> {};
/// The body of all: what the state is stays unknown to the compiler.
struct opaque {
  template <class V>
  static void run(V) {
    asm volatile("" ::: "memory");
  }
};
struct begin : kr::routine<"begin", kr::on_device,
                           kr::writes<kr::everywhere<a>, kr::everywhere<b>, kr::everywhere<c>, kr::everywhere<d>>>,
               opaque {};
template <class Place>
using bare = kr::routine<"four_in_one_out", Place, kr::reads<a, b, c, d>, kr::writes<r>>;
struct on_device : bare<kr::on_device>, opaque {};
struct on_host : bare<kr::on_host>, opaque {};
template <class R>
struct forty : kr::schedule<R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R,
                            R, R, R, R, R, R, R, R, R> {};

/// Calls `f` n times, with next to no loop around it.
template <class F>
[[gnu::always_inline]] inline void repeat(long n, F&& f) {
  for (long k = 0; k < n / 10; ++k) {
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
    f();
  }
}

// Each does `n` routines of four reads and one write.
template <class R>
void by_routine(long n, std::string_view device) {
  run here{device};
  kr::fields<two_memories, a, b, c, d, r> f{here, kr::grid{{4, 4}}};
  f.run(begin{});
  repeat(n, [&]() __attribute__((always_inline)) { f.run(R{}); });
}
template <class R>
void in_steps(long n, std::string_view device) {
  run here{device};
  kr::fields<two_memories, a, b, c, d, r> f{here, kr::grid{{4, 4}}};
  f.run(begin{});
  for (long k = 0; k < n / 40; ++k) f.step(forty<R>{});
}
/// Routines of four reads and one write on one memory, as many as a step has.
template <class... Entries>
inline constexpr long routines_of = 1;
template <class R>
inline constexpr long routines_of<kr::every<1, forty<R>>> = 40;
template <class Tracking, class... Entries>
void on_one_memory(long n) {
  run here{host::name};
  kr::fields<application<keel::list<host>, Tracking>, a, b, c, d, r> f{here, kr::grid{{4, 4}}};
  f.run(begin{});
  repeat(n / routines_of<Entries...>, [&]() __attribute__((always_inline)) { f.step(kr::schedule<Entries...>{}); });
}
inline void dual_view(long n) {
  Kokkos::DualView<double**, Kokkos::LayoutRight, keel::space::simulated> views[5];
  for (auto& v : views) v = {"v", 4, 4};
  for (auto& v : views) v.modify_host(), v.sync_device();
  repeat(n, [&] {
    for (int k = 0; k < 4; ++k) views[k].sync_device();
    asm volatile("" ::: "memory");
    views[4].clear_sync_state();
    views[4].modify_device();
  });
}

} // namespace bench
