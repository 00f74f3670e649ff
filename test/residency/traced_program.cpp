// SPDX-License-Identifier: MIT
/// @file
/// A program that is traced, for trace_end.cpp: two steps, and then what its argument says. It is built alone, and on
/// ranks.
#include <keel/keel.hpp>

#include <stdexcept>
#include <string_view>

namespace kr = keel::residency;

namespace {

struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::simulated>>;
#if !KEEL_TEST_ON_RANKS
  using ranks = keel::machine::alone;
#endif
  using tracking = kr::traced;
};
struct heat : kr::variable<"heat", double*, kr::levels<2>> {};
struct init : kr::routine<"init", kr::on_host, kr::writes<kr::everywhere<heat>>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v(heat{}), 1.0);
  }
};
struct warm : kr::routine<"warm", kr::on<keel::simulated>, kr::reads<kr::past<heat, 1>>, kr::writes<heat>> {
  template <class V>
  static void run(V) {}
};
struct show : kr::routine<"show", kr::on_host, kr::reads<kr::owned<heat>>> {
  template <class V>
  static void run(V) {}
};
struct step : kr::schedule<kr::cycle<heat>, warm, kr::exchange<heat>, show> {};

} // namespace

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  std::string_view const then = argc > 1 ? argv[1] : "";
  kr::fields<app, heat> f{run, kr::grid{{100}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(init{});
  int const steps = then == "long" ? 100 : then.empty() ? 2 : 0; // without one, all lines are kept until the end
  for (int n = 0; n < steps; ++n) f.step(step{});
  if (then == "throw") throw std::runtime_error("the program's own error");
  return then == "one" ? 1 : 0;
} catch (std::exception const& e) {
  return keel::report(e);
}
