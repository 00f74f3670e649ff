// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How routines of ministag call its kernels.

#include "model.hpp"

namespace ministag {

/// `loop(box, f)` of the kernels.
template <class V>
struct cells_of {
  V v;
  template <class F>
  void operator()(box const& b, F const& f) const {
    kr::for_each_cell(v, {{{b.begin[0], b.begin[1]}}, {{b.end[0], b.end[1]}}}, f);
  }
};

template <class V>
patch patch_of(V const& v, setup const& what) {
  patch p;
  for (int d = 0; d < 2; ++d) {
    p.cells.begin[d] = int(v.owned().begin[d]), p.cells.end[d] = int(v.owned().end[d]);
    for (int s = 0; s < 2; ++s)
      p.ends[d][s] = !v.is_wall(d, kr::side(s)) ? end::neighbour : what.is_open(d, s) ? end::open : end::closed;
  }
  return p;
}

} // namespace ministag
