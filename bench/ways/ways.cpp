// SPDX-License-Identifier: MIT
/// @file
/// How long one exchange of ghosts takes by keel, by MPI by hand, and by libraries that are installed, all in turns in one run:
/// bench-ways [TURNS [CELLS]], and keel's options. CELLS is the edge of a rank's box, instead of two sizes.

#include "libraries.hpp"

#include <keel/keel.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
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

double longest(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return mine;
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

/// Microseconds of one exchange, `calls` of them together, on the slowest rank.
double measured(way const& w, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  auto const begun = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) w.exchange();
  Kokkos::fence();
  return longest(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count() / calls);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

class table {
public:
  table(keel::runtime<app>& run, int turns) : run_(run), turns_(turns) {}

  /// A row: keel, which is the first, beside the fastest of some peers, which follow; then what is no peer.
  void row(std::string const& what, std::vector<way> const& ways, std::size_t peers) {
    std::vector<std::vector<double>> times(ways.size());
    double once = 0;
    for (way const& w : ways) w.exchange(), once = std::max(once, measured(w, 3));
    int const calls = std::clamp(int(2000 / once), 1, 200);
    for (int turn = 0; turn < turns_; ++turn)
      for (std::size_t k = 0; k < ways.size(); ++k) { // who goes first takes turns, too
        std::size_t const n = (k + std::size_t(turn)) % ways.size();
        times[n].push_back(measured(ways[n], calls));
      }
    std::size_t best = 1;
    for (std::size_t n = 2; n <= peers; ++n)
      if (median(times[n]) < median(times[best])) best = n;
    std::vector<double> quotients(times[0]);
    for (std::size_t t = 0; t < quotients.size(); ++t) quotients[t] /= times[best][t];
    if (!run_.environment().is_master()) return;
    if (std::string head = head_of(ways); head != head_) std::printf("%s\n", (head_ = head).c_str());
    std::printf("%-34s %10.2f %10.2f %8.3f", what.c_str(), median(times[best]), median(times[0]), median(quotients));
    for (std::size_t n = 1; n < ways.size(); ++n) std::printf(" %10.2f", median(times[n]));
    std::printf("\n");
    std::fflush(stdout);
  }

  template <int N>
  void of_boxes(int cells, int doubles) {
    box const b(N, cells, 1, doubles, true);
    auto const initial = initial_of(b);
    std::vector<way> ways{by_keel<N>(run_, b, initial), to_all_neighbours(b, initial), in_rounds(b, initial),
                          packed(b, initial)};
#if BENCH_WITH_PETSC
    ways.push_back(dmda(b, initial)), ways.push_back(petsc_sf(b, initial));
#endif
#if BENCH_WITH_TPETRA
    ways.push_back(tpetra(b));
#endif
    std::size_t const peers = ways.size() - 1;
    add_transports<N>(ways, run_, b, initial);
    check(ways);
    ways.push_back(only_messages(b));
    std::string const edge = std::to_string(cells);
    row(edge + "x" + edge + (N == 3 ? "x" + edge : "") + ", " + std::to_string(doubles) + " a cell", ways, peers);
  }

  /// As many bytes to each partner, because the whole box is its rim.
  template <int N>
  void of_messages(std::string const& what, int cells, int doubles, bool wraps) {
    box const b(N, cells, cells, doubles, wraps);
    auto const initial = initial_of(b);
    std::vector<way> ways{by_keel<N>(run_, b, initial), only_messages(b)};
    add_transports<N>(ways, run_, b, initial);
    row(what, ways, 1);
  }

private:
  /// Another number in each owned double, 0 in the ghosts.
  std::vector<double> initial_of(box const& b) const {
    std::vector<double> all(b.elements());
    triple first{};
    for (std::size_t d = 0; int(d) < b.rank; ++d) first[d] = b.width;
    box::for_each_cell_of(first, b.cells, [&](triple const& i) {
      for (int n = 0; n < b.doubles; ++n) {
        std::size_t const at = b.place(i) + std::size_t(n);
        all[at] = double(at + 1) + double(b.elements() + 1) * run_.environment().rank();
      }
    });
    return all;
  }
  /// All ways bring the same numbers.
  static void check(std::vector<way> const& ways) {
    for (way const& w : ways) w.exchange();
    auto const wanted = ways[0].array();
    for (way const& w : ways)
      if (longest(w.array && w.array() != wanted ? 1 : 0) > 0)
        throw std::runtime_error("bench-ways: " + w.name + " and keel differ.");
  }
  [[nodiscard]] std::string head_of(std::vector<way> const& ways) const {
    char line[256];
    std::snprintf(line, sizeof line, "%-34s %10s %10s %8s",
                  (std::to_string(run_.environment().size()) + " ranks, microseconds").c_str(), "best", "keel",
                  "keel/best");
    std::string head = line;
    for (std::size_t n = 1; n < ways.size(); ++n)
      head += std::string(11 - std::min<std::size_t>(10, ways[n].name.size()), ' ') + ways[n].name;
    return head;
  }

  keel::runtime<app>& run_;
  int turns_;
  std::string head_ = {};
};

} // namespace

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  [[maybe_unused]] bench::petsc const started;
  int const turns = argc > 1 ? std::atoi(argv[1]) : 31, cells = argc > 2 ? std::atoi(argv[2]) : 0;
  table t(run, turns);
  for (int doubles : {1, 10, 60}) {
    for (int n : cells > 0 ? std::vector{cells} : std::vector{64, 256}) t.of_boxes<2>(n, doubles);
    for (int n : cells > 0 ? std::vector{cells} : std::vector{16, 40}) t.of_boxes<3>(n, doubles);
  }
  int const ranks = run.environment().size();
  if (ranks == 9) t.of_messages<2>("8 KiB each way, 8 partners", 32, 1, true);
  else t.of_messages<1>("8 KiB each way along a line", 1, 1 << 10, false);
  if (cells == 0) t.of_messages<1>("64 MiB each way along a line", 1, 1 << 23, false);
} catch (std::exception const& e) {
  return keel::report(e);
}
