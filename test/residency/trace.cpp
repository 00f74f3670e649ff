// SPDX-License-Identifier: MIT
/// @file
/// The trace of a rank, those of several, and what keel-info makes of all of them together.
#include <keel/validity/trace.hpp>

#include "cases.hpp"

#include <keel/layout/partition.hpp>
#include <keel/machine/host.hpp>
#include <keel/topology/affinity.hpp>

#include <validity/recording_provider.hpp>

#include <info/said.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include <unistd.h>

namespace trace_cases {

using namespace test;
using json = nlohmann::json;

using traced = application<keel::list<host, keel::simulated>, kr::traced, Kokkos::LayoutRight, km::mpi>;
using traced_alone = application<keel::list<host, keel::simulated>, kr::traced>;

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

struct count : kr::routine<"count", kr::on_host> {
  template <class V>
  static double run(V) {
    return 1;
  }
};
struct total : kr::reduce<"total", keel::machine::plain_sum, count> {};
struct which {
  static int holds(int number) { return number; }
};
struct solve : kr::schedule<init, kr::choose<which, rhs, total>> {};

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

std::vector<json> lines_of(std::filesystem::path const& file) {
  std::vector<json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

// What one rank counted, and what its lines add up to.
struct sums {
  std::uint64_t to_host = 0, to_device = 0, sent = 0, copies = 0, exchanges = 0;
  bool operator==(sums const&) const = default;
};

/// `kinds`: how many lines there are of each kind.
sums sums_of(std::filesystem::path const& file, int rank, int size, json& identity, std::map<std::string, int>& kinds) {
  sums all;
  auto lines = lines_of(file);
  REQUIRE(!lines.empty());
  json const header = lines.front();
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
  lines.erase(lines.begin());
  for (json const& one : lines) {
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

/// The graph of a step in the first file, and the page of all: keel copies nothing twice.
void check_page(std::filesystem::path const& page, std::string const& first, std::string const& files) {
  std::map<int, json> entries;
  std::set<std::string> flows;
  auto const name_of = [&](json const& number) { return entries[number.get<int>()]["name"].get<std::string>(); };
  for (json const& one : lines_of(first)) {
    std::string const what = one.value("what", "");
    if (what == "entry") entries[one["number"].get<int>()] = one;
    if (what == "flow")
      flows.insert(name_of(one["writer"]) + " to " + name_of(one["reader"]) + ": " + one["data"].get<std::string>() +
                   ' ' + one["copied"].get<std::string>() + (one["crosses"] == 1 ? " later" : ""));
  }
  CHECK(entries[2]["name"] == "rhs");
  CHECK(entries[2]["schedule"] == "trace_cases::step");
  CHECK(entries[4]["name"] == "exchange eta[0]");
  CHECK(entries[7]["depth"] == 1);
  CHECK(flows.contains("rhs to output: eta[0] core always"));
  CHECK(flows.contains("exchange eta[0] to rhs: eta[1] halo always later"));

  REQUIRE(test::info("report " + page.string() + files).code == 0);
  std::string const whole = keel::test::content(page);
  auto const tile = [&](std::string const& words) {
    std::size_t const end = whole.find("</b><span>" + words), begin = whole.rfind("<b>", end);
    REQUIRE(end != whole.npos);
    return whole.substr(begin, end - begin);
  };
  CHECK(tile("moved between memories") == tile("of that, needed"));
  CHECK(whole.find("<td>command line") != whole.npos);
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
  for (auto const& kind : device != "simulated" ? std::map<std::string, int>{} : lines_of_simulated) {
    CAPTURE(kind.first);
    CHECK(kinds[kind.first] == kind.second);
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
  auto const read = test::info("trace" + files);
  REQUIRE(read.code == 0);
  std::string const& summary = read.out;
  CHECK_MESSAGE(summary.find(std::to_string(size) + (size == 1 ? " rank" : " ranks")) == 0, summary);
  auto const down = row_of(summary, "simulated to host"), up = row_of(summary, "host to simulated"),
             sent = row_of(summary, "this rank to neighbours");
  CHECK(down.second == total.to_host);
  CHECK(up.second == total.to_device);
  CHECK(down.first + up.first == total.copies);
  CHECK(sent == std::pair{total.exchanges, total.sent});

  if (ending.empty()) check_page(folder / "whole.html", file_of(0), files);
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
  CHECK(row_of(test::info("trace" + files).out, "this rank to neighbours").second == total);
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
  for (int part = 1; part < 100; ++part) {
    auto const file = kr::trace::path_of(name, world.rank(), part);
    if (world.rank() == there) CHECK(keel::test::content(file) == "of an earlier run\n"); // what is there stays
    std::filesystem::remove(file);
  }
}

TEST_CASE("residency: a trace holds what a ledger's driver does, odd names and failed copies included") {
  keel::test::folder const here("keel-trace-test");
  test::recording_provider provider(3);
  {
    kr::ledger<test::recording_provider, kr::trace> book(provider, 3);
    provider.add(1, {3, 5, 7});
    int const v = book.add("a \"quoted\\\" name\n\xff", 1, {3, 5, 7});
    book.open(kr::host);
    book.notify_data_modified(v, 0, kr::region::owned, kr::host);
    book.require_valid_data(v, 0, kr::core, kr::memory{1}, "unseen"); // nothing is open yet
    book.observer().open(here.path / "ledger.jsonl", 7, {"here", "there", "beyond"});
    book.require_valid_data(v, 0, kr::region::rim, kr::memory{1}, "reader");
    book.require_valid_data(v, 0, kr::region::owned, kr::memory{1}, "second reader");
    book.require_valid_data(v, 0, kr::core, kr::memory{2}, "third reader");
    provider.fails_in = 0;
    book.notify_data_modified(v, 0, kr::region::owned, kr::memory{1});
    CHECK_THROWS_AS(book.require_valid_data(v, 0, kr::core, kr::host), keel::error);
    book.observer().close();
  }
  auto const lines = lines_of(here.path / "ledger.jsonl");
  REQUIRE(lines.size() == 6);
  CHECK(lines[5]["what"] == "end");
  CHECK(lines[4]["what"] == "write");
  CHECK(lines[4]["region"] == "owned");
  CHECK(lines[4]["memory"] == "there");
  CHECK(lines[3]["to"] == "beyond");
  CHECK(lines[2]["what"] == "create"); // before what is copied there
  CHECK(lines[2]["memory"] == "beyond");
  CHECK(lines[0]["rank"] == 7);
  CHECK(lines[0]["ranks"] == 0); // a driver that knows no others
  CHECK(lines[1]["variable"] == "a \"quoted\\\" name\n?");
  CHECK(lines[1]["rank"] == 7);
  CHECK(lines[1]["bytes"] == 5);
  CHECK(lines[1]["from"] == "here");
  CHECK(lines[1]["to"] == "there");
  CHECK(lines[1]["routine"] == "reader");
  CHECK(lines[1]["time"].get<double>() >= 0); // when it began
}

TEST_CASE("residency: the time of an exchange is shared by bytes, with both its halves and what was waiting") {
  using std::chrono::steady_clock, std::chrono::milliseconds, std::this_thread::sleep_for;
  auto const timed = [](auto body) {
    auto const begun = steady_clock::now();
    body();
    return std::chrono::duration<double, std::micro>(steady_clock::now() - begun).count();
  };
  keel::test::folder const here("keel-trace-test");
  auto const file = (here.path / "x.jsonl").string();
  double halves = 0, between = 0; // us
  {
    kr::trace t;
    t.add("a", 1, 0, {}), t.add("b", 1, 0, {});
    t.open(file, 0, {"host"});
    kr::sent const all[]{{0, 0, 0, 1000}, {1, 0, 0, 3000}}, none[]{{0, 0, 0, 0}, {1, 0, 0, 0}};
    halves = timed([&] { t.before_exchange(), sleep_for(milliseconds{20}), t.after_exchange(all, false); });
    between = timed([] { sleep_for(milliseconds{200}); }); // what overlaps with it does not count
    halves += timed([&] {
      t.before_exchange(), t.before_wait();
      sleep_for(milliseconds{20});
      t.after_wait(), t.after_exchange(all, true);
    });
    t.before_exchange();
    t.after_exchange(none, false);
    t.before_exchange();
    t.after_exchange(none, true); // no neighbours: evenly
  }
  auto const lines = lines_of(file);
  REQUIRE(lines.size() == 6);
  double const took = lines[2]["took"], waited = lines[2]["waited"];
  CHECK(took >= 0.75 * 40e3 - 1);
  CHECK(took <= 0.75 * halves + 1);
  CHECK(waited >= 0.75 * 20e3 - 1);
  CHECK(lines[1]["took"].get<double>() * 3 == doctest::Approx(took));
  CHECK(lines[1]["waited"].get<double>() * 3 == doctest::Approx(waited));
  CHECK(lines[1]["time"].get<double>() - lines[1]["began"].get<double>() >= between - 1);
  CHECK(lines[2]["time"].get<double>() == doctest::Approx(lines[1]["time"].get<double>() + took / 3));
  CHECK(lines[3]["took"] == lines[4]["took"]);
}

TEST_CASE("residency: a trace that cannot be written says so") {
  kr::trace t;
  CHECK(message_of([&] {
          t.open("/nowhere/at/all", 0, {"host"});
        }).find("keel::residency::traced: the trace /nowhere/at/all cannot be written (No such file or directory)") ==
        0);
}

TEST_CASE("residency: a trace counts the bytes of each component, those not told like the first") {
  keel::test::folder const here("keel-trace-test");
  auto const file = here.path / "sizes.jsonl";
  {
    kr::trace t;
    t.open(file.string(), 0, {"host", "simulated"});
    t.add("x", 1, 0, {8, 0, 0, 0});
    t.resize(0, 1, {3, 0, 0, 0});
    t.resize(0, 0, {5, 0, 0, 0});
    for (int c = 0; c < 3; ++c) {
      kr::transfer const one{0, 0, c, kr::core, kr::host, kr::memory(1)};
      t.before({&one, 1}, "rhs");
      t.after({&one, 1}, "rhs", true);
    }
    t.close();
  }
  std::vector<std::uint64_t> bytes;
  for (auto const& line : lines_of(file))
    if (line.contains("what") && line["what"] == "copy") bytes.push_back(line["bytes"]);
  CHECK(bytes == std::vector<std::uint64_t>{5, 3, 5});
}

TEST_CASE("residency: whatever of a trace is in its file ends with a whole line") {
  keel::test::folder const here("keel-trace-test");
  auto const file = here.path / "lines.jsonl";
  kr::trace t;
  t.open(file.string(), 0, {"host"});
  std::ifstream in(file);
  bool whole = true;
  std::uintmax_t size = 0;
  for (std::size_t n = 0; n < 20000; ++n) {
    t.flow("s", n, n, std::string(n % 37, 'x'), "", false);
    auto const now = std::filesystem::file_size(file);
    if (now == size) continue;
    size = now;
    in.seekg(std::streamoff(size) - 1);
    whole = whole && in.get() == '\n';
  }
  CHECK(size > 1'000'000);
  CHECK(whole);
  t.close();
}

TEST_CASE("residency: a trace has what ran of a choice, and how long ranks waited for a reduction") {
  keel::test::folder const here("keel-trace-test");
  {
    test::run<> run{"simulated", {.trace_file = here.path / "run"}};
    kr::fields<traced_alone, eta, flux> f{run, kr::grid{{8, 6}}};
    f.step(solve{}, 1);
  }
  std::set<std::string> seen;
  std::string const file = std::filesystem::directory_iterator(here.path)->path(); // the only one
  for (auto const& line : lines_of(file)) {
    if (!line.contains("what")) continue;
    if (line["what"] == "entry") seen.insert(line["kind"].get<std::string>() + ' ' + line["name"].get<std::string>());
    if (line["what"] == "routine") seen.insert(line["routine"].get<std::string>());
    if (line["what"] == "reduce" && line["took"].get<double>() >= 0)
      seen.insert("waits for " + line["reduction"].get<std::string>());
  }
  CHECK(seen == std::set<std::string>{"init", "total", "waits for total", "routine init", "choose choose",
                                      "routine 0: rhs",
                                      "reduce 1: total, reduced from count, waited for at the end of the step"});
  CHECK(test::info("trace " + file).code == 0);
}

TEST_CASE("residency: a graph that is traced has the lines of its entries, as without graphs") {
  using graph = kr::graph<kr::cycle<eta>, rhs, kr::exchange<eta>>;
  using app = application<keel::list<host, keel::simulated>, kr::traced, Kokkos::LayoutRight, km::alone, kr::on_device>;
  auto const traced_with = [](bool graphs) {
    keel::test::folder const here("keel-trace-test");
    {
      test::run<> run{"simulated", {.trace_file = here.path / "run", .graphs = graphs}};
      kr::fields<app, eta, flux> f{run, kr::grid{{8, 6}}};
      f.run(init{});
      for (int n = 0; n < 8; ++n) f.step(graph{});
    }
    std::map<std::string, int> lines;
    for (auto const& line : lines_of(std::filesystem::directory_iterator(here.path)->path()))
      ++lines[line.value("what", "") + ' ' + line.value("routine", "") + line.value("variable", "")];
    return lines;
  };
  auto const with = traced_with(true);
  CHECK(with.at("routine rhs") == 8);
  CHECK(with == traced_with(false));
}

} // namespace trace_cases
