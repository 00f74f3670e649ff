// SPDX-License-Identifier: MIT
// How the gas begins, moves by its pressure and viscosity, and what is measured of it.
#include "loop.hpp"

#include <keel/residency/compiled.hpp>

namespace ministag {

template <class V>
void fill::run(V v, setup const& what) {
  auto const d = v(density{}), e = v(energy{});
  long const i0 = v.global_begin()[0] - v.owned().begin[0], j0 = v.global_begin()[1] - v.owned().begin[1];
  Kokkos::deep_copy(v(v1{}), 0), Kokkos::deep_copy(v(v2{}), 0);
  v(elapsed{})() = 0;
  for (int i = 0; i < int(d.extent(0)); ++i)
    for (int j = 0; j < int(d.extent(1)); ++j)
      d(i, j) = what.density(i + i0, j + j0), e(i, j) = what.energy(i + i0, j + j0);
  for (int i = 0; i < int(d.extent(0)); ++i) v(dx{})(i) = what.size(0, i + i0);
  for (int j = 0; j < int(d.extent(1)); ++j) v(dy{})(j) = what.size(1, j + j0);
}

template <class V>
void measure::run(V v) {
  auto const d = v(density{}), e = v(energy{}), a = v(v1{}), b = v(v2{});
  auto const x = v(dx{}), y = v(dy{});
  kr::reduce_owned(
      v, km::maximum{}, KOKKOS_LAMBDA(int i, int j) { return squared_rate(d, e, a, b, x, y, i, j); }, v(fastest{}));
}

template <class V>
void tick::run(V v, double end) {
  auto const rate = v(fastest{});
  auto const now = v(elapsed{}), length = v(dt{});
  Kokkos::parallel_for(
      "tick", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1), KOKKOS_LAMBDA(int) {
        length() = longest_step(rate(), end - now());
        now() += length();
      });
}

template <class V>
void push::run(V v, double, setup const* what) {
  patch const p = patch_of(v, *what);
  accelerate<0>(cells_of<V>{v}, p.faces(0, 2), v(dt{}), v(density{}), v(energy{}), v(dx{}), v(v1{}));
  accelerate<1>(cells_of<V>{v}, p.faces(1, 2), v(dt{}), v(density{}), v(energy{}), v(dy{}), v(v2{}));
}

template <class V>
void squeeze::run(V v, double, setup const* what) {
  patch const p = patch_of(v, *what);
  cells_of<V> const loop{v};
  auto const d = v(density{});
  auto const x = v(dx{}), y = v(dy{});
  auto const e = v(energy{}), a = v(v1{}), b = v(v2{}), q = v(q1{}), r = v(q2{});
  auto const step = v(dt{});
  stress(loop, p.cells.grown(1, 2), d, a, b, q, r);
  rub(loop, p.cells, step, a, b, q, r, x, y, e);
  brake<0>(loop, p.faces(0, 1), step, d, q, x, a);
  brake<1>(loop, p.faces(1, 1), step, d, r, y, b);
  compress(loop, p.cells, step, a, b, x, y, e);
}

template <class V>
std::array<double, 2> weigh::run(V v) {
  auto const d = v(density{}), e = v(energy{}), a = v(v1{}), b = v(v2{});
  auto const x = v(dx{}), y = v(dy{});
  return kr::reduce_owned(
      v, km::plain_sum{}, KOKKOS_LAMBDA(int i, int j) {
        double const squares =
            a(i, j) * a(i, j) + a(i + 1, j) * a(i + 1, j) + b(i, j) * b(i, j) + b(i, j + 1) * b(i, j + 1);
        return value_type{d(i, j) * x(i) * y(j), (e(i, j) + 0.25 * d(i, j) * squares) * x(i) * y(j)};
      });
}

} // namespace ministag

template struct keel::residency::compiled<ministag::app, ministag::fill>;
template struct keel::residency::compiled<ministag::app, ministag::measure>;
template struct keel::residency::compiled<ministag::app, ministag::tick>;
template struct keel::residency::compiled<ministag::app, ministag::push>;
template struct keel::residency::compiled<ministag::app, ministag::squeeze>;
template struct keel::residency::compiled<ministag::app, ministag::weigh>;
