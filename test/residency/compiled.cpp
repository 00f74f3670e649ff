// SPDX-License-Identifier: MIT
// The bodies of compiled.hpp, which entries.cpp calls.
#include <keel/residency/compiled.hpp>

#include "compiled.hpp"

namespace test::compiled {

template <class V>
void warm::run(V v, double by) {
  auto const a = v(heat{});
  kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) = by * i; });
}
template <class V>
double most::run(V v) {
  auto const a = v(heat{});
  return kr::reduce_owned(v, keel::machine::maximum{}, KOKKOS_LAMBDA(int i) { return a(i); });
}
template <class V>
void scale::run(V v) {
  auto const a = v(heat{});
  double const by = v(hottest{});
  kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) /= by; });
}
template <class V>
double show::run(V v, bool beyond) {
  return v(heat{})(beyond ? v.owned().end[0] : 1);
}

} // namespace test::compiled

namespace kr = keel::residency;

template struct kr::compiled<test::compiled::checked, test::compiled::warm>;
template struct kr::compiled<test::compiled::checked, test::compiled::most>;
template struct kr::compiled<test::compiled::checked, test::compiled::scale>;
template struct kr::compiled<test::compiled::checked, test::compiled::show>;
template struct kr::compiled<test::compiled::off, test::compiled::warm>;
template struct kr::compiled<test::compiled::off, test::compiled::most>;
template struct kr::compiled<test::compiled::off, test::compiled::scale>;
template struct kr::compiled<test::compiled::off, test::compiled::show>;
