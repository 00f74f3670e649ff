// SPDX-License-Identifier: MIT
#pragma once
/// @file
/// What the cases share, correct in itself: a policy of the host, one with a second memory, two variables, and a
/// routine's run.

#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>

namespace kr = keel::residency;

struct app {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::tbb>>;
  using ranks = keel::machine::alone;
  using tracking = kr::automatic;
  using layout = Kokkos::LayoutRight;
};
struct two_memories : app {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::tbb, keel::simulated>>;
};

struct eta : kr::variable<"eta", double**, kr::levels<2>> {};
struct du : kr::variable<"du", double**> {};

/// Writes `Written` out of the last step's eta.
template <class Written = du>
struct from_past {
  template <class V>
  static void run(V v) {
    v(Written{})(0, 0) = v(kr::past<eta, 1>{})(0, 0);
  }
};

/// Touches nothing: what a schedule looks at is the clauses.
struct idle {
  template <class V>
  static void run(V) {}
};
struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::owned<kr::past<eta, 1>>>, kr::writes<eta>>,
                 idle {};
struct smooth : kr::routine<"smooth", kr::on_device, kr::reads<eta>>, idle {};
struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<eta>>>, idle {};
