// SPDX-License-Identifier: MIT
/// @file
/// keel-info report from outside: what stands in the page. What a browser makes of it: report_page.py.

#include "said.hpp"

#include <keel/policy/macros.hpp>

#include <support/test.hpp>
#include <support/folder.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

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
  /// The page that is made of `arguments`.
  [[nodiscard]] std::string page_of(std::string const& arguments) const {
    auto const heard = info("report " + (*this / "x.html") + ' ' + arguments);
    REQUIRE_MESSAGE(heard.code == 0, heard.err);
    return content(path / "x.html");
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

/// What stands in a page between `begin` and the next `end`; empty without it.
std::string between(std::string const& page, std::string const& begin, std::string const& end) {
  auto const at = page.find(begin);
  return at == page.npos ? "" : page.substr(at + begin.size(), page.find(end, at + begin.size()) - at - begin.size());
}
/// The events of its timeline. Nothing in them can end the element that holds them.
json events_of(std::string const& page) {
  return json::parse(between(page, R"(<script type="application/json" id="data">)", "<"));
}
/// A table of a page: its cells with a bar between them, a line for each row.
std::string rows_of(std::string const& page, std::string const& table) {
  auto const body = between(between(page, "data-of=\"" + table + '"', "</table>"), "<tbody>", "</tbody>");
  std::string made;
  bool is_text = true;
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (body[at] == '<') is_text = false;
    if (is_text) made += body[at];
    if (body[at] == '>') is_text = true;
    if (body.compare(at, 5, "</td>") == 0 && body.compare(at + 5, 5, "</tr>") != 0) made += " | ";
  }
  return made;
}
/// What the tiles of the summary say.
std::string tile_of(std::string const& page, std::string const& words) {
  auto const before = between(page, "<div class=\"tiles\">", "<span>" + words + "</span>");
  return before.substr(before.rfind("<b>") + 3, before.rfind("</b>") - before.rfind("<b>") - 3);
}

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
  auto const sent = R"("variable":"eta","level":0,"component":0,"bytes":64,"took":1.5,"waited":0.5)";
  auto const zero =
      here.file("a.0", {header(0, 2, known), copy(10, "everywhere", 800, 1), copy(30.25, "core", 4000),
                        line("routine", 20, 0, R"("routine":"</script><b>","memory":"cuda","took":7.125)"),
                        line("kernels", 20, 0, R"("routine":"</script><b>","memory":"cuda","took":9)"),
                        line("knob", 1, 0, knob)});
  auto const one = here.file("a.1", {header(1, 2, known), line("exchange", 40, 1, sent),
                                     line("accumulate", 40, 1, sent), line("knob", 1, 1, knob)});
  auto const page = here.page_of(zero + ' ' + one + machine);
  // The second file began 500 microseconds later.
  holds(events_of(page), R"({
    "ranks": [0, 1], "duration": 541.5, "time": [10, 20, 20, 30.25, 540, 540], "rank": [0, 0, 0, 0, 1, 1],
    "took": [2.5, 7.125, 9, 2.5, 1.5, 1.5], "bytes": [800, 0, 0, 4000, 64, 64], "kind": [0, 1, 2, 3, 4, 5],
    "kinds": [
      ["copy", "eta", 1, 0, "everywhere", "host", "cuda", "rhs", "not written since the trace began", false],
      ["routine", "", 0, 0, "", "", "cuda", "</script><b>", "", false],
      ["device", "", 0, 0, "", "", "cuda", "</script><b>", "", false],
      ["copy", "eta", 0, 0, "core", "host", "cuda", "rhs", "not written since the trace began", false],
      ["exchange", "eta", 0, 0, "ghosts", "this rank", "neighbours", "exchange", "", false],
      ["exchange", "eta", 0, 0, "ghosts", "this rank", "neighbours", "accumulate", "", false]]})");
  CHECK(
      rows_of(page, "copies") ==
      "eta | host to cuda | rhs | not written since the trace began | 2 | 4.800 kB | 4.800 kB | 5.000 µs | - | 10.00 µs | "
      "32.75 µs\n"
      "eta | this rank to neighbours | accumulate | ghosts | 1 | 64 B | 64 B | 1.500 µs | 500 ns | 540.0 µs | "
      "541.5 µs\n"
      "eta | this rank to neighbours | exchange | ghosts | 1 | 64 B | 64 B | 1.500 µs | 500 ns | 540.0 µs | "
      "541.5 µs\n");
  CHECK(rows_of(page, "routines") ==
        "&lt;/script>&lt;b> | cuda | 1 | 7.125 µs | 7.125 µs | 9.000 µs | 20.00 µs | 27.12 µs\n");
  CHECK(rows_of(page, "knobs") == "--keel-device | - | cuda | environment | 0-1\n");
  CHECK(rows_of(page, "map") == "0 | 0-15 | 0-15 | numa 0 | gpu 0000:01:00.0\n1 | 16-31 | 16-31 | numa 2 | gpu "
                                "0000:21:00.0\n");
  CHECK(between(page, "<section id=\"summary\"><h2>Summary</h2><p class=\"about\">", "</p>") ==
        "ocean, 2 ranks on a host that is not known, began 2025-11-21 11:22 UTC, with keel 0.4.0.");
  struct {
    char const *words, *value;
  } const tiles[]{{"ranks", "2"},
                  {"copies", "2"},
                  {"moved between memories", "4.800 kB"},
                  {"of that, needed", "4.800 kB"},
                  {"sent to neighbours", "128 B"},
                  {"cores", "32"},
                  {"GPUs", "8"},
                  {"warnings", "0"}};
  for (auto const& [words, value] : tiles) CHECK(tile_of(page, words) == value);
  CHECK(page.find("<div>numa 1 dram 64.00 GiB</div><div>gpu 0000:11:00.0</div><div>gpu 0000:12:00.0</div><div>network "
                  "0000:13:00.0</div><span class=\"core\" title=\"core 8, rank 0\"") != std::string::npos);
  std::size_t boxes = 0;
  for (auto at = page.find("<div class=\"place\""); at != page.npos; at = page.find("<div class=\"place\"", at + 1))
    ++boxes;
  CHECK(boxes == 4 + 2 + 1 + 1); // memories, packages, all cores, the node
  CHECK(page.size() < 100'000);
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
  auto const page = here.page_of(here.file("a", lines) + machine);
  auto const trace = events_of(page);
  REQUIRE(trace["kind"].size() == std::size(steps));
  for (std::size_t n = 0; n < std::size(steps); ++n) {
    CAPTURE(steps[n].copy);
    CHECK(trace["kinds"][trace["kind"][n].get<std::size_t>()][8] == steps[n].why);
  }
  CHECK(tile_of(page, "moved between memories") == "642 B");
  CHECK(tile_of(page, "of that, needed") == "342 B");
  auto const drawn = between(page, "<path class=\"repeated\" d=\"", "\"");
  CHECK(std::count(drawn.begin(), drawn.end(), 'M') == 3);
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
  auto const page = here.page_of(here.file("a", lines) + machine);
  auto const trace = events_of(page);
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
  CHECK(tile_of(page, "copies") == "140000");
  CHECK(tile_of(page, "moved between memories") == "9.800 GB");
  CHECK(page.find("Of 140000 events, those of one kind that began within ") != std::string::npos);
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
  auto const page = here.page_of(here.file("a", lines) + machine);
  CHECK(page.find("The first 1000 of 1100 rows") != std::string::npos);
  CHECK(page.find("<td>&lt;v1099></td>") < page.find("<td>&lt;v100></td>"));
  CHECK(page.find("<td>&lt;v99></td>") == std::string::npos);
}

TEST_CASE("info: a report of a trace without knobs says so; without a trace it has node and knobs") {
  folder const here;
  auto const without = here.page_of(here.file("a", {header(0, 1), copy(1, "core", 8)}));
  CHECK(without.find("Of a program that starts where this page was written") != std::string::npos);
  auto const none = here.page_of("--map 3 --by compact --keel-log-level=error");
  CHECK(events_of(none).is_null());
  CHECK(none.find("No run, only the node ") != std::string::npos);
  CHECK(none.find("Ranks are drawn where keel places them.") != std::string::npos);
  auto const map = rows_of(none, "map");
  CHECK(std::count(map.begin(), map.end(), '\n') == 3);
  CHECK(rows_of(none, "knobs").find("--keel-log-level | - | error | command line\n") != std::string::npos);
  auto const check = info("--check --map 3 --keel-log-level=error");
  std::istringstream findings(between(none, "<ul class=\"findings\">", "</ul>"));
  int count = 0;
  for (std::string item; std::getline(findings, item, '<');)
    if (auto const words = item.find(": "); item.starts_with("li") && words != item.npos && ++count > 0)
      CHECK(check.out.find(item.substr(words + 2, item.find('&', words) - words - 2)) != std::string::npos);
  CHECK(std::count(check.out.begin(), check.out.end(), '\n') == count + 1);
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
  auto const page = here.page_of(here.file("0", graph(0)) + ' ' + here.file("1", graph(1)) + machine);
  CHECK(rows_of(page, "flows") == "rhs | rhs | eta[1] owned | always | next\n");
  CHECK(page.find(", 2 ranks on n1, began ") != page.npos);
  auto const drawn = between(page, "<h3>app::step</h3>", "</svg>");
  CHECK(drawn.find(">rhs<title>rhs</title></text>") != std::string::npos);
  CHECK(drawn.find("<rect class=\"box far\"") != std::string::npos);
  CHECK(drawn.find("<path class=\"always crosses\"") != std::string::npos);
  CHECK(drawn.find("<rect", drawn.find("<rect") + 1) == std::string::npos);
  CHECK(rows_of(page, "places") == "0 | n1 | 8-9,24 | 8-9,24\n1 | n1 | 8-9,24 | 8-9,24\n");
}

TEST_CASE("info: a report refuses what it cannot use, and writes over no trace") {
  folder const here;
  auto const trace = here.file("a.0.jsonl", {header(0, 1), copy(1, "core", 8)});
  auto const before = content(here.path / "a.0.jsonl");
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
      {"x.html " + here.file("b", {header(0, 2)}), "the trace of rank 1 is missing"},
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
