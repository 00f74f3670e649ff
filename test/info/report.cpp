// SPDX-License-Identifier: MIT
/// @file
/// keel-info report from outside: what stands in the page. What a browser makes of it: report_page.py.

#include "said.hpp"

#include <keel/policy/macros.hpp>

#include <doctest/doctest.h>
#include <support/folder.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

using keel::test::content, test::info;
using nlohmann::json;

namespace {

struct folder : test::traces {
  folder() : traces("keel info report") {}
  /// The path as a word of the shell.
  [[nodiscard]] std::string operator/(char const* name) const { return '\'' + (path / name).string() + '\''; }
  [[nodiscard]] std::string file(char const* name, std::vector<std::string> const& lines) const {
    return '\'' + traces::file(name, lines) + '\'';
  }
};

/// The document in a page. Nothing in it can end the element that holds it.
json document_of(std::filesystem::path const& page) {
  auto const whole = content(page);
  std::string_view const begin = R"(<script type="application/json" id="data">)";
  auto const at = whole.find(begin);
  REQUIRE(at != whole.npos);
  auto const text = whole.substr(at + begin.size(), whole.find('<', at + begin.size()) - at - begin.size());
  return json::parse(text);
}

/// What event `n` has in common with others: its row of `kinds`, numbers of texts resolved.
json kind_of(json const& trace, std::size_t n) {
  json made;
  auto const row = trace["kind"][n].get<std::size_t>();
  for (auto const& [name, column] : trace["kinds"].items()) {
    bool const is_number = name == "level" || name == "component" || name == "repeated";
    made[name] = is_number ? column[row] : trace["texts"][column[row].get<std::size_t>()];
  }
  return made;
}

std::string header(int rank, int ranks) {
  return R"({"keel":"trace","version":4,"run":"00000000000000aa","part":1,"rank":)" + std::to_string(rank) +
         R"(,"ranks":)" + std::to_string(ranks) + R"(,"begin":)" + std::to_string(1763724151000000 + 500 * rank) +
         R"(,"of_keel":400,"program":"ocean"})";
}
std::string line(char const* what, double time, int rank, std::string const& rest) {
  return R"({"what":")" + std::string(what) + R"(","time":)" + std::to_string(time) + R"(,"rank":)" +
         std::to_string(rank) + (rest.empty() ? "" : ",") + rest + '}';
}
std::string copy(double time, int rank, char const* region, std::uint64_t bytes, int level = 0,
                 char const* to = "cuda") {
  return line("copy", time, rank,
              R"("variable":"eta","level":)" + std::to_string(level) + R"(,"component":0,"region":")" + region +
                  R"(","from":"host","to":")" + to + R"(","bytes":)" + std::to_string(bytes) +
                  R"(,"routine":"rhs","took":2.5)");
}
std::string write(double time, int rank, char const* region, char const* memory, char const* routine, int level = 0) {
  return line("write", time, rank,
              R"("variable":"eta","level":)" + std::to_string(level) + R"(,"component":0,"region":")" + region +
                  R"(","memory":")" + memory + R"(","routine":")" + routine + '"');
}
std::string const sent = line("exchange", 40, 1, R"("variable":"eta","level":0,"component":0,"bytes":64,"took":1.5)");
std::string const machine = std::string{" --xml '"} + KEEL_TEST_DATA + "/gpus8_numa4.xml'";

} // namespace

TEST_CASE("info: the numbers of a report are those of the trace") {
  folder const here;
  std::vector<std::string> zero{header(0, 2), copy(10, 0, "everywhere", 800, 1), copy(30.25, 0, "core", 4000)};
  zero.push_back(line("routine", 20, 0, R"("routine":"</script><b>","memory":"cuda","took":7.125)"));
  auto const knob = R"("option":"--keel-device","device":"","value":"cuda","source":"environment")";
  zero.push_back(line("knob", 1, 0, knob));
  std::vector<std::string> const one{
      header(1, 2), sent, line("accumulate", 40, 1, R"("variable":"eta","level":0,"component":0,"bytes":32,"took":1)"),
      line("knob", 1, 1, knob)};
  auto const files = here.file("a.0", zero) + ' ' + here.file("a.1", one);
  auto const heard = info("report " + (here / "run.html") + ' ' + files + machine);
  CHECK_MESSAGE(heard.code == 0, heard.err);
  CHECK(heard.out.find("run.html: 2 ranks, ") != std::string::npos);
  auto const page = document_of(here.path / "run.html");
  auto const& trace = page["trace"];
  CHECK(trace["program"] == "ocean");
  CHECK(trace["begin"] == 1763724151000000);
  CHECK(trace["of_keel"] == 400);
  CHECK(page["of_keel"] == KEEL_VERSION);
  CHECK(trace["ranks"] == json{0, 1});
  CHECK(trace["copies"] == 2);
  CHECK(trace["moved"] == 4800);
  CHECK(trace["least"] == 4800);
  CHECK(trace["sent"] == 96);
  CHECK(trace["duration"] == 541.5);
  CHECK(trace["time"] == json{10.0, 20.0, 30.25, 540.0, 540.0}); // the second file began 500 microseconds later
  CHECK(trace["took"] == json{2.5, 7.125, 2.5, 1.5, 1.0});
  CHECK(trace["rank"] == json{0, 0, 0, 1, 1});
  CHECK(trace["bytes"] == json{800, 0, 4000, 64, 32});
  REQUIRE(trace["kinds"]["what"].size() == 5);
  auto const kind = [&](std::size_t n) { return kind_of(trace, n); };
  CHECK(kind(0)["what"] == "copy");
  CHECK(kind(0)["level"] == 1);
  CHECK(kind(0)["region"] == "everywhere");
  CHECK(kind(0)["to"] == "cuda");
  CHECK(kind(1)["what"] == "routine");
  CHECK(kind(1)["routine"] == "</script><b>"); // stays a text
  CHECK(kind(1)["to"] == "cuda");
  CHECK(kind(3)["what"] == "exchange");
  CHECK(kind(4)["what"] == "exchange"); // drawn as one
  CHECK(kind(4)["routine"] == "accumulate");
  CHECK(trace["by_routine"][0]["took"] == 7.125);
  CHECK(trace["by_variable"]["bytes"][0] == 4800);
  CHECK(trace["by_variable"]["times"][0] == 2);
  CHECK(trace["by_variable"]["took"][0] == 5.0);
  CHECK(trace["by_variable"]["least"][0] == 4800);
  CHECK(trace["texts"][trace["by_variable"]["from"][0].get<std::size_t>()] == "host");
  CHECK(trace["by_variable"]["first"][0] == 10.0);
  CHECK(trace["by_variable"]["last"][0] == 32.75);
  CHECK(page["knobs_of_run"] == true);
  CHECK(page["knobs"].size() == 1);
  CHECK(page["knobs"][0]["source"] == "environment");
  CHECK(page["knobs"][0]["ranks"] == json{0, 1});
  CHECK(page["map"].size() == 2);
  CHECK(page["map"][1]["memory"] == 2);
  CHECK(page["node"]["cores"].size() == 32);
  CHECK(content(here.path / "run.html").find("<svg") != std::string::npos);
  CHECK(content(here.path / "run.html").find("MIT License") != std::string::npos);
  CHECK(std::filesystem::file_size(here.path / "run.html") < 200'000);
}

TEST_CASE("info: a report says why each copy was made, and which repeat what was there") {
  folder const here;
  auto const trace = here.file(
      "a", {header(0, 1), write(1, 0, "owned", "host", "init"), copy(2, 0, "core", 100), copy(3, 0, "rim", 10),
            copy(4, 0, "core", 100), // nothing was written in between
            line("cycle", 5, 0, R"("variable":"eta","levels":2)"), copy(6, 0, "core", 100, 1), // where it went
            write(7, 0, "rim", "host", "edge"), write(8, 0, "ghosts", "host", "exchange"), copy(9, 0, "owned", 110),
            copy(10, 0, "ghosts", 7), write(11, 0, "core", "host", "edge"), copy(12, 0, "ghosts", 7),
            line("rewind", 13, 0, R"("variable":"eta","levels":2)"), copy(14, 0, "core", 100), copy(15, 0, "walls", 3),
            // Twice in place brings level 0 back.
            write(16, 0, "core", "host", "late"), line("cycle_in_place", 17, 0, R"("variable":"eta","levels":2)"),
            line("cycle_in_place", 18, 0, R"("variable":"eta","levels":2)"), copy(19, 0, "core", 100)});
  REQUIRE(info("report " + (here / "x.html") + ' ' + trace + machine).code == 0);
  auto const page = document_of(here.path / "x.html");
  auto const& all = page["trace"];
  auto const why = [&](std::size_t n) { return kind_of(all, n)["why"].get<std::string>(); };
  REQUIRE(all["kind"].size() == 10);
  CHECK(why(0) == "init wrote it in host");
  CHECK(why(1) == "init wrote it in host");
  CHECK(why(2) == "it was there already");
  CHECK(why(3) == "it was there already"); // as level 0, before the cycle
  CHECK(why(4) == "edge wrote it in host");
  CHECK(why(5) == "exchange wrote it in host");
  CHECK(why(6) == "not written since the trace began"); // the neighbours wrote it
  CHECK(why(7) == "it was there already");
  CHECK(why(8) == "not written since the trace began");
  CHECK(why(9) == "late wrote it in host");
  CHECK(all["moved"] == 637);
  CHECK(all["least"] == 637 - 300);
}

TEST_CASE("info: of too many events a report merges neighbours, its sums are exact, and it says so") {
  folder const here;
  std::vector<std::string> lines{header(0, 1)};
  std::uint64_t bytes = 0;
  for (int n = 0; n < 140'000; ++n) {
    lines.push_back(copy(10.0 * n, 0, n % 2 == 0 ? "core" : "rim", std::uint64_t(n)));
    bytes += std::uint64_t(n);
  }
  auto& at = lines[70'001]; // one that is longer than the others together in a pixel
  at.replace(at.find("2.5"), 3, "90000.5");
  REQUIRE(info("report " + (here / "x.html") + ' ' + here.file("a", lines) + machine).code == 0);
  auto const trace = document_of(here.path / "x.html")["trace"];
  auto const sum = [&](char const* column) {
    double all = 0;
    for (auto const& n : trace[column]) all += n.get<double>();
    return all;
  };
  CHECK(trace["time"].size() < 20'000);
  CHECK(trace["thinned"]["events"] == 140'000);
  CHECK(sum("count") == 140'000);
  CHECK(sum("bytes") == double(bytes));
  CHECK(sum("took") == 2.5 * 139'999 + 90000.5);
  CHECK(trace["copies"] == 140'000);
  CHECK(trace["moved"] == bytes);
  CHECK(std::find(trace["took"].begin(), trace["took"].end(), json(90000.5)) != trace["took"].end());
  CHECK(std::is_sorted(trace["time"].begin(), trace["time"].end()));
}

TEST_CASE("info: a report of a trace without knobs says so; without a trace it has node and knobs") {
  folder const here;
  REQUIRE(info("report " + (here / "x.html") + ' ' + here.file("a", {header(0, 1), copy(1, 0, "core", 8)})).code == 0);
  CHECK(document_of(here.path / "x.html")["knobs_of_run"] == false);
  REQUIRE(info("report " + (here / "y.html") + " --map 3 --by compact --keel-log-level=error").code == 0);
  auto const none = document_of(here.path / "y.html");
  CHECK(none["trace"].is_null());
  CHECK(none["map"].size() == 3);
  auto const& knobs = none["knobs"];
  CHECK(std::any_of(knobs.begin(), knobs.end(),
                    [](json const& k) { return k["option"] == "--keel-log-level" && k["source"] == "command line"; }));
  auto const check = info("--check --map 3 --keel-log-level=error");
  for (auto const& f : none["findings"]) CHECK(check.out.find(f["text"].get<std::string>()) != std::string::npos);
  auto const lines = std::count(check.out.begin(), check.out.end(), '\n');
  CHECK(std::size_t(lines) == none["findings"].size() + 1);
}

TEST_CASE("info: a report holds the graph of a schedule") {
  folder const here;
  auto const graph = [](int rank) {
    return std::vector<std::string>{
        header(rank, 2),
        line("entry", 1, rank,
             R"("schedule":"app::step","number":1,"depth":0,"kind":"routine","name":"rhs","memory":"cuda")"),
        line("flow", 1, rank,
             R"("schedule":"app::step","writer":1,"reader":1,"data":"eta[1] owned","copied":"always","crosses":1)")};
  };
  auto const files = here.file("0", graph(0)) + ' ' + here.file("1", graph(1));
  REQUIRE(info("report " + (here / "x.html") + ' ' + files).code == 0);
  auto const schedules = document_of(here.path / "x.html")["trace"]["schedules"];
  REQUIRE(schedules.size() == 1);
  CHECK(schedules[0]["name"] == "app::step");
  REQUIRE(schedules[0]["entries"].size() == 1);
  CHECK(schedules[0]["entries"][0]["memory"] == "cuda");
  REQUIRE(schedules[0]["flows"].size() == 1);
  CHECK(schedules[0]["flows"][0]["copied"] == "always");
  CHECK(schedules[0]["flows"][0]["crosses"] == true);
}

TEST_CASE("info: a report draws ranks on the cores that they might run on") {
  folder const here;
  auto const on = [](int rank, int ranks, std::string const& threads, std::string const& host = "n1") {
    auto made = header(rank, ranks);
    made.back() = ',';
    return made + R"("host":")" + host + R"(","threads":")" + threads + "\"}";
  };
  auto const two = here.file("0", {on(0, 2, "8-9,24")}) + ' ' + here.file("1", {on(1, 2, "31")});
  auto const drawn = [&](std::string const& arguments) {
    auto const heard = info("report " + (here / "x.html") + ' ' + arguments);
    REQUIRE_MESSAGE(heard.code == 0, heard.err);
    return document_of(here.path / "x.html");
  };
  auto const picture = [&](char const* text) { return content(here.path / "x.html").find(text) != std::string::npos; };

  auto const there = drawn(two + machine); // a thread for each core
  CHECK(there["places_are_drawn"] == true);
  REQUIRE(there["places"].size() == 2);
  CHECK(there["places"][0]["cores"] == json{8, 9, 24});
  CHECK(there["places"][0]["hardware_threads"] == json{8, 9, 24});
  CHECK(there["places"][1]["rank"] == 1);
  CHECK(there["places"][1]["host"] == "n1");
  CHECK(there["places"][1]["cores"] == json{31});
  CHECK(there["map"][1]["memory"] == 2); // where keel would place it
  CHECK(picture("<title>core 24, rank 0</title>"));
  CHECK(picture("<title>core 31, rank 1</title>"));
  CHECK(picture("<title>core 0</title>"));

  CHECK(drawn(two + machine + " --map 2")["places_are_drawn"] == false); // the plan was asked for
  CHECK(picture("<title>core 0, rank 0</title>"));

  auto const elsewhere = drawn(two); // no host is called n1 here
  CHECK(elsewhere["places_are_drawn"] == false);
  CHECK(elsewhere["places"][0]["cores"].is_null());

  auto const larger = drawn(here.file("2", {on(0, 1, "31-32")}) + machine); // which has 32 of them
  CHECK(larger["places_are_drawn"] == false);

  auto const hosts = here.file("3", {on(0, 2, "4")}) + ' ' + here.file("4", {on(1, 2, "4", "n2")});
  CHECK(drawn(hosts + machine)["places_are_drawn"] == true);
  CHECK(picture("<title>core 4, rank 0</title>"));

  CHECK(drawn(here.file("5", {header(0, 1)}) + machine)["places"].empty()); // the system told no threads
  CHECK(picture("<title>core 0, rank 0</title>"));
  for (char const* const bad : {"", "1,", "3-2", "2,2", "0-4000000000", "1 2", "-1", "x", "1-", "1,,2"}) {
    CAPTURE(bad);
    auto const heard = info("report " + (here / "y.html") + ' ' + here.file("6", {on(0, 1, bad)}));
    CHECK(heard.code == 2);
    CHECK_MESSAGE(heard.err.find("threads is no list of hardware threads as 0-3,8") != std::string::npos, heard.err);
  }
}

TEST_CASE("info: a report refuses what it cannot use, and writes over no trace") {
  folder const here;
  auto const trace = here.file("a.0.jsonl", {header(0, 1), copy(1, 0, "core", 8)});
  auto const before = content(here.path / "a.0.jsonl");
  std::string const alien = line("routine", 1, 1, R"("routine":"r","memory":"m","took":1)");
  struct {
    std::string arguments, words;
  } const wrong[]{
      {"", "keel::info: no page to write. Name it before the traces, as report.html."},
      {trace + ' ' + trace,
       "a.0.jsonl is not written (the name of a page ends in .html). Name the page before the traces."},
      {"x.html --loud", "keel::info: unknown option --loud."},
      {"x.html --map", "keel::info: --map has no value (it is the last word)."},
      {"x.html --map 0", "--map 0 cannot be drawn"},
      {"x.html --by chance", "--by chance is no rule."},
      {"x.html --keel-log-level=loud", "--keel-log-level"},
      {"x.html --xml /nowhere.xml", "/nowhere.xml"},
      {"x.html /nowhere.jsonl", "/nowhere.jsonl is not read (No such file or directory)"},
      {"x.html " + here.file("b", {header(0, 2)}), "the trace of rank 1 is missing"},
      {"x.html " + here.file("d", {header(0, 1), alien}), "rank is not that of the header"},
      {"x.html " + here.file("e", {header(0, 1), line("cycle", 1, 0, R"("variable":"eta")")}), "it has no levels"},
      {"/nowhere/x.html", "/nowhere/x.html cannot be written (No such file or directory)"},
  };
  for (auto const& w : wrong) {
    CAPTURE(w.arguments);
    auto const heard = info("report " + w.arguments);
    CHECK(heard.code == 2);
    CHECK(heard.out.empty());
    CHECK_MESSAGE(heard.err.find(w.words) != std::string::npos, heard.err);
  }
  CHECK(content(here.path / "a.0.jsonl") == before);
  CHECK_FALSE(std::filesystem::exists("x.html"));
  auto const same = here.file("same.html", {header(0, 1)});
  auto const heard = info("report " + same + ' ' + same);
  CHECK(heard.code == 2);
  CHECK(heard.err.find("it is the input") != std::string::npos);
  CHECK(info("report --help").out.find("usage: keel-info report PAGE.html") == 0);
}
