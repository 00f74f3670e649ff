// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>

namespace kr = keel::residency;

struct app : keel::defaults {};
struct age : kr::variable<"age", double*> {};
struct mass : kr::variable<"mass", double*> {};

struct begin : kr::routine<"begin", kr::on_device, kr::writes<age, mass>> {
  template <class V>
  static void run(V v) {
    auto const a = v(age{}), m = v(mass{});
    auto const own = v.owned();
    Kokkos::parallel_for(
        "begin", Kokkos::RangePolicy<typename V::space>(v.execution_space(), own.begin[0], own.end[0]),
        KOKKOS_LAMBDA(int i) { a(i) = 0, m(i) = 1; });
  }
};

struct grow : kr::routine<"grow", kr::on_device, kr::updates<age, mass>> {
  template <class V>
  static void run(V v) {
    auto const a = v(age{}), m = v(mass{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) += 1, m(i) *= 1.5; });
  }
};

/// Reads one variable. The other one is never copied to the host.
struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<age>>> {
  template <class V>
  static void run(V v) {
    std::cout << "age " << v(age{})(v.owned().begin[0]) << '\n';
  }
};

struct step : kr::schedule<grow, kr::every<10, output>> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  kr::fields<app, age, mass> f{run, kr::grid{{1000}}};
  f.run(begin{});
  for (int n = 0; n < 40; ++n) f.step(step{});

  // Counted where copies are made. On a device that shares the host's memory nothing is copied.
  std::cout << f.traffic().copies() << " copies\n";
  for (auto const& v : f.traffic().variables())
    std::cout << v.name << ": " << v.bytes[std::size_t(kr::way::to_host)][0] << " bytes to the host, "
              << v.bytes[std::size_t(kr::way::to_device)][0] << " to the device\n";
} catch (std::exception const& e) {
  return keel::report(e);
}
