// SPDX-License-Identifier: MIT
#include <keel/validity/trace.hpp>

#include "cases.hpp"

#include <validity/recording_provider.hpp>

#include <info/said.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>

#include <unistd.h>

namespace trace_cases {

using namespace test;
using json = nlohmann::json;

using traced = application<keel::list<host, keel::simulated>, kr::traced>;

struct eta : kr::variable<"eta", double**, kr::levels<2>> {};
struct init : kr::routine<"init", kr::on_host, kr::writes<kr::everywhere<eta>>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v(eta{}), 1.0);
  }
};
struct rhs : empty<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<eta>> {};

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
std::vector<json> lines_of(std::filesystem::path const& file) {
  std::vector<json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
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
  CHECK(message_of([&] {
          t.open("/nowhere/at/all", 0, {"host"});
        }).find("keel::residency::traced: the trace /nowhere/at/all cannot be written (No such file or directory)") ==
        0);
  CHECK(refuses(
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
    test::run<> run{"simulated", {.trace_file = here.path / "run"}};
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
