// SPDX-License-Identifier: MIT
// The bodies of ocean's routines, compiled for each device.
#include "model.hpp"

#include <keel/residency/compiled.hpp>

namespace ocean {

namespace {

template <class V, class Field, class Layered>
void set(V const& view, experiment const& what, double time, Field const& e, Layered const& x, Layered const& y) {
  part const here = part_of(view);
  long const to_global_i = long(view.global_begin()[0]) - here.i_begin;
  long const to_global_j = long(view.global_begin()[1]) - here.j_begin;
  auto const set_one = [&](int i, int j, int k) {
    bool const is_known = k > 0 && what.is_flat();
    x(i, j, k) = is_known ? x(i, j, 0) : what.u(i + to_global_i, j + to_global_j, k, time);
    y(i, j, k) = is_known ? y(i, j, 0) : what.v(i + to_global_i, j + to_global_j, k, time);
  };
  for (int i = here.i_begin; i < here.i_end; ++i)
    for (int j = here.j_begin; j < here.j_end; ++j) e(i, j) = what.eta(i + to_global_i, j + to_global_j, time);
  if constexpr (row_padding > 1) { // layers lie apart
    for (int k = 0; k < what.equations().layers; ++k)
      for (int j = here.j_begin; j < here.j_end; ++j)
        for (int i = here.i_begin; i < here.i_end; ++i) set_one(i, j, k);
  } else {
    for (int i = here.i_begin; i < here.i_end; ++i)
      for (int j = here.j_begin; j < here.j_end; ++j)
        for (int k = 0; k < what.equations().layers; ++k) set_one(i, j, k);
  }
}

} // namespace

template <class V>
void initial_state::run(V view, experiment const& what) {
  set(view, what, 0, view(eta{}), view(u{}), view(v{}));
  set(view, what, -what.equations().dt, view(kr::past<eta, 1>{}), view(kr::past<u, 1>{}), view(kr::past<v, 1>{}));
}

template <class V>
void advance::run(V view, experiment const& what) {
  advance_all("advance", view.execution_space(), part_of(view), what.equations(), what.mixing_strength(),
              view(kr::past<eta, 2>{}), view(kr::past<u, 2>{}), view(kr::past<v, 2>{}), view(kr::past<eta, 1>{}),
              view(kr::past<u, 1>{}), view(kr::past<v, 1>{}), view(eta{}), view(u{}), view(v{}));
}

} // namespace ocean

template struct keel::residency::compiled<ocean::app, ocean::initial_state>;
template struct keel::residency::compiled<ocean::app, ocean::advance>;
