// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// ocean as keel sees it: its variables, its routines with what they read and write, its step.

#include "case.hpp"
#include "kernels.hpp"
#include "state.hpp"

#include <keel/keel.hpp>

#include <vector>

namespace ocean {

namespace kr = keel::residency;

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
  static void run(V view, experiment const& what) {
    set(view, what, 0, view(eta{}), view(u{}), view(v{}));
    set(view, what, -what.equations().dt, view(kr::past<eta, 1>{}), view(kr::past<u, 1>{}), view(kr::past<v, 1>{}));
  }

private:
  template <class V, class Field, class Layered>
  static void set(V const& view, experiment const& what, double time, Field const& e, Layered const& x,
                  Layered const& y) {
    part const here = part_of(view);
    long const to_global_i = long(view.global_begin()[0]) - here.i_begin;
    long const to_global_j = long(view.global_begin()[1]) - here.j_begin;
    for (int i = here.i_begin; i < here.i_end; ++i)
      for (int j = here.j_begin; j < here.j_end; ++j) {
        e(i, j) = what.eta(i + to_global_i, j + to_global_j, time);
        for (int k = 0; k < what.equations().layers; ++k) {
          x(i, j, k) = what.u(i + to_global_i, j + to_global_j, k, time);
          y(i, j, k) = what.v(i + to_global_i, j + to_global_j, k, time);
        }
      }
  }
};

/// The exchange after it begins when the rim is advanced.
struct advance : kr::routine<"advance", kr::on_device, kr::in_pieces,
                             kr::reads<owned_past<eta, 2>, owned_past<u, 2>, owned_past<v, 2>, inside_past<eta>,
                                       inside_past<u>, inside_past<v>>,
                             kr::writes<eta, u, v>> {
  template <class V>
  static void run(V view, experiment const& what) {
    advance_all("advance", view.execution_space(), part_of(view), what.equations(), what.mixing_strength(),
                view(kr::past<eta, 2>{}), view(kr::past<u, 2>{}), view(kr::past<v, 2>{}), view(kr::past<eta, 1>{}),
                view(kr::past<u, 1>{}), view(kr::past<v, 1>{}), view(eta{}), view(u{}), view(v{}));
  }
};

struct share_ghosts : kr::exchange<eta, u, v> {};
struct step : kr::schedule<kr::cycle<eta, u, v>, advance, share_ghosts> {};

/// Appends what this rank owns of a variable, in the order of a view.
template <class X>
struct collect : kr::routine<"collect", kr::on_host, kr::reads<kr::owned<X>>> {
  template <class V>
  static void run(V view, std::vector<double>* to) {
    part const here = part_of(view);
    auto const owned = in_order(view(X{}), here.i_begin, here.i_end, here.j_begin, here.j_end);
    to->insert(to->end(), owned.begin(), owned.end());
  }
};

} // namespace ocean
