// SPDX-License-Identifier: MIT
/// @file
/// keel-info report from outside: what stands in the page. What a browser makes of it: report_page.py.

#include "said.hpp"

#include <keel/policy/macros.hpp>

#include <support/test.hpp>
#include <support/folder.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

using keel::test::content, test::header, test::info;
using nlohmann::json;

namespace {

struct folder : test::traces {
  folder() : traces("keel info report") {}
  /// The path as a word of the shell.
  [[nodiscard]] std::string operator/(char const* name) const { return '\'' + (path / name).string() + '\''; }
  [[nodiscard]] std::string file(char const* name, std::vector<std::string> const& lines) const {
    return '\'' + traces::file(name, lines) + '\'';
  }
  /// The document in the page that is made of `arguments`. Nothing in it can end the element that holds it.
  [[nodiscard]] json page_of(std::string const& arguments) const {
    auto const heard = info("report " + (*this / "x.html") + ' ' + arguments);
    REQUIRE_MESSAGE(heard.code == 0, heard.err);
    auto const whole = content(path / "x.html");
    std::string_view const begin = R"(<script type="application/json" id="data">)";
    auto const at = whole.find(begin) + begin.size();
    REQUIRE(at > begin.size());
    return json::parse(whole.substr(at, whole.find('<', at) - at));
  }
};

std::string const known = R"("of_keel":400,"program":"ocean")";

std::string line(char const* what, double time, int rank, std::string const& rest) {
  return R"({"what":")" + std::string(what) + R"(","time":)" + std::to_string(time) + R"(,"rank":)" +
         std::to_string(rank) + (rest.empty() ? "" : ",") + rest + '}';
}
std::string copy(double time, char const* region, std::uint64_t bytes, int level = 0) {
  return line("copy", time, 0,
              R"("variable":"eta","level":)" + std::to_string(level) + R"(,"component":0,"region":")" + region +
                  R"(","from":"host","to":"cuda","bytes":)" + std::to_string(bytes) + R"(,"routine":"rhs","took":2.5)");
}
std::string write(double time, char const* region, char const* routine) {
  return line("write", time, 0,
              R"("variable":"eta","level":0,"component":0,"region":")" + std::string{region} +
                  R"(","memory":"host","routine":")" + routine + '"');
}
std::string turn(char const* how, double time) { return line(how, time, 0, R"("variable":"eta","levels":2)"); }

std::string const machine = std::string{" --xml '"} + KEEL_TEST_DATA + "/gpus8_numa4.xml'";

/// Every member of `expected` is that of `all`.
void holds(json const& all, char const* expected) {
  auto const wanted = json::parse(expected);
  for (auto const& member : wanted.items()) {
    CAPTURE(member.key());
    CHECK(all.value(member.key(), json{}) == member.value());
  }
}

} // namespace

TEST_CASE("info: the numbers of a report are those of the trace") {
  folder const here;
  auto const knob = R"("option":"--keel-device","device":"","value":"cuda","source":"environment")";
  auto const sent = R"("variable":"eta","level":0,"component":0,"bytes":64,"took":1.5)";
  auto const zero =
      here.file("a.0", {header(0, 2, known), copy(10, "everywhere", 800, 1), copy(30.25, "core", 4000),
                        line("routine", 20, 0, R"("routine":"</script><b>","memory":"cuda","took":7.125)"),
                        line("kernels", 20, 0, R"("routine":"</script><b>","memory":"cuda","took":9)"),
                        line("knob", 1, 0, knob)});
  auto const one = here.file("a.1", {header(1, 2, known), line("exchange", 40, 1, sent),
                                     line("accumulate", 40, 1, sent), line("knob", 1, 1, knob)});
  auto const page = here.page_of(zero + ' ' + one + machine);
  // The second file began 500 microseconds later.
  holds(page["trace"], R"({
    "program": "ocean", "begin": 1763724151000000, "of_keel": 400, "ranks": [0, 1], "copies": 2, "moved": 4800,
    "least": 4800, "sent": 128, "duration": 541.5, "time": [10, 20, 20, 30.25, 540, 540], "rank": [0, 0, 0, 0, 1, 1],
    "took": [2.5, 7.125, 9, 2.5, 1.5, 1.5], "bytes": [800, 0, 0, 4000, 64, 64], "kind": [0, 1, 2, 3, 4, 5],
    "kinds": [
      ["copy", "eta", 1, 0, "everywhere", "host", "cuda", "rhs", "not written since the trace began", false],
      ["routine", "", 0, 0, "", "", "cuda", "</script><b>", "", false],
      ["device", "", 0, 0, "", "", "cuda", "</script><b>", "", false],
      ["copy", "eta", 0, 0, "core", "host", "cuda", "rhs", "not written since the trace began", false],
      ["exchange", "eta", 0, 0, "ghosts", "this rank", "neighbours", "exchange", "", false],
      ["exchange", "eta", 0, 0, "ghosts", "this rank", "neighbours", "accumulate", "", false]],
    "by_variable": [
      ["eta", "accumulate", "this rank", "neighbours", "", 64, 64, 1, 1.5, 0, 540, 541.5],
      ["eta", "exchange", "this rank", "neighbours", "", 64, 64, 1, 1.5, 0, 540, 541.5],
      ["eta", "rhs", "host", "cuda", "not written since the trace began", 4800, 4800, 2, 5, 0, 10, 32.75]],
    "by_routine": [{"routine": "</script><b>", "memory": "cuda", "times": 1, "took": 7.125, "first": 20, "last": 27.125,
                    "on_device": 9}]})");
  holds(page, R"({"knobs_of_run": true, "map_was_asked_for": false, "host": null, "knobs": [
    {"option": "--keel-device", "device": "", "value": "cuda", "source": "environment", "ranks": [0, 1]}]})");
  CHECK(page["of_keel"] == KEEL_VERSION);
  CHECK(page["map"].size() == 2);
  CHECK(page["map"][1]["memory"] == 2);
  CHECK(page["node"]["cores"].size() == 32);
  CHECK(page["boxes"].size() == 32 + 4 + 2 + 1); // cores, memories, packages, all
  auto const near = std::find_if(page["boxes"].begin(), page["boxes"].end(),
                                 [](auto const& b) { return b["cores"] == json{8, 9, 10, 11, 12, 13, 14, 15}; });
  REQUIRE(near != page["boxes"].end());
  CHECK(near->at("memories") == json::array({1}));
  CHECK(near->at("devices") == json{3, 4, 5});
  CHECK(std::filesystem::file_size(here.path / "x.html") < 100'000);
}

TEST_CASE("info: a report says why each copy was made, and which repeat what was there") {
  folder const here;
  struct {
    std::vector<std::string> before; ///< the copy
    std::string copy;
    char const* why;
  } const steps[]{
      {{write(1, "owned", "init")}, copy(2, "core", 100), "init wrote it in host"},
      {{}, copy(3, "rim", 10), "init wrote it in host"},
      {{}, copy(4, "core", 100), "it was there already"},                    // nothing was written in between
      {{turn("cycle", 5)}, copy(6, "core", 100, 1), "it was there already"}, // as level 0, before the cycle
      {{write(7, "rim", "edge"), write(8, "ghosts", "exchange")}, copy(9, "owned", 110), "edge wrote it in host"},
      {{}, copy(10, "ghosts", 7), "exchange wrote it in host"},
      {{write(11, "core", "edge")}, copy(12, "ghosts", 7), "not written since the trace began"}, // neighbours wrote it
      {{turn("rewind", 13)}, copy(14, "core", 100), "it was there already"},
      {{}, copy(15, "walls", 3), "not written since the trace began"},
      // Twice in place brings level 0 back.
      {{write(16, "core", "late"), turn("cycle_in_place", 17), turn("cycle_in_place", 18)},
       copy(19, "core", 100),
       "late wrote it in host"},
      // Component 1 was 0.
      {{line("components", 20, 0, R"("variable":"eta","kept":"1,0")")},
       copy(21, "core", 5),
       "not written since the trace began"},
  };
  std::vector<std::string> lines{header(0, 1)};
  for (auto const& s : steps) {
    lines.insert(lines.end(), s.before.begin(), s.before.end());
    lines.push_back(s.copy);
  }
  auto const trace = here.page_of(here.file("a", lines) + machine)["trace"];
  REQUIRE(trace["kind"].size() == std::size(steps));
  for (std::size_t n = 0; n < std::size(steps); ++n) {
    CAPTURE(steps[n].copy);
    CHECK(trace["kinds"][trace["kind"][n].get<std::size_t>()][8] == steps[n].why);
  }
  holds(trace, R"({"moved": 642, "least": 342})");
}

TEST_CASE("info: of too many events a report merges neighbours, its sums are exact, and it says so") {
  folder const here;
  std::vector<std::string> lines{header(0, 1)};
  std::uint64_t bytes = 0;
  for (int n = 0; n < 140'000; ++n) {
    lines.push_back(copy(10.0 * n, n % 2 == 0 ? "core" : "rim", std::uint64_t(n)));
    bytes += std::uint64_t(n);
  }
  auto& at = lines[70'001]; // one that is longer than the others together in a pixel
  at.replace(at.find("2.5"), 3, "90000.5");
  auto const trace = here.page_of(here.file("a", lines) + machine)["trace"];
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

TEST_CASE("info: of a long table a report shows the largest rows, and says so") {
  folder const here;
  std::vector<std::string> lines{header(0, 1)};
  for (int n = 0; n < 1100; ++n) {
    lines.push_back(copy(10.0 * n, "core", std::uint64_t(n)));
    auto& name = lines.back();
    name.replace(name.find("eta"), 3, "<v" + std::to_string(n) + '>');
  }
  CHECK(here.page_of(here.file("a", lines) + machine)["trace"]["by_variable"].size() == 1100);
  auto const page = content(here.path / "x.html");
  CHECK(page.find("The first 1000 of 1100 rows") != std::string::npos);
  CHECK(page.find("<td>&lt;v1099></td>") < page.find("<td>&lt;v100></td>"));
  CHECK(page.find("<td>&lt;v99></td>") == std::string::npos);
}

TEST_CASE("info: a report of a trace without knobs says so; without a trace it has node and knobs") {
  folder const here;
  CHECK(here.page_of(here.file("a", {header(0, 1), copy(1, "core", 8)}))["knobs_of_run"] == false);
  auto const none = here.page_of("--map 3 --by compact --keel-log-level=error");
  CHECK(none["trace"].is_null());
  CHECK(none["map_was_asked_for"] == true);
  CHECK(none["host"].is_string());
  CHECK(none["map"].size() == 3);
  CHECK(std::any_of(none["knobs"].begin(), none["knobs"].end(),
                    [](json const& k) { return k["option"] == "--keel-log-level" && k["source"] == "command line"; }));
  auto const check = info("--check --map 3 --keel-log-level=error");
  for (auto const& f : none["findings"]) CHECK(check.out.find(f["text"].get<std::string>()) != std::string::npos);
  auto const lines = std::count(check.out.begin(), check.out.end(), '\n');
  CHECK(std::size_t(lines) == none["findings"].size() + 1);
}

TEST_CASE("info: a report holds the graph of a schedule once, and where each rank might run") {
  folder const here;
  auto const graph = [](int rank) {
    return std::vector<std::string>{
        header(rank, 2, R"("host":"n1","threads":"8-9,24")"),
        line("entry", 1, rank,
             R"("schedule":"app::step","number":1,"depth":0,"kind":"routine","name":"rhs","memory":"cuda")"),
        line("flow", 1, rank,
             R"("schedule":"app::step","writer":1,"reader":1,"data":"eta[1] owned","copied":"always","crosses":1)")};
  };
  auto const trace = here.page_of(here.file("0", graph(0)) + ' ' + here.file("1", graph(1)))["trace"];
  holds(trace, R"({"schedules": [{"name": "app::step",
    "entries": [{"number": 1, "depth": 0, "name": "rhs", "memory": "cuda"}],
    "flows": [{"writer": 1, "reader": 1, "data": "eta[1] owned", "copied": "always", "crosses": true}]}]})");
  REQUIRE(trace["files"].size() == 2);
  holds(trace["files"][1], R"({"rank": 1, "part": 1, "host": "n1", "threads": "8-9,24"})");
}

TEST_CASE("info: a report refuses what it cannot use, and writes over no trace") {
  folder const here;
  auto const trace = here.file("a.0.jsonl", {header(0, 1), copy(1, "core", 8)});
  auto const before = content(here.path / "a.0.jsonl");
  std::string const alien = line("routine", 1, 1, R"("routine":"r","memory":"m","took":1)");
  auto const same = here.file("same.html", {header(0, 1)});
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
      {same + ' ' + same, "it is the input"},
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
  CHECK(info("report --help").out.find("usage: keel-info report PAGE.html") == 0);
}
