// SPDX-License-Identifier: MIT
// The floor of a step on one rank: eight small kernels, and routines with an exchange; by keel and by Kokkos, launched
// one by one and as a graph, in turns. Without a graph of Kokkos' own, as on the host, that runs its kernels in order.
#include "../by_hand.hpp"

#include <keel/keel.hpp>

#include <Kokkos_Graph.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

// Not without a name: nvcc loses such a namespace among the arguments of a kernel.
namespace floors {

namespace kr = keel::residency;

struct app : keel::defaults {
  using exchange = kr::on_device;
};
struct x : kr::variable<"x", double*> {};
struct begin : kr::routine<"begin", kr::on_device, kr::writes<x>> {
  template <class V>
  static void run(V v) {
    auto const a = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) = i; });
  }
};
struct small : kr::routine<"small", kr::on_device, kr::updates<x>> {
  template <class V>
  static void run(V v) {
    auto const a = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) = 0.5 * a(i) + 1; });
  }
};
template <class View>
struct small_by_kokkos {
  View a;
  KOKKOS_FUNCTION void operator()(int i) const { a(i) = 0.5 * a(i) + 1; }
};

using around = kr::exchange<x>;
template <template <class...> class Group>
using eight = Group<small, small, small, small, small, small, small, small>;
template <template <class...> class Group>
using one_of_each = Group<small, around>;
template <template <class...> class Group>
using four_of_each = Group<small, around, small, around, small, around, small, around>;

struct way {
  std::string name;
  std::function<void()> step;
  std::size_t beside; ///< the way that it is compared with
  std::vector<double> device = {}, host = {}, ratios = {};
};

template <class Space>
void measure(auto& run, Space const& space, int cells, int turns) {
  kr::fields<app, x> f{run, kr::grid{{cells}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(begin{});
  using view = Kokkos::View<double*, typename Space::memory_space>;
  small_by_kokkos<view> const kernel{view("x", std::size_t(cells))};
  Kokkos::RangePolicy<Space, Kokkos::IndexType<int>> const range(space, 0, cells);
  auto const launched = Kokkos::Experimental::create_graph<Space>([&](auto const& root) {
    Kokkos::RangePolicy<Space, Kokkos::IndexType<int>> const its_own(0, cells);
    auto const add = [&](auto const& after) { return after.then_parallel_for("small", its_own, kernel); };
    auto const four = [&](auto const& after) { return add(add(add(add(after)))); };
    four(four(root));
  });
  auto const submit = [&] {
    if constexpr (requires { launched.submit(space); }) launched.submit(space);
    else launched.submit(); // before Kokkos 4.3
  };
  std::vector<way> all{
      {"8 kernels by Kokkos",
       [&] {
         for (int n = 0; n < 8; ++n) Kokkos::parallel_for("small", bench::light(range), kernel);
       },
       0},
      {"8 routines", [&] { f.step(eight<kr::schedule>{}); }, 0},
      {"8 kernels in a graph of Kokkos'", submit, 0},
      {"8 routines in a graph", [&] { f.step(eight<kr::graph>{}); }, 2},
      {"1 routine and its exchange", [&] { f.step(one_of_each<kr::schedule>{}); }, 0},
      {"the same in a graph", [&] { f.step(one_of_each<kr::graph>{}); }, 4},
      {"4 of each", [&] { f.step(four_of_each<kr::schedule>{}); }, 0},
      {"the same in a graph", [&] { f.step(four_of_each<kr::graph>{}); }, 6},
  };
  constexpr int calls = 100; // fewer launches than a queue takes before the host has to wait
  for (int n = -1; n < turns; ++n) {
    for (way& one : all) {
      double const host = bench::microseconds(calls, one.step);
      Kokkos::fence();
      double const device = bench::microseconds(1, [&] {
        for (int k = 0; k < 10 * calls; ++k) one.step();
        Kokkos::fence();
      });
      if (n < 0) continue; // recorded in the first one
      one.host.push_back(host), one.device.push_back(device / (10 * calls));
    }
    for (way& one : all)
      if (n >= 0) one.ratios.push_back(one.device.back() / all[one.beside].device.back());
  }
  std::printf("%d cells on %s, %d turns: of a step the time, that of the host in it, and the first / another's\n",
              cells, std::string(run.device_name()).c_str(), turns);
  for (way const& one : all)
    std::printf("%-32s %8.2f us  %8.2f us  %6.3f of %s\n", one.name.c_str(), bench::median(one.device),
                bench::median(one.host), bench::median(one.ratios), all[one.beside].name.c_str());
}

} // namespace floors

/// floor [CELLS] [TURNS]
int main(int argc, char** argv) try {
  keel::runtime<floors::app> run{argc, argv};
  if (run.help_requested()) return 0;
  int const cells = argc > 1 ? std::atoi(argv[1]) : 1024, turns = argc > 2 ? std::atoi(argv[2]) : 41;
  keel::with_device<floors::app::devices>(
      run.device_name(), [&]<class Tag>(Tag) { floors::measure(run, run.execution_space<Tag>(), cells, turns); });
} catch (std::exception const& e) {
  return keel::report(e);
}
