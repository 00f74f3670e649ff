// SPDX-License-Identifier: MIT
/// @file
/// The traces of several ranks, and what keel-info makes of all of them together.
#include <keel/validity/trace.hpp>

#include "routines.hpp"
#include "run.hpp"

#include <keel/layout/partition.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/residency/fields.hpp>

#include <doctest/doctest.h>
#include <info/said.hpp>
#include <support/message_of.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include <unistd.h>

namespace trace_ranks_cases {

namespace kr = keel::residency;
using json = nlohmann::json;

using traced =
    test::application<keel::list<test::host, keel::simulated>, kr::traced, Kokkos::LayoutRight, keel::machine::mpi>;

struct eta : kr::variable<"eta", double**, kr::levels<2>> {};
struct flux : kr::variable<"flux", float**> {};
struct init : kr::routine<"init", kr::on_host, kr::writes<kr::everywhere<eta>, kr::everywhere<flux>>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v(eta{}), 1.0);
    Kokkos::deep_copy(v(flux{}), 2.0F);
  }
};
struct rhs : test::empty<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<eta, kr::everywhere<flux>>> {};
struct correct : test::empty<"correct", kr::on_host, kr::updates<kr::part<flux, kr::core>>> {};
struct output : test::empty<"output", kr::on_host, kr::reads<kr::owned<eta>>> {};
struct step
    : kr::schedule<kr::cycle<eta>, rhs, kr::accumulate<flux>, kr::exchange<eta>, correct, kr::every<2, output>> {};

struct atoms : kr::mesh<"atoms"> {};
struct mass : kr::variable<"mass", double*, kr::on_mesh<atoms>> {};
struct weigh : test::empty<"weigh", kr::on_device, kr::writes<mass>> {};

struct read_mass : test::empty<"read_mass", kr::on_host, kr::reads<kr::owned<mass>>> {};

struct tracing_run : test::run<keel::machine::mpi> {
  kr::settings how;
  tracing_run(std::string_view device, std::string name) : test::run<keel::machine::mpi>(device) {
    how.trace_file = std::move(name);
  }
  [[nodiscard]] kr::settings const& residency_settings() const { return how; }
};

// What one rank counted, and what its lines add up to.
struct sums {
  std::uint64_t to_host = 0, to_device = 0, sent = 0, copies = 0, exchanges = 0;
  bool operator==(sums const&) const = default;
};

sums sums_of(std::filesystem::path const& file, int rank, int size, json& identity) {
  sums all;
  std::ifstream in(file);
  std::string line;
  REQUIRE(std::getline(in, line));
  json const header = json::parse(line);
  CHECK(header["keel"] == "trace");
  CHECK(header["rank"] == rank);
  CHECK(header["ranks"] == size);
  identity = {header["run"], header["part"]};
  std::map<std::tuple<std::string, int, std::string, std::string>, double>
      seen; // a copy of the same thing ends before the next
  double waited = 0;
  while (std::getline(in, line)) {
    json const one = json::parse(line);
    CHECK(one["rank"] == rank);
    std::uint64_t const bytes = one.value("bytes", std::uint64_t{0});
    if (one["what"] == "exchange" || one["what"] == "accumulate")
      all.sent += bytes, ++all.exchanges, waited += one["waited"].get<double>();
    if (one["what"] != "copy") continue;
    ++all.copies;
    (one["to"] == "host" ? all.to_host : all.to_device) += bytes;
    double& last = seen[{one["variable"], one["level"], one["region"], one["to"]}];
    CHECK(one["time"].get<double>() > last);
    last = one["time"].get<double>();
  }
  if (rank == 1) CHECK(waited > 20e3); // rank 0 is late
  return all;
}

// A row of keel-info's summary, `all  way  all  times  bytes  ms`: times and bytes.
std::pair<std::uint64_t, std::uint64_t> row_of(std::string const& summary, std::string const& way) {
  std::istringstream lines(summary);
  for (std::string line; std::getline(lines, line);) {
    std::size_t const at = line.find(way);
    if (line.find("  all ") != 0 || at == line.npos) continue;
    std::istringstream rest(line.substr(at + way.size()));
    std::string routine;
    std::pair<std::uint64_t, std::uint64_t> found;
    rest >> routine >> found.first >> found.second;
    return found;
  }
  return {};
}

void trace_on(std::string_view device, std::filesystem::path const& folder, std::string const& ending) {
  std::string const name = folder / "run";
  sums counted;
  int rank = 0, size = 0;
  {
    tracing_run run{device, name};
    auto const& env = run.environment();
    rank = env.rank(), size = env.size();
    kr::fields<traced, eta, flux> f{run, kr::grid{{16, 6}, kr::ghost_width{1}, kr::periodic{true, true}}};
    f.run(init{});
    for (int n = 0; n < 4; ++n) {
      if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds{20});
      f.step(step{});
    }
    kr::traffic const& t = f.traffic();
    counted = {t.bytes(kr::way::to_host), t.bytes(kr::way::to_device), t.bytes(kr::way::to_neighbours), t.copies(), 8};
  }
  auto const file_of = [&](int r) { return name + '.' + std::to_string(r) + ending + ".jsonl"; };
  json identity;
  CHECK(sums_of(file_of(rank), rank, size, identity) == counted);
  CHECK((counted.copies > 0) == (device == "simulated"));

  keel::machine::basic_environment<keel::machine::mpi> world;
  auto const everyone = keel::machine::all_gather(world, counted); // all have written
  if (rank != 0) return;
  sums total;
  std::string files;
  for (int r = 0; r < size; ++r) {
    json other;
    CHECK(sums_of(file_of(r), r, size, other) == everyone[std::size_t(r)]);
    CHECK(other == identity); // all ranks agree
    sums const& s = everyone[std::size_t(r)];
    total.to_host += s.to_host, total.to_device += s.to_device, total.sent += s.sent;
    total.copies += s.copies, total.exchanges += s.exchanges;
    files += ' ' + file_of(r);
  }
  std::string const drawn = folder / "drawn.json";
  auto const read = test::info("trace" + files + " --summary --chrome " + drawn);
  REQUIRE(read.code == 0);
  std::string const& summary = read.out;
  CHECK_MESSAGE(summary.find(std::to_string(size) + (size == 1 ? " rank" : " ranks")) == 0, summary);
  auto const down = row_of(summary, "simulated to host"), up = row_of(summary, "host to simulated"),
             sent = row_of(summary, "this rank to neighbours");
  CHECK(down.second == total.to_host);
  CHECK(up.second == total.to_device);
  CHECK(down.first + up.first == total.copies);
  CHECK(sent == std::pair{total.exchanges, total.sent});

  auto const document = json::parse(std::ifstream(drawn));
  std::vector<sums> by_rank{std::size_t(size)};
  double earliest = 1e300;
  for (auto const& event : document["traceEvents"]) {
    if (event["ph"] != "X") continue;
    earliest = std::min(earliest, event["ts"].get<double>());
    sums& s = by_rank.at(event["pid"].get<std::size_t>());
    std::uint64_t const bytes = event["args"]["bytes"];
    s.sent += bytes, ++s.copies; // of all kinds
  }
  CHECK(earliest >= 0);
  for (int r = 0; r < size; ++r) {
    sums const &s = everyone[std::size_t(r)], &d = by_rank[std::size_t(r)];
    CHECK(d.sent == s.to_host + s.to_device + s.sent);
    CHECK(d.copies == s.copies + s.exchanges);
  }
}

void trace_moves(std::filesystem::path const& folder) {
  std::string const name = folder / "moves";
  std::uint64_t sent = 0;
  keel::machine::basic_environment<keel::machine::mpi> world;
  {
    tracing_run run{"simulated", name};
    std::vector<std::int64_t> const mine{2 * world.rank(), 2 * world.rank() + 1};
    kr::grid const whole{{8}};
    kr::fields<traced, mass> f{run, whole, kr::partition<atoms>{run.environment(), mine}};
    f.run(weigh{});
    f.migrate(atoms{}, std::vector<int>(2, 0));
    f.repartition(kr::partition<atoms>{run.environment(), mine});
    sent = f.traffic().bytes(kr::way::to_neighbours);
    CHECK(sent == (world.rank() == 0 ? 16 * std::uint64_t(world.size() - 1) : 16));
    f.run(weigh{});
    f.regrid({{whole}, {whole, 0}}); // what was component 0 is component 1
    f.run(read_mass{}, kr::component{1});
  }
  auto const everyone = keel::machine::all_gather(world, sent); // all have written
  if (world.rank() != 0) return;
  std::string files;
  std::uint64_t total = 0;
  for (int r = 0; r < world.size(); ++r)
    files += ' ' + name + '.' + std::to_string(r) + ".3.jsonl", total += everyone[std::size_t(r)];
  CHECK(row_of(test::info("trace" + files + " --summary").out, "this rank to neighbours").second == total);
  std::string const page = folder / "page.html";
  REQUIRE(test::info("report " + page + files).code == 0);
  CHECK(keel::test::content(page).find("weigh wrote it in simulated") != std::string::npos);
}

TEST_CASE("residency: each rank writes a trace of its own, with each copy once, and keel-info adds them up") {
  keel::machine::basic_environment<keel::machine::mpi> world;
  int id = int(getpid());
  keel::machine::broadcast(world, id, 0);
  std::filesystem::path const folder =
      std::filesystem::temp_directory_path() / ("keel-trace-ranks-" + std::to_string(id));
  std::filesystem::create_directories(folder);
  trace_on("simulated", folder, "");
  trace_on(world.rank() % 2 == 0 ? "simulated" : test::host::name, folder, ".2"); // the second trace of each process
  trace_moves(folder);
  keel::machine::barrier(world);
  if (world.rank() == 0) std::filesystem::remove_all(folder);
}

TEST_CASE("residency: a trace that is there for one rank is an error of all ranks") {
  keel::machine::basic_environment<keel::machine::mpi> const world;
  auto name = (std::filesystem::temp_directory_path() / ("keel-there-" + std::to_string(getpid()))).string();
  name.resize(200);
  keel::machine::broadcast(world, std::span(name), 0);
  name.resize(name.find('\0'));
  int const there = world.size() - 1;
  tracing_run run{test::host::name, name};
  for (int part = 1; part < 100; ++part) // those of a process are counted
    if (world.rank() == there) std::ofstream(kr::trace::path_of(name, there, part)) << "of an earlier run\n";
  auto const message = keel::test::message_of([&] {
    kr::fields<traced, eta, flux> const f{run, kr::grid{{16, 6}, kr::ghost_width{1}, kr::periodic{true, true}}};
  });
  CHECK(message.starts_with("keel::residency::traced: the trace " + name + '.' + std::to_string(there)));
  CHECK(message.find("is there already") != std::string::npos);
  CHECK(keel::machine::sum(world, message.empty() ? 0 : 1) == world.size());
  for (int part = 1; part < 100; ++part) std::filesystem::remove(kr::trace::path_of(name, world.rank(), part));
}

} // namespace trace_ranks_cases
