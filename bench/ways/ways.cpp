// SPDX-License-Identifier: MIT
/// @file
/// How long one exchange of ghosts takes by keel, by MPI by hand, and by libraries that are installed, all in turns in one run:
/// bench-ways [TURNS [CELLS]], and keel's options. CELLS is the edge of a rank's box, instead of two sizes.

#include "libraries.hpp"
#include "table.hpp"

#include <keel/keel.hpp>

#include <cstdlib>
#include <type_traits>

namespace kr = keel::residency;

namespace {

using namespace bench;

struct app : keel::defaults {
  using exchange = kr::on_device;
};
/// A variable on a grid of N dimensions with some doubles a cell.
template <int N>
struct u;
template <>
struct u<1> : kr::variable<"u", double**> {};
template <>
struct u<2> : kr::variable<"u", double***> {};
template <>
struct u<3> : kr::variable<"u", double****> {};

template <int N>
struct fill : kr::routine<"fill", kr::on_host, kr::writes<kr::everywhere<u<N>>>> {
  template <class V>
  static void run(V v, std::vector<double> const* from) {
    std::copy(from->begin(), from->end(), v(u<N>{}).data());
  }
};
template <int N>
struct collect : kr::routine<"collect", kr::on_host, kr::reads<u<N>>> {
  template <class V>
  static void run(V v, std::vector<double>* to) {
    std::copy_n(v(u<N>{}).data(), to->size(), to->begin());
  }
};

kr::grid grid_of(box const& b) {
  auto const e = [&](std::size_t d) { return kr::extent(long(b.cells[d]) * b.ranks[d]); };
  kr::ghost_width const width{b.width};
  kr::periodic const wraps{b.wraps};
  if (b.rank == 1) return {{e(0)}, width, wraps};
  if (b.rank == 2) return {{e(0), e(1)}, width, wraps, kr::ranks_in{b.ranks[0], b.ranks[1]}};
  return {{e(0), e(1), e(2)}, width, wraps, kr::ranks_in{b.ranks[0], b.ranks[1], b.ranks[2]}};
}

/// The program's runtime, but for the transport of exchanges.
struct runtime_through {
  keel::runtime<app>& run;
  std::string_view transport;

  [[nodiscard]] auto& environment() const { return run.environment(); }
  [[nodiscard]] std::string_view device_name() const { return run.device_name(); }
  template <class Tag>
  [[nodiscard]] auto execution_space() const {
    return run.execution_space<Tag>();
  }
  [[nodiscard]] kr::settings residency_settings() const {
    auto all = run.residency_settings();
    set_transport(all);
    return all;
  }
  void set_transport(auto& all) const {
    if constexpr (has_transports) all.exchange_through = transport;
  }
  template <class Settings>
  static constexpr bool has = requires(Settings s) { s.exchange_through; };
  static constexpr bool has_transports = has<kr::settings>;
};

template <int N>
way by_keel(auto& run, box const& b, std::vector<double> const& initial, std::string name = "keel") {
  auto const f = std::make_shared<kr::fields<app, u<N>>>(run, grid_of(b), kr::extra<u<N>>{b.doubles});
  f->run(fill<N>{}, &initial);
  return {std::move(name), [f] { f->run(kr::exchange<u<N>>{}); },
          [f, n = initial.size()] {
            std::vector<double> all(n);
            f->run(collect<N>{}, &all);
            return all;
          }};
}

/// By each transport that reaches the other ranks; else another one is taken, and a warning says so.
template <int N>
void add_transports(std::vector<way>& ways, keel::runtime<app>& run, box const& b, std::vector<double> const& initial) {
  if constexpr (runtime_through::has_transports)
    for (std::string_view const name : {"staged", "direct", "peer", "nccl"}) {
      static bool is_another;
      is_another = false;
      keel::policy::set_log_sink([](auto, std::string_view) { is_another = true; });
      runtime_through by{run, name};
      way made = by_keel<N>(by, b, initial, std::string(name));
      keel::policy::set_log_sink(nullptr);
      if (longest(is_another ? 1 : 0) == 0) ways.push_back(std::move(made));
    }
}

template <int N>
void of_boxes(table& t, keel::runtime<app>& run, int cells, int doubles) {
  box const b(N, cells, 1, doubles, true);
  cut const c = b.lists();
  auto const initial = initial_of(c);
  std::vector<way> ways{by_keel<N>(run, b, initial), to_all_neighbours(b, initial), in_rounds(b, initial),
                        packed(c, initial)};
#if BENCH_WITH_PETSC
  ways.push_back(dmda(b, initial)), ways.push_back(petsc_sf(c, initial));
#endif
#if BENCH_WITH_TPETRA
  ways.push_back(tpetra(c));
#endif
  std::size_t const peers = ways.size() - 1;
  add_transports<N>(ways, run, b, initial);
  t.check(ways);
  ways.push_back(only_messages(b.lists()));
  std::string const edge = std::to_string(cells);
  t.row(edge + "x" + edge + (N == 3 ? "x" + edge : "") + ", " + std::to_string(doubles) + " a cell", ways, peers);
}

/// As many bytes to each partner, because the whole box is its rim.
template <int N>
void of_messages(table& t, keel::runtime<app>& run, std::string const& what, int cells, int doubles, bool wraps) {
  box const b(N, cells, cells, doubles, wraps);
  auto const initial = initial_of(b.lists());
  std::vector<way> ways{by_keel<N>(run, b, initial), only_messages(b.lists())};
  add_transports<N>(ways, run, b, initial);
  t.row(what, ways, 1);
}

} // namespace

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  [[maybe_unused]] bench::petsc const started;
  int const turns = argc > 1 ? std::atoi(argv[1]) : 31, cells = argc > 2 ? std::atoi(argv[2]) : 0;
  table t(turns);
  for (int doubles : {1, 10, 60}) {
    for (int n : cells > 0 ? std::vector{cells} : std::vector{64, 256}) of_boxes<2>(t, run, n, doubles);
    for (int n : cells > 0 ? std::vector{cells} : std::vector{16, 40}) of_boxes<3>(t, run, n, doubles);
  }
  int const ranks = run.environment().size();
  if (ranks == 9) of_messages<2>(t, run, "8 KiB each way, 8 partners", 32, 1, true);
  else of_messages<1>(t, run, "8 KiB each way along a line", 1, 1 << 10, false);
  if (cells == 0) of_messages<1>(t, run, "64 MiB each way along a line", 1, 1 << 23, false);
} catch (std::exception const& e) {
  return keel::report(e);
}
