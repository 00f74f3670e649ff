// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What it costs to know that nothing has to be copied: a routine of four reads and one write, again and again.

#include "model.hpp"

#include <Kokkos_DualView.hpp>

#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct a : kr::variable<"a", double**> {};
struct b : kr::variable<"b", double**> {};
struct c : kr::variable<"c", double**> {};
struct d : kr::variable<"d", double**> {};
struct r : kr::variable<"r", double**> {};
struct a3 : kr::variable<"a3", double**, kr::levels<3>> {};
struct b3 : kr::variable<"b3", double**, kr::levels<3>> {};
struct c3 : kr::variable<"c3", double**, kr::levels<3>> {};
struct d3 : kr::variable<"d3", double**, kr::levels<3>> {};
struct r3 : kr::variable<"r3", double**, kr::levels<3>> {};

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
struct begin3 : kr::routine<"begin3", kr::on_device,
                            kr::writes<kr::everywhere<kr::past<a3, 1>>, kr::everywhere<kr::past<b3, 1>>,
                                       kr::everywhere<kr::past<c3, 1>>, kr::everywhere<kr::past<d3, 1>>>>,
                opaque {};
template <class Place>
using bare = kr::routine<"four_in_one_out", Place, kr::reads<a, b, c, d>, kr::writes<r>>;
struct on_device : bare<kr::on_device>, opaque {};
struct on_host : bare<kr::on_host>, opaque {};
struct apart
    : kr::routine<"apart", kr::on_device, kr::reads<kr::past<a3, 1>, kr::past<b3, 1>, kr::past<c3, 1>, kr::past<d3, 1>>,
                  kr::writes<r3>>,
      opaque {};
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
  kr::fields<two_memories, a, b, c, d, r, a3, b3, c3, d3, r3> f{here, kr::grid{{4, 4}}};
  f.run(begin{});
  f.run(begin3{});
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

/// A provider of what never has to move.
struct nothing_to_move {
  void create(int, kr::memory) {}
  kr::started copy_cycle(int) { return {}; }
  kr::started copy_from_past(int, int, kr::memory) { return {}; }
  kr::started to_device(std::span<kr::transfer const>) { return {}; }
  kr::finished to_host(std::span<kr::transfer const>) { return {}; }
  kr::finished pre_sync(std::span<kr::transfer const>) { return {}; }
  kr::started post_sync(std::span<kr::transfer const>) { return {}; }
  void wait(kr::memory) {}
  void poison(int, int, int, kr::region, kr::memory) {}
};

/// `routines` routines, each of four reads and a write of variables that only chance knows.
class at_run_time {
public:
  static constexpr kr::memory device{1};
  at_run_time(int variables, int levels, int components, int routines)
      : range_{0, components}, ledger_(provider_, 2, components) {
    for (int v = 0; v < variables; ++v) (void)ledger_.add("variable " + std::to_string(v), levels);
    std::mt19937 random(1);
    for (int v = 0; v < variables; ++v)
      for (int l = 0; l < levels; ++l) ledger_.notify_data_modified(v, l, kr::region::everywhere, device, range_);
    for (int n = 0; n < routines; ++n) {
      std::vector<kr::request> list;
      for (int k = 0; k < 5; ++k)
        list.push_back({int(random() % unsigned(variables)), int(random() % unsigned(levels)),
                        k < 4 ? kr::region::owned : kr::region::none, k < 4 ? kr::region::none : kr::region::owned});
      lists_.push_back(list);
      calls_.push_back(ledger_.prepare(list, device, "routine", range_));
    }
  }
  void prepared(long n) {
    for (long k = 0; k < n; k += long(calls_.size()))
      for (auto const& call : calls_) {
        ledger_.pre_call(call);
        asm volatile("" ::: "memory");
        ledger_.post_call(call);
      }
  }
  void by_lists(long n) {
    for (long k = 0; k < n; k += long(lists_.size()))
      for (auto const& list : lists_) {
        ledger_.pre_call(list, device, "routine", range_);
        asm volatile("" ::: "memory");
        ledger_.post_call(list, device, range_);
      }
  }
  /// Bytes of state for each variable, level and component.
  [[nodiscard]] static double state_bytes() { return double(sizeof(kr::validity) + sizeof(kr::copies_in_flight)); }

private:
  kr::component_range range_;
  nothing_to_move provider_;
  kr::ledger<nothing_to_move> ledger_;
  std::vector<std::vector<kr::request>> lists_;
  std::vector<kr::prepared> calls_;
};

} // namespace bench
