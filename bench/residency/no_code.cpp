// SPDX-License-Identifier: MIT
/// @file
/// A routine run by fields that track nothing, and its body called without keel in between: functions for
/// same_instructions.py to hold side by side.

#include "model.hpp"

namespace bench {

struct x : kr::variable<"x", double**> {};
struct y : kr::variable<"y", double**> {};
struct axpy : kr::routine<"axpy", kr::on_device, kr::reads<kr::owned<x>>, kr::updates<y>> {
  template <class V>
  [[gnu::always_inline]] static void run(V v, double a) { // so that no judgement of size comes in between
    auto const from = v(x{});
    auto const to = v(y{});
    auto const own = v.owned();
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j) to(i, j) += a * from(i, j);
  }
};

using trusted = kr::fields<application<keel::list<host>, kr::off>, x, y>;
using single = kr::fields<application<keel::list<host>>, x, y>;

/// What the fields would give to `axpy`, had from within them.
template <class App, class... Vars>
kr::context<App, axpy, host> given(kr::fields<App, Vars...>& f) {
  auto const& base = (kr::detail::fields_base<App> const&)f; // a base that others do not see
  return {{base, kr::detail::bound_schedule<axpy, kr::detail::variable_index<Vars...>>::nodes.asked(0).data(),
           kr::every_component}};
}

} // namespace bench

extern "C" {
void keel_off(bench::trusted& f, double a) { f.run(bench::axpy{}, a); }
void loop_off(bench::trusted& f, double a) { bench::axpy::run(bench::given(f), a); }
// It asks: so that a comparison which finds no difference proves something.
void keel_one_memory(bench::single& f, double a) { f.run(bench::axpy{}, a); }
void loop_one_memory(bench::single& f, double a) { bench::axpy::run(bench::given(f), a); }
}
