// SPDX-License-Identifier: MIT
// How the gas moves through the grid, in each direction.
#include "loop.hpp"

#include <keel/residency/compiled.hpp>

namespace ministag {

template <int D>
template <class V>
void transport<D>::run(V v, double, setup const* what) {
  auto const d = v(density{}), e = v(energy{}), a = v(v1{}), b = v(v2{});
  auto const x = v(dx{}), y = v(dy{});
  sweep<D>(cells_of<V>{v}, patch_of(v, *what), v(dt{}), d, e, D == 0 ? a : b, D == 0 ? b : a, D == 0 ? x : y,
           D == 0 ? y : x, v(mass{}), v(heat{}), v(along{}), v(across{}));
}

} // namespace ministag

template struct keel::residency::compiled<ministag::app, ministag::transport<0>>;
template struct keel::residency::compiled<ministag::app, ministag::transport<1>>;
