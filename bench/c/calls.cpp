// SPDX-License-Identifier: MIT
// What calls through C and Fortran cost beside those of C++, in turns: an exchange by a plan of one array of few
// elements, on one rank, and a variable that is made valid where it is valid.
#include "../../impl/c/objects.hpp"
#include "../medians.hpp"

#include <keel/exchange/exchanger.hpp>
#include <keel/residency/registry.hpp>

#include <cstdio>
#include <cstdlib>

extern "C" void exchange_by_fortran(int plan, double* a, int n, int calls);
extern "C" void require_by_fortran(int registry, int variable, int calls);

namespace {
namespace kr = keel::residency;

constexpr int calls = 2000, turns = 101;

void good(int code) {
  if (code == KEEL_SUCCESS) return;
  std::fprintf(stderr, "%s\n", keel_message());
  std::exit(EXIT_FAILURE);
}
template <class Cpp, class Other>
void print(char const* what, Cpp const& cpp, Other const& other) {
  auto const m = bench::in_turns(
      turns, [&] { return 1e3 * bench::microseconds(calls, cpp); },
      [&] { return 1e3 * bench::microseconds(1, other) / calls; });
  std::printf("%-28s C++ %7.1f ns, this %7.1f ns: %+6.1f ns\n", what, m.other, m.keel, m.keel - m.other);
}
} // namespace

int main(int argc, char** argv) {
  int world, grid, x, plan, registry, variable;
  std::int64_t const cells = 16;
  int const width = 1, wraps = 1;
  good(keel_start(&argc, &argv));
  good(keel_world(&world));
  good(keel_grid(1, &cells, &width, &wraps, &grid));
  good(keel_exchanger(world, grid, 0, nullptr, &x));
  good(keel_registry(world, grid, 0, nullptr, &registry));
  {
    Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::HostSpace> const a("a", 18), b("b", 18);
    keel_array lies{};
    lies.data = a.data(), lies.type = KEEL_DOUBLE, lies.rank = 1, lies.extents[0] = 18;
    good(keel_plan(x, 1, &lies, &plan));
    good(keel_adopt(registry, "a", &lies, nullptr, &variable));
    good(keel_notify_data_modified(registry, KEEL_HOST, 1, &variable));

    kr::grid const same{{16}, kr::ghost_width{1}, kr::periodic{true}};
    kr::exchanger const y{keel::c::run(), same};
    auto const p = y.plan(kr::array(b));
    kr::registry f{keel::c::run(), same};
    auto const h = f.adopt("b", b);
    f.notify_data_modified(kr::on_host{}, {h});

    auto const exchange = [&] { p.exchange(b); };
    keel_array address{};
    address.data = a.data();
    print("exchange, by C", exchange, [&] {
      for (int i = 0; i < calls; ++i) good(keel_exchange(plan, 1, &address));
    });
    print("exchange, by Fortran", exchange, [&] { exchange_by_fortran(plan, a.data(), 18, calls); });
    auto const require = [&] { f.require_valid_data(kr::on_host{}, {h}); };
    print("require valid data, by Fortran", require, [&] { require_by_fortran(registry, variable, calls); });
  }
  good(keel_end());
}
