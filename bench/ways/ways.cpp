// SPDX-License-Identifier: MIT
/// @file
/// What an exchange of ghosts takes by each transport beside messages by hand, and what a routine takes beside its kernel,
/// in turns in one run: `bench-ways [TURNS [exchanges|routines]]`, and keel's options. `bench-ways run N` and
/// `bench-ways step N` run N routines without a kernel, for `valgrind`: two N apart give the instructions of one.

#include "../by_hand.hpp"
#include "../medians.hpp"
#include "../mesh/cut.hpp"
#include "../mesh/makers.hpp"

#include <keel/keel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace kr = keel::residency;
namespace km = keel::machine;

struct app : keel::defaults {
  using exchange = kr::on_device;
};
using runtime = keel::runtime<app>;
using space = Kokkos::DefaultExecutionSpace;

/// One way to do the same, by its name.
struct way {
  std::string name;
  std::function<void()> once;
};

/// Rows of microseconds on the slowest rank, medians of turns.
class table {
public:
  table(runtime const& run, int turns) : env_(run.environment()), turns_(turns) {}

  /// Each way, and how long the first takes beside it.
  void row(std::string const& what, std::vector<way> const& ways) {
    double once = 0;
    for (way const& w : ways) {
      w.once();
      once = std::max(once, measured(w, 3));
    }
    int const calls = std::clamp(int(5000 / once), 1, 500);
    std::vector<std::vector<double>> times(ways.size());
    for (int turn = 0; turn < turns_; ++turn)
      for (std::size_t k = 0; k < ways.size(); ++k) { // who goes first takes turns, too
        std::size_t const n = (k + std::size_t(turn)) % ways.size();
        times[n].push_back(measured(ways[n], calls));
      }
    if (!env_.is_master()) return;
    std::printf("%-40s", what.c_str());
    for (std::size_t n = 0; n < ways.size(); ++n) {
      std::vector<double> quotients;
      for (std::size_t t = 0; t < times[n].size(); ++t) quotients.push_back(times[0][t] / times[n][t]);
      std::printf("  %s %.2f", ways[n].name.c_str(), bench::median(times[n]));
      if (n > 0) std::printf(" (%.3f)", bench::median(quotients));
    }
    std::printf("\n");
    std::fflush(stdout);
  }

private:
  [[nodiscard]] double measured(way const& w, int calls) const {
    km::barrier(env_);
    return km::max(env_, bench::microseconds(1,
                                             [&] {
                                               for (int i = 0; i < calls; ++i) w.once();
                                               Kokkos::fence();
                                             })) /
           calls;
  }

  km::environment const& env_;
  int turns_;
};

/// The program's runtime, but for the transport of exchanges.
struct runtime_through {
  runtime& run;
  std::string_view transport;

  [[nodiscard]] auto& environment() const { return run.environment(); }
  [[nodiscard]] std::string_view device_name() const { return run.device_name(); }
  template <class Tag>
  [[nodiscard]] auto execution_space() const {
    return run.execution_space<Tag>();
  }
  [[nodiscard]] kr::settings residency_settings() const {
    auto all = run.residency_settings();
    all.exchange_through = transport;
    return all;
  }
};

/// Adds what `make(runtime)` does by each transport that reaches the other ranks: else another one is taken, and a
/// warning says so.
template <class Make>
void add_transports(std::vector<way>& ways, runtime& run, Make const& make) {
  if (run.environment().size() == 1) return;
  for (std::string_view const name : {"staged", "direct", "peer", "nccl"}) {
    static bool is_another;
    is_another = false;
    keel::policy::set_log_sink([](auto, std::string_view) { is_another = true; });
    runtime_through by{run, name};
    way made{std::string(name), make(by)};
    keel::policy::set_log_sink(nullptr);
    if (!km::any_of(run.environment(), is_another)) ways.push_back(std::move(made));
  }
}

/// Variables that are written everywhere, with whatever is there.
template <class... Xs>
struct write_all : kr::routine<"write_all", kr::on_host, kr::writes<kr::everywhere<Xs>...>> {
  template <class V>
  static void run(V) {}
};
/// The exchange of the variables of new fields.
template <class... Xs>
std::function<void()> exchange_of(auto& run, auto const& lies, int doubles) {
  auto const f = std::make_shared<kr::fields<app, Xs...>>(run, lies, kr::extra<Xs>{doubles}...);
  f->run(write_all<Xs...>{});
  return [f] { f->run(kr::exchange<Xs...>{}); };
}

struct on_line : kr::variable<"on_line", double**> {};
struct in_box : kr::variable<"in_box", double****> {};

/// A cell a rank along a line, so many doubles each, which go to both neighbours whole.
void along_a_line(table& t, runtime& run, std::string const& what, int doubles) {
  auto const& env = run.environment();
  kr::grid const line{{env.size()}, kr::ghost_width{1}};
  std::vector<way> ways{{"keel", exchange_of<on_line>(run, line, doubles)}};
  bench::messages both;
  for (int const other : {env.rank() - 1, env.rank() + 1})
    if (other >= 0 && other < env.size())
      for (auto* const messages : {&both.out, &both.in})
        messages->push_back({other, messages->size() * std::size_t(doubles), std::size_t(doubles)});
  ways.push_back(
      {"raw messages of hosts", [&env, both, buffers = std::vector<double>(4 * std::size_t(doubles))]() mutable {
         both.exchange(env, buffers.data(), buffers.data() + buffers.size() / 2);
       }});
  add_transports(ways, run, [&](auto& by) { return exchange_of<on_line>(by, line, doubles); });
  t.row(what, ways);
}

void in_boxes(table& t, runtime& run, int doubles) {
  constexpr int edge = 40;
  int const ranks = run.environment().size();
  kr::grid const box{
      {kr::extent(edge * ranks), edge, edge}, kr::ghost_width{1}, kr::periodic{true}, kr::ranks_in{ranks, 1, 1}};
  std::vector<way> ways{{"keel", exchange_of<in_box>(run, box, doubles)}};
  add_transports(ways, run, [&](auto& by) { return exchange_of<in_box>(by, box, doubles); });
  t.row("40 x 40 x 40 cells, " + std::to_string(doubles) + " doubles each", ways);
}

/// "field 7".
template <int N>
inline constexpr char name_of[] = {'f', 'i', 'e', 'l', 'd', ' ', '0' + N, 0};
template <int N>
struct field : kr::variable<name_of<N>, double**, kr::on_mesh<trisk::cells>> {};

/// Hexagons of a plane, two layers of ghosts: fields, an exchanger of arrays that keel does not own, and by hand, an array
/// after the other.
template <int... N>
void on_a_mesh(table& t, runtime& run, int edge, int doubles, std::integer_sequence<int, N...>) {
  auto const& env = run.environment();
  int const across = edge * int(std::lround(std::sqrt(env.size()))); // and the number of cells to fit
  auto const m = trisk::hexagons(across, edge * env.size() * edge / across / 2 * 2, 1);
  kr::partition<trisk::cells> const c{env,
                                      trisk::cells_of(env, m, trisk::owners_along_curve(m.cells.size(), env.size()))};
  std::vector<way> ways{{"keel", exchange_of<field<N>...>(run, c, doubles)}};

  using array = Kokkos::View<double**, Kokkos::LayoutRight, space::memory_space>;
  array const arrays[] = {array(name_of<N>, std::size_t(c.size()), std::size_t(doubles))...};
  kr::exchanger const x{run, c};
  ways.push_back({"exchanger",
                  [arrays, plan = x.plan(kr::array_on<trisk::cells>(arrays[N])...)] { plan.exchange(arrays[N]...); }});
  std::vector<bench::ghost> ghosts;
  for (std::size_t i = 0; i < c.owners().size(); ++i)
    ghosts.push_back({int(c.owned().end) + int(i), c.owners()[i], c.index_at_owner()[i]});
  ways.push_back({"by hand", [&env, arrays, by_hand = bench::ghosts_by_hand<space>(space(), env, ghosts, doubles)] {
                    (by_hand.fill(env, {arrays[N].data()}), ...);
                  }});
  add_transports(ways, run, [&](auto& by) { return exchange_of<field<N>...>(by, c, doubles); });
  t.row(std::to_string(edge) + " x " + std::to_string(edge) + " hexagons, " + std::to_string(sizeof...(N)) + " of " +
            std::to_string(doubles) + " levels",
        ways);
}

struct a : kr::variable<"a", double**> {};
struct b : kr::variable<"b", double**> {};
struct c : kr::variable<"c", double**> {};
struct d : kr::variable<"d", double**> {};
struct r : kr::variable<"r", double**> {};

/// Four reads and a write; what the state is stays unknown to the compiler.
struct opaque : kr::routine<"opaque", kr::on_device, kr::reads<a, b, c, d>, kr::writes<r>> {
  template <class V>
  static void run(V) {
    asm volatile("" ::: "memory");
  }
};
/// One small kernel.
struct small : kr::routine<"small", kr::on_device, kr::updates<r>> {
  template <class V>
  static void run(V v) {
    auto const x = v(r{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { x(i, j) = 0.5 * x(i, j) + 1; });
  }
};
template <class... Entries>
struct eight
    : kr::schedule<Entries..., Entries..., Entries..., Entries..., Entries..., Entries..., Entries..., Entries...> {};
struct forty : kr::schedule<eight<opaque>, eight<opaque>, eight<opaque>, eight<opaque>, eight<opaque>> {};

struct small_fields : kr::fields<app, a, b, c, d, r> {
  explicit small_fields(runtime& run)
      : kr::fields<app, a, b, c, d, r>(run, kr::grid{{64, 64}, kr::ghost_width{1}, kr::periodic{true}}) {
    this->run(write_all<a, b, c, d, r>{});
  }
};

/// `n` routines without a kernel.
void count(runtime& run, std::string_view how, long n) {
  small_fields f(run);
  if (how == "run")
    for (long k = 0; k < n; ++k) f.run(opaque{});
  else
    for (long k = 0; k < n / 40; ++k) f.step(forty{});
}

/// The same kernel by Kokkos alone, eight times.
template <class Tag>
std::function<void()> by_kokkos(runtime& run) {
  using on = typename keel::device_traits<Tag>::execution_space;
  Kokkos::View<double**, app::layout, typename on::memory_space> const x("x", 64, 64);
  Kokkos::MDRangePolicy<on, Kokkos::Rank<2>> const all(run.execution_space<Tag>(), {0, 0}, {64, 64});
  auto const kernel = KOKKOS_LAMBDA(int i, int j) { x(i, j) = 0.5 * x(i, j) + 1; };
  return [kernel, all = bench::light(all)] {
    for (int n = 0; n < 8; ++n) Kokkos::parallel_for("small", all, kernel);
  };
}

void of_routines(table& t, runtime& run) {
  small_fields f(run);
  t.row("a routine of four reads and a write, no kernel", {{"run", [&] { f.run(opaque{}); }}});
  t.row("40 of them", {{"step", [&] { f.step(forty{}); }}});
  std::vector<way> ways{{"step", [&] { f.step(eight<small>{}); }}};
  keel::with_device<app::devices>(run.device_name(),
                                  [&]<class Tag>(Tag) { ways.push_back({"Kokkos", by_kokkos<Tag>(run)}); });
  t.row("8 kernels of 64 x 64", ways);
  t.row("8 kernels, each with an exchange", {{"step", [&] { f.step(eight<small, kr::exchange<r>>{}); }}});
}

} // namespace

int main(int argc, char** argv) try {
  runtime run{argc, argv};
  if (run.help_requested()) return 0;
  run.start_devices();
  std::string_view const first = argc > 1 ? argv[1] : "21", only = argc > 2 ? argv[2] : "";
  if (first == "run" || first == "step") {
    count(run, first, std::atol(argc > 2 ? argv[2] : "100000"));
    return 0;
  }
  table t(run, std::atoi(first.data()));
  if (run.environment().is_master())
    std::printf("%s, device %s: microseconds, and those of the first way by those of this one\n",
                keel::policy::counted(run.environment().size(), "rank").c_str(),
                std::string(run.device_name()).c_str());
  if (only != "exchanges") of_routines(t, run);
  if (only == "routines") return 0;
  if (run.environment().size() > 1) {
    along_a_line(t, run, "8 KiB each way along a line", 1 << 10);
    along_a_line(t, run, "64 MiB each way along a line", 1 << 23);
  }
  for (int const doubles : {1, 60}) in_boxes(t, run, doubles);
  for (int const edge : {32, 128}) {
    on_a_mesh(t, run, edge, 1, std::make_integer_sequence<int, 1>{});
    on_a_mesh(t, run, edge, 60, std::make_integer_sequence<int, 10>{});
  }
} catch (std::exception const& e) {
  return keel::report(e);
}
