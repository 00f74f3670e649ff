// SPDX-License-Identifier: MIT
/// @file
/// The traces of several ranks, and what keel-info makes of all of them together.
#include <keel/validity/trace.hpp>

#include "cases.hpp"

#include <keel/layout/partition.hpp>

#include <info/said.hpp>
#include <keel/machine/host.hpp>
#include <keel/topology/affinity.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include <unistd.h>

namespace trace_ranks_cases {

using namespace test;
using json = nlohmann::json;

using traced = application<keel::list<host, keel::simulated>, kr::traced, Kokkos::LayoutRight, km::mpi>;

struct eta : kr::variable<"eta", double**, kr::levels<2>> {};
struct flux : kr::variable<"flux", float**> {};
struct init : kr::routine<"init", kr::on_host, kr::writes<kr::everywhere<eta>, kr::everywhere<flux>>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v(eta{}), 1.0);
    Kokkos::deep_copy(v(flux{}), 2.0F);
  }
};
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<eta, kr::everywhere<flux>>> {
  template <class V>
  static void run(V v) {
    Kokkos::parallel_for("rhs", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1), [](int) {});
  }
};
struct correct : empty<"correct", kr::on_host, kr::updates<kr::part<flux, kr::core>>> {};
struct output : empty<"output", kr::on_host, kr::reads<kr::owned<eta>>> {};
struct step
    : kr::schedule<kr::cycle<eta>, rhs, kr::accumulate<flux>, kr::exchange<eta>, correct, kr::every<2, output>> {};

struct atoms : kr::mesh<"atoms"> {};
struct mass : kr::variable<"mass", double*, kr::on_mesh<atoms>> {};
struct weigh : empty<"weigh", kr::on_device, kr::writes<mass>> {};

struct read_mass : empty<"read_mass", kr::on_host, kr::reads<kr::owned<mass>>> {};

struct tracing_run : test::run<km::mpi> {
  tracing_run(std::string_view device, std::string name)
      : test::run<km::mpi>(device, kr::settings{.trace_file = std::move(name)}) {}
  // As a runtime has them.
  enum class source { command_line };
  friend std::string_view name(source) { return "command line"; }
  struct knob {
    std::string option, device, value;
    source from;
  };
  [[nodiscard]] std::vector<knob> knobs() const { return {{"--keel-device", "", "simulated", source::command_line}}; }
};

// What one rank counted, and what its lines add up to.
struct sums {
  std::uint64_t to_host = 0, to_device = 0, sent = 0, copies = 0, exchanges = 0;
  bool operator==(sums const&) const = default;
};

/// `kinds`: how many lines there are of each kind.
sums sums_of(std::filesystem::path const& file, int rank, int size, json& identity, std::map<std::string, int>& kinds) {
  sums all;
  std::ifstream in(file);
  std::string line;
  REQUIRE(std::getline(in, line));
  json const header = json::parse(line);
  CHECK(header["keel"] == "trace");
  CHECK(header["rank"] == rank);
  CHECK(header["ranks"] == size);
  CHECK(header["version"] == 4);
  CHECK(header["run"].get<std::string>().size() == 16);
  CHECK(header["begin"].get<std::uint64_t>() > 1'700'000'000'000'000U);
  CHECK(header["of_keel"] == KEEL_VERSION);
  CHECK(header["program"].get<std::string>().starts_with("test-"));
  CHECK(header["host"] == km::host_name());
  CHECK(header["threads"] == to_string(keel::topology::process_hardware_threads()));
  identity = {header["run"], header["part"]};
  std::map<std::tuple<std::string, int, std::string, std::string>, double>
      seen; // a copy of the same thing ends before the next
  double waited = 0;
  while (std::getline(in, line)) {
    json const one = json::parse(line);
    CHECK(one["rank"] == rank);
    std::uint64_t const bytes = one.value("bytes", std::uint64_t{0});
    auto const what = one["what"].get<std::string>();
    bool const has_routine = what == "routine" || what == "kernels" || what == "write";
    ++kinds[!has_routine ? what
                         : what + ' ' + one["routine"].get<std::string>() + " in " + one["memory"].get<std::string>()];
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

/// The page of the first trace: why, the knobs, the graph; keel copies nothing twice.
void check_page(std::filesystem::path const& page, std::string const& files) {
  REQUIRE(test::info("report " + page.string() + files).code == 0);
  std::string const whole = keel::test::content(page);
  auto const begin = whole.find("id=\"data\">") + 10;
  auto const report = json::parse(whole.substr(begin, whole.find('<', begin) - begin));
  CHECK(report["trace"]["moved"] == report["trace"]["least"]);
  CHECK(report["knobs"][0]["source"] == "command line");
  auto const& graph = report["trace"]["schedules"][0];
  CHECK(graph["name"] == "trace_ranks_cases::step");
  auto const name_of = [&](int number) { return graph["entries"][std::size_t(number - 1)]["name"].get<std::string>(); };
  CHECK(name_of(2) == "rhs");
  CHECK(name_of(4) == "exchange eta[0]");
  CHECK(graph["entries"][6]["depth"] == 1);
  std::set<std::string> flows;
  for (auto const& f : graph["flows"])
    flows.insert(name_of(f["writer"]) + " to " + name_of(f["reader"]) + ": " + f["data"].get<std::string>() + ' ' +
                 f["copied"].get<std::string>() + (f["crosses"] == true ? " later" : ""));
  CHECK(flows.contains("rhs to output: eta[0] core always"));
  CHECK(flows.contains("exchange eta[0] to rhs: eta[1] halo always later"));
}

std::map<std::string, int> const lines_of_simulated{{"routine init in host", 1},
                                                    {"routine rhs in simulated", 4},
                                                    {"kernels rhs in simulated", 4},
                                                    {"routine correct in host", 4},
                                                    {"routine output in host", 2},
                                                    {"write init in host", 2},
                                                    {"write rhs in simulated", 8},
                                                    {"write exchange in host", 4},
                                                    {"cycle", 4},
                                                    {"entry", 7},
                                                    {"end", 1}};

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
  std::map<std::string, int> kinds;
  CHECK(sums_of(file_of(rank), rank, size, identity, kinds) == counted);
  for (auto const& [kind, count] : device != "simulated" ? std::map<std::string, int>{} : lines_of_simulated) {
    CAPTURE(kind);
    CHECK(kinds[kind] == count);
  }
  CHECK(kinds["knob"] > 1); // and one for each partner
  CHECK((counted.copies > 0) == (device == "simulated"));

  km::basic_environment<km::mpi> world;
  auto const everyone = km::all_gather(world, counted); // all have written
  if (rank != 0) return;
  sums total;
  std::string files;
  for (int r = 0; r < size; ++r) {
    json other;
    CHECK(sums_of(file_of(r), r, size, other, kinds) == everyone[std::size_t(r)]);
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

  if (ending.empty()) check_page(folder / "whole.html", files);
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
  km::basic_environment<km::mpi> world;
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
  auto const everyone = km::all_gather(world, sent); // all have written
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
  km::basic_environment<km::mpi> world;
  int id = int(getpid());
  km::broadcast(world, id, 0);
  std::filesystem::path const folder =
      std::filesystem::temp_directory_path() / ("keel-trace-ranks-" + std::to_string(id));
  std::filesystem::create_directories(folder);
  trace_on("simulated", folder, "");
  trace_on(world.rank() % 2 == 0 ? "simulated" : host::name, folder, ".2"); // the second trace of each process
  trace_moves(folder);
  km::barrier(world);
  if (world.rank() == 0) std::filesystem::remove_all(folder);
}

TEST_CASE("residency: a trace that is there for one rank is an error of all ranks") {
  km::basic_environment<km::mpi> const world;
  auto name = (std::filesystem::temp_directory_path() / ("keel-there-" + std::to_string(getpid()))).string();
  name.resize(200);
  km::broadcast(world, std::span(name), 0);
  name.resize(name.find('\0'));
  int const there = world.size() - 1;
  tracing_run run{host::name, name};
  for (int part = 1; part < 100; ++part) // those of a process are counted
    if (world.rank() == there) std::ofstream(kr::trace::path_of(name, there, part)) << "of an earlier run\n";
  auto const message = message_of([&] {
    kr::fields<traced, eta, flux> const f{run, kr::grid{{16, 6}, kr::ghost_width{1}, kr::periodic{true, true}}};
  });
  CHECK(message.starts_with("keel::residency::traced: the trace " + name + '.' + std::to_string(there)));
  CHECK(message.find("is there already") != std::string::npos);
  CHECK(km::sum(world, message.empty() ? 0 : 1) == world.size());
  for (int part = 1; part < 100; ++part) std::filesystem::remove(kr::trace::path_of(name, world.rank(), part));
}

} // namespace trace_ranks_cases
