// SPDX-License-Identifier: MIT
/// @file
/// What residency costs and saves beside Kokkos' DualView, in one run:
/// beside_dualview [DEVICE [MEBIBYTES]]. Bytes that are necessary come from the test's oracle.

#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>
#include <keel/space/start.hpp>

#include <support/oracle.hpp>

#include <Kokkos_DualView.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace kr = keel::residency;

namespace model {

using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::cuda, keel::hip, keel::simulated>>;

struct app {
  using devices = model::devices;
  using ranks = keel::machine::alone;
  using tracking = kr::automatic;
  using layout = Kokkos::LayoutRight;
};

struct run {
  std::string device;
  keel::machine::basic_environment<keel::machine::alone> world;
  auto& environment() { return world; }
  std::string_view device_name() const { return device; }
  template <class Tag>
  auto execution_space() {
    return typename keel::device_traits<Tag>::execution_space{};
  }
};

struct a : kr::variable<"a", double**> {};
struct b : kr::variable<"b", double**> {};
struct c : kr::variable<"c", double**> {};
struct d : kr::variable<"d", double**> {};
struct r : kr::variable<"r", double**> {};

struct begin : kr::routine<"begin", kr::on_device, kr::writes<kr::everywhere<a>, kr::everywhere<b>, kr::everywhere<c>, kr::everywhere<d>>> {
  template <class V>
  static void run(V) {}
};
struct four_in_one_out : kr::routine<"four_in_one_out", kr::on_device, kr::reads<a, b, c, d>, kr::writes<r>> {
  template <class V>
  static void run(V) {
    asm volatile("" ::: "memory"); // what the state is stays unknown
  }
};
struct ten : kr::schedule<kr::repeat<1, four_in_one_out, four_in_one_out, four_in_one_out, four_in_one_out, four_in_one_out, four_in_one_out,
                                     four_in_one_out, four_in_one_out, four_in_one_out, four_in_one_out>> {};

struct fill : kr::routine<"fill", kr::on_host, kr::writes<kr::everywhere<a>>> {
  template <class V>
  static void run(V) {}
};
struct look : kr::routine<"look", kr::on_device, kr::reads<a>> {
  template <class V>
  static void run(V v) {
    v.execution_space().fence();
  }
};

// The shape of a model's step: three levels, ghosts, output now and then.
struct eta : kr::variable<"eta", double**, kr::levels<3>> {};
struct u : kr::variable<"u", double**, kr::levels<3>> {};
struct du : kr::variable<"du", double**> {};
struct initial : kr::routine<"initial", kr::on_host, kr::writes<kr::everywhere<eta>, kr::everywhere<u>>> {
  template <class V>
  static void run(V) {}
};
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>, kr::past<u, 1>>, kr::writes<du>> {
  template <class V>
  static void run(V) {}
};
struct advance
    : kr::routine<"advance", kr::on_device, kr::reads<kr::past<eta, 1>, kr::past<u, 1>, kr::owned<du>>, kr::writes<eta, u>> {
  template <class V>
  static void run(V) {}
};
struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<eta>>> {
  template <class V>
  static void run(V) {}
};
struct step : kr::schedule<kr::cycle<eta, u>, rhs, advance, kr::exchange<eta, u>, kr::every<10, output>> {};

double seconds(auto const& work, int times) {
  double best = 1e9;
  for (int n = 0; n < 5; ++n) {
    auto const start = std::chrono::steady_clock::now();
    for (int k = 0; k < times; ++k) work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times);
  }
  return best;
}

// One memory: nothing is copied, and what is timed is the book alone.
struct at_home : app {
  using devices = keel::list<decltype([]<class T, class... Ts>(keel::list<T, Ts...>) { return T{}; }(model::devices{}))>;
};

void bookkeeping() {
  model::run here{keel::policy::names<at_home::devices>(), {}};
  kr::fields<at_home, a, b, c, d, r> f{here, kr::grid{{4, 4}}};
  f.run(begin{});
  double const tracked = seconds([&] { f.run(four_in_one_out{}); }, 1'000'000) / 5;
  double const planned = seconds([&] { f.step(ten{}); }, 100'000) / 50;
  // Its flags work only where it has two memories.
  Kokkos::DualView<double**, Kokkos::LayoutRight, keel::space::simulated> views[5];
  for (auto& v : views) v = {"v", 4, 4};
  for (auto& v : views) v.modify_host(), v.sync_device();
  double const dual = seconds(
                          [&] {
                            for (int k = 0; k < 4; ++k) views[k].sync_device();
                            asm volatile("" ::: "memory");
                            views[4].clear_sync_state();
                            views[4].modify_device();
                          },
                          1'000'000) / 5;
  std::printf("bookkeeping, 4 reads and 1 write, ns a variable: tracked %.2f, in a planned step %.2f, DualView %.2f\n", tracked * 1e9,
              planned * 1e9, dual * 1e9);
}

void bytes(std::string_view device) {
  constexpr int n = 256, steps = 100;
  model::run here{std::string(device), {}};
  kr::fields<app, eta, u, du> f{here, kr::grid{{n, n}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(initial{});
  for (int k = 0; k < steps; ++k) f.step(step{});

  using namespace oracle;
  program events({{3, f.bytes<eta>()}, {3, f.bytes<u>()}, {1, f.bytes<du>()}});
  // A variable synchronised before and marked after each kernel, whole, its levels apart.
  double dual = 0, dual_size = double(n + 2) * (n + 2) * 8;
  struct flags { bool host = false, device = false; };
  std::vector<flags> newer(7); // eta and u by slot, du
  int turn = 0;
  auto const slot = [&](int variable, int level) { return std::size_t(3 * variable + (level + turn) % 3); };
  auto const touch = [&](std::size_t s, bool on_device, bool writes) {
    if (on_device ? newer[s].host : newer[s].device) dual += dual_size, newer[s] = {};
    if (writes) (on_device ? newer[s].device : newer[s].host) = true;
  };
  events.run(0, {{0, 0, 0, everywhere}, {1, 0, 0, everywhere}});
  for (int v : {0, 1}) touch(slot(v, 0), false, true);
  for (int k = 1; k <= steps; ++k) {
    for (int v : {0, 1}) events.cycle(v);
    turn = (turn + 2) % 3;
    events.run(1, {{0, 1, everywhere, 0}, {1, 1, everywhere, 0}, {2, 0, 0, owned}});
    events.run(1, {{0, 1, everywhere, 0}, {1, 1, everywhere, 0}, {2, 0, owned, 0}, {0, 0, 0, owned}, {1, 0, 0, owned}});
    events.exchange({{0, 0}, {1, 0}});
    for (int v : {0, 1}) touch(slot(v, 1), true, false);
    touch(6, true, true);
    for (int v : {0, 1}) newer[slot(v, 0)] = {}, touch(slot(v, 0), true, true), touch(slot(v, 0), false, true);
    if (k % 10 == 0) events.run(0, {{0, 0, owned, 0}}), touch(slot(0, 0), false, false);
  }
  bill const necessary = events.make_bill();
  double const least = double(necessary.host_bytes() + necessary.device_bytes());
  double const moved = double(f.traffic().bytes(kr::way::to_host) + f.traffic().bytes(kr::way::to_device));
  std::printf("bytes moved / necessary, %d steps of %d x %d with ghosts: keel %.3f, DualView %.2f; planned %lld of %d steps\n", steps, n, n,
              moved / least, dual / least, static_cast<long long>(f.planned_steps()), steps);
}

template <class Tag>
void transfers(Tag, long mebibytes) {
  int const n = 1024;
  model::run here{std::string(Tag::name), {}};
  kr::fields<app, a> f{here, kr::grid{{mebibytes * 128, n}}};
  f.run(fill{});
  f.run(look{});
  double const size = double(f.bytes<a>()[0]);
  double const with_keel = seconds([&] { f.run(fill{}); f.run(look{}); }, 3);
  using memory = kr::detail::memory_space_of<Tag>;
  auto const queue = here.template execution_space<Tag>();
  Kokkos::View<char*, Kokkos::HostSpace> const from = Kokkos::View<char*, keel::space::pinned>("from", std::size_t(size));
  Kokkos::View<char*, memory> to(Kokkos::view_alloc("to", Kokkos::WithoutInitializing), std::size_t(size));
  double const raw = seconds([&] { Kokkos::deep_copy(queue, to, from); queue.fence(); }, 3);
  std::printf("%ld MiB to %s, GB/s: keel %.2f, a raw copy of pinned memory %.2f\n", mebibytes, std::string(Tag::name).c_str(),
              size / with_keel / 1e9, size / raw / 1e9);
}

} // namespace model

int main(int argc, char** argv) {
  keel::space::start<model::devices>();
  {
    std::string_view device = argc > 1 ? argv[1] : "simulated";
    std::printf("device %s\n", std::string(device).c_str());
    model::bookkeeping();
    keel::with_device<model::devices>(device, [&]<class Tag>(Tag tag) {
      if constexpr (!kr::detail::is_on_host<Tag>) {
        model::bytes(device);
        model::transfers(tag, argc > 2 ? std::atol(argv[2]) : 64);
      }
    });
  }
  keel::space::stop();
}
