// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// ocean as keel sees it: its policy, its variables, its routines with what they read and write, its step. The bodies
/// stand in model.cpp.

#include "case.hpp"
#include "kernels.hpp"
#include "state.hpp"

#include <keel/device/defaults.hpp>
#include <keel/residency/declare.hpp>
#include <keel/schedule/checkpoint.hpp>
#include <keel/validity/trace.hpp>

#include <vector>

namespace ocean {

namespace kr = keel::residency;

struct app : keel::defaults {
#ifdef OCEAN_TRACED
  using tracking = kr::traced; // for the report of bench/run
#endif
  using layout = ocean::layout;
  using exchange = kr::on_device;
};

struct eta : kr::variable<"eta", double**, kr::levels<3>, kr::padded<row_padding>> {}; // elevation, m
struct u : kr::variable<"u", double***, kr::levels<3>, kr::padded<row_padding>> {};    // eastward velocity, m/s
struct v : kr::variable<"v", double***, kr::levels<3>, kr::padded<row_padding>> {};    // northward velocity, m/s

/// Level `Level` of one of them, the cells that this rank owns.
template <class X, int Level>
using owned_past = kr::owned<kr::past<X, Level>>;
template <class X>
using inside_past = kr::inside<kr::past<X, 1>>; // a closed wall is looked for, and nothing beyond it read

/// What a routine is called for; a piece of what the rank owns may end before the wall.
template <class V>
part part_of(V const& view) {
  auto const own = view.owned(), all = view.local().owned();
  return {int(own.begin[0]),
          int(own.end[0]),
          int(own.begin[1]),
          int(own.end[1]),
          own.begin[1] == all.begin[1] && view.is_wall(1, kr::side::low),
          own.end[1] == all.end[1] && view.is_wall(1, kr::side::high)};
}

/// The states at the start and one step before it.
struct initial_state : kr::routine<"initial_state", kr::on_host,
                                   kr::writes<eta, u, v, kr::past<eta, 1>, kr::past<u, 1>, kr::past<v, 1>>> {
  template <class V>
  static void run(V view, experiment const& what);
};

/// The exchange after it begins when the rim is advanced.
struct advance : kr::routine<"advance", kr::on_device, kr::in_pieces,
                             kr::reads<owned_past<eta, 2>, owned_past<u, 2>, owned_past<v, 2>, inside_past<eta>,
                                       inside_past<u>, inside_past<v>>,
                             kr::writes<eta, u, v>> {
  template <class V>
  static void run(V view, experiment const& what);
};

struct share_ghosts : kr::exchange<eta, u, v> {};
struct step : kr::graph<kr::cycle<eta, u, v>, advance, share_ghosts> {};
struct movie : kr::save<"eta", kr::owned<eta>> {};

} // namespace ocean
