// SPDX-License-Identifier: MIT
#include <keel/validity/trace.hpp>

#include <validity/recording_provider.hpp>
#include "routines.hpp"
#include "run.hpp"

#include <keel/machine/alone.hpp>
#include <keel/machine/host.hpp>
#include <keel/policy/error.hpp>
#include <keel/validity/ledger.hpp>
#include <keel/residency/fields.hpp>
#include <keel/topology/affinity.hpp>

#include <doctest/doctest.h>
#include <info/said.hpp>
#include <support/message_of.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

namespace trace_cases {

namespace kr = keel::residency;
using json = nlohmann::json;

using traced = test::application<keel::list<test::host, keel::simulated>, kr::traced>;

struct eta : kr::variable<"eta", double**, kr::levels<2>> {};
struct init : kr::routine<"init", kr::on_host, kr::writes<kr::everywhere<eta>>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v(eta{}), 1.0);
  }
};
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<eta>> {
  template <class V>
  static void run(V v) {
    Kokkos::parallel_for(Kokkos::RangePolicy(v.execution_space(), 0, 1),
                         [](int) { std::this_thread::sleep_for(std::chrono::milliseconds{20}); });
  }
};
struct output : test::empty<"output", kr::on_host, kr::reads<kr::owned<eta>>> {};
struct step : kr::schedule<kr::cycle<eta>, rhs, kr::exchange<eta>, kr::every<2, output>> {};

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

struct folder : keel::test::folder {
  folder() : keel::test::folder("keel-trace-test") {}
};
struct tracing_run : test::run<> {
  kr::settings how;
  tracing_run(std::string_view device, std::string name) : test::run<>(device) { how.trace_file = std::move(name); }
  [[nodiscard]] kr::settings const& residency_settings() const { return how; }
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

TEST_CASE("residency: a traced run writes a line for each copy, and the bytes add up") {
  folder const here;
  std::uint64_t to_host = 0, to_device = 0, sent = 0, copies = 0;
  {
    tracing_run run{"simulated", here.path / "run"};
    kr::fields<traced, eta> f{run, kr::grid{{8, 6}, kr::ghost_width{1}, kr::periodic{true, true}}};
    f.run(init{});
    for (int n = 0; n < 4; ++n) f.step(step{});
    to_host = f.traffic().bytes(kr::way::to_host), to_device = f.traffic().bytes(kr::way::to_device);
    sent = f.traffic().bytes(kr::way::to_neighbours), copies = f.traffic().copies();
  }
  auto const lines = lines_of(here.path / "run.0.jsonl"); // the first fields of this process that are traced
  REQUIRE(lines.size() > 1);
  CHECK(lines[0]["keel"] == "trace");
  CHECK(lines[0]["version"] == 4);
  CHECK(lines[0]["run"].get<std::string>().size() == 16);
  CHECK(lines[0]["part"] == 1);
  CHECK(lines[0]["rank"] == 0);
  CHECK(lines[0]["ranks"] == 1);
  CHECK(lines[0]["begin"].get<std::uint64_t>() > 1'700'000'000'000'000U);
  CHECK(lines[0]["of_keel"] == KEEL_VERSION);
  CHECK(lines[0]["program"].get<std::string>().starts_with("test-residency"));
  CHECK(lines[0]["host"] == keel::machine::host_name());
  CHECK(lines[0]["threads"] == to_string(keel::topology::process_hardware_threads()));
  std::uint64_t down = 0, up = 0, out = 0, counted = 0, created = 0;
  double time = 0;
  std::map<std::string, int> routines, others;
  std::string cut; // of the grid's axes among the ranks
  for (auto const& line : lines) {
    if (!line.contains("what")) continue;
    if (line["what"] == "end") {
      CHECK(line == lines.back());
      continue;
    }
    if (line["what"] == "routine" || line["what"] == "kernels") { // told when it has ended
      ++routines[(line["what"] == "kernels" ? "kernels of " : "") + line["routine"].get<std::string>() + " in " +
                 line["memory"].get<std::string>()];
      CHECK(line["took"].get<double>() >= (line["what"] == "kernels" ? 20e3 : 0));
      if (line["what"] == "routine") // a device ran its kernels before
        CHECK(line["time"].get<double>() + line["took"].get<double>() >= time - 0.002); // as printed
      continue;
    }
    CHECK(line["time"].get<double>() >= time);
    time = line["time"].get<double>();
    if (auto const what = line["what"].get<std::string>(); what == "knob" || what == "entry" || what == "flow") {
      ++others[what];
      if (what == "knob" && line["option"] == "ranks_in") cut = line["value"].get<std::string>();
      continue;
    }
    CHECK(line["variable"] == "eta");
    if (line["what"] == "cycle" && line["levels"] == 2) ++others["cycle"];
    if (line["what"] == "write")
      ++others[line["routine"].get<std::string>() + " writes in " + line["memory"].get<std::string>()];
    if (line["what"] == "create") ++created;
    if (line["what"] == "exchange") out += line["bytes"].get<std::uint64_t>();
    if (line["what"] != "copy") continue;
    ++counted;
    CHECK(line["took"].get<double>() >= 0);
    (line["to"] == "host" ? down : up) += line["bytes"].get<std::uint64_t>();
    CHECK((line["to"] == "host" ? line["from"] : line["to"]) == "simulated");
  }
  CHECK(routines ==
        std::map<std::string, int>{
            {"init in host", 1}, {"rhs in simulated", 4}, {"kernels of rhs in simulated", 4}, {"output in host", 2}});
  CHECK(others["knob"] == 2);
  CHECK(cut == "1x1");
  CHECK(others["cycle"] == 4);
  CHECK(others["init writes in host"] == 1);
  CHECK(others["rhs writes in simulated"] == 4);
  CHECK(others["exchange writes in host"] == 4);
  CHECK(others["entry"] == 5); // once for four steps
  CHECK(others["flow"] > 3);
  CHECK(created == 2);
  CHECK(counted == copies);
  CHECK(down == to_host);
  CHECK(up == to_device);
  CHECK(out == sent);

  // What keel-info makes of it.
  std::string const file = here.path / "run.0.jsonl", drawn = here.path / "drawn.json";
  auto const told = test::info("trace " + file + " --summary --chrome " + drawn);
  REQUIRE(told.code == 0);
  auto const document = json::parse(std::ifstream(drawn));
  std::uint64_t drawn_bytes = 0;
  for (auto const& event : document["traceEvents"])
    if (event["ph"] == "X") drawn_bytes += event["args"]["bytes"].get<std::uint64_t>();
  CHECK(drawn_bytes == to_host + to_device + sent);
  CHECK(told.out.find("eta       simulated to host") != std::string::npos);

  // And its page: why, the knobs, the graph; keel copies nothing twice.
  std::string const page = here.path / "page.html";
  REQUIRE(test::info("report " + page + ' ' + file).code == 0);
  std::string const whole = keel::test::content(page);
  auto const begin = whole.find("id=\"data\">") + 10;
  auto const report = json::parse(whole.substr(begin, whole.find('<', begin) - begin));
  CHECK(report["trace"]["moved"] == to_host + to_device);
  CHECK(report["trace"]["least"] == to_host + to_device);
  CHECK(report["trace"]["kinds"][1][8] == "init wrote it in host");
  CHECK(report["knobs"][0]["source"] == "command line");
  auto const& graph = report["trace"]["schedules"][0];
  CHECK(graph["name"] == "trace_cases::step");
  CHECK(graph["entries"][1]["name"] == "rhs");
  CHECK(graph["entries"][2]["name"] == "exchange eta[0]");
  CHECK(graph["entries"][4]["depth"] == 1);
  std::set<std::string> flows;
  auto const name_of = [&](int number) { return graph["entries"][std::size_t(number - 1)]["name"].get<std::string>(); };
  for (auto const& f : graph["flows"])
    flows.insert(name_of(f["writer"]) + " to " + name_of(f["reader"]) + ": " + f["data"].get<std::string>() + ' ' +
                 f["copied"].get<std::string>() + (f["crosses"] == true ? " later" : ""));
  CHECK(flows.contains("rhs to output: eta[0] core always"));
  CHECK(flows.contains("exchange eta[0] to rhs: eta[1] halo always later"));

  auto const is_copy = [](json const& line) { return line.value("what", "") == "copy"; };
  auto const& first = *std::find_if(lines.begin(), lines.end(), is_copy);
  CHECK(first["routine"] == "rhs");
  CHECK(first["region"] == "inside");
  CHECK(first["level"] == 1);
  CHECK(first["component"] == 0);
  CHECK(first["bytes"] == 10 * 8 * 8);
}

TEST_CASE("residency: a trace holds what a ledger's driver does, odd names and failed copies included") {
  folder const here;
  test::recording_provider provider(2);
  {
    kr::ledger<test::recording_provider, kr::trace> book(provider);
    provider.add(1, {3, 5, 7});
    int const v = book.add("a \"quoted\\\" name\n\xff", 1, {3, 5, 7});
    book.open(kr::host);
    book.notify_data_modified(v, 0, kr::region::owned, kr::host);
    book.require_valid_data(v, 0, kr::core, kr::memory{1}, "unseen"); // nothing is open yet
    book.observer().open(here.path / "ledger.jsonl", 7, {"here", "there"});
    book.require_valid_data(v, 0, kr::region::rim, kr::memory{1}, "reader");
    book.require_valid_data(v, 0, kr::region::owned, kr::memory{1}, "second reader");
    provider.fails_in = 0;
    book.notify_data_modified(v, 0, kr::region::owned, kr::memory{1});
    CHECK_THROWS_AS(book.require_valid_data(v, 0, kr::core, kr::host), keel::error);
    book.observer().close();
  }
  auto const lines = lines_of(here.path / "ledger.jsonl");
  REQUIRE(lines.size() == 4);
  CHECK(lines[3]["what"] == "end");
  CHECK(lines[2]["what"] == "write");
  CHECK(lines[2]["region"] == "owned");
  CHECK(lines[2]["memory"] == "there");
  CHECK(lines[0]["rank"] == 7);
  CHECK(lines[0]["ranks"] == 0); // a driver that knows no others
  CHECK(lines[1]["variable"] == "a \"quoted\\\" name\n?");
  CHECK(lines[1]["rank"] == 7);
  CHECK(lines[1]["bytes"] == 5);
  CHECK(lines[1]["from"] == "here");
  CHECK(lines[1]["to"] == "there");
  CHECK(lines[1]["routine"] == "reader");
}

TEST_CASE("residency: a trace whose name is taken is refused, and what is there stays") {
  folder const here;
  auto const file = (here.path / "run.0.jsonl").string();
  kr::trace first, second;
  first.open(file, 0, {"host"});
  first.close();
  auto const before = keel::test::content(file);
  CHECK_THROWS_WITH_AS(second.open(file, 0, {"host"}), doctest::Contains("is there already"), keel::error);
  CHECK(keel::test::content(file) == before);
  second.open("/dev/null", 0, {"host"}); // not a file that could be lost
}

TEST_CASE("residency: the time of an exchange is shared by bytes, with both its halves and what was waiting") {
  using std::chrono::milliseconds, std::this_thread::sleep_for;
  folder const here;
  auto const file = (here.path / "x.jsonl").string();
  {
    kr::trace t;
    t.add("a", 1, 0, {}), t.add("b", 1, 0, {});
    t.open(file, 0, {"host"});
    kr::sent const all[]{{0, 0, 0, 1000}, {1, 0, 0, 3000}}, none[]{{0, 0, 0, 0}, {1, 0, 0, 0}};
    t.before_exchange();
    sleep_for(milliseconds{40});
    t.after_exchange(all, false);
    sleep_for(milliseconds{400}); // what overlaps with it does not count
    t.before_exchange();
    t.before_wait();
    sleep_for(milliseconds{40});
    t.after_wait();
    t.after_exchange(all, true);
    t.before_exchange();
    t.after_exchange(none, false);
    t.before_exchange();
    t.after_exchange(none, true); // no neighbours: evenly
  }
  auto const lines = lines_of(file);
  REQUIRE(lines.size() == 6);
  double const took = lines[2]["took"], waited = lines[2]["waited"];
  CHECK(took >= 60e3);
  CHECK(took < 200e3);
  CHECK(waited >= 30e3);
  CHECK(lines[1]["took"].get<double>() * 3 == doctest::Approx(took));
  CHECK(lines[1]["waited"].get<double>() * 3 == doctest::Approx(waited));
  CHECK(lines[1]["began"].get<double>() < lines[1]["time"].get<double>() - 300e3);
  CHECK(lines[2]["time"].get<double>() == doctest::Approx(lines[1]["time"].get<double>() + took / 3));
  CHECK(lines[3]["took"] == lines[4]["took"]);
}

TEST_CASE("residency: the traces of a process are of one run, and each is another part") {
  auto const one = kr::trace::next(4), other = kr::trace::next(2);
  CHECK(one.run == other.run);
  CHECK(other.part == one.part + 1);
  CHECK(one.ranks == 4);
  CHECK(kr::trace::path_of("name", 3, 1) == "name.3.jsonl");
  CHECK(kr::trace::path_of("name", 3, 2) == "name.3.2.jsonl");
}

TEST_CASE("residency: a trace that cannot be written says so") {
  kr::trace t;
  CHECK(keel::test::message_of([&] {
          t.open("/nowhere/at/all", 0, {"host"});
        }).find("keel::residency::traced: the trace /nowhere/at/all cannot be written (No such file or directory)") ==
        0);
  CHECK(keel::test::refuses(
      [&] {
        t.open("/dev/full", 0, {"host"});
        t.close();
      },
      "the trace /dev/full is not whole (No space left on device)"));
}

TEST_CASE("residency: a trace counts the bytes of each component, those not told like the first") {
  folder const here;
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
  folder const here;
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
  folder const here;
  {
    tracing_run run{"simulated", here.path / "run"};
    kr::fields<traced, eta> f{run, kr::grid{{8, 6}}};
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

} // namespace trace_cases
