// SPDX-License-Identifier: MIT
/// @file
/// keel-info trace from outside. Files of a real run: test/residency/trace.cpp.

#include "said.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

using nlohmann::json;
using test::info;

namespace {

constexpr char header0[] = R"({"keel":"trace","version":1,"rank":0,"begin":1763724151000000})";
constexpr char header1[] = R"({"keel":"trace","version":1,"rank":1,"begin":1763724151000500})";
constexpr char up[] = R"({"what":"copy","time":10.000,"rank":0,"variable":"eta","level":1,"component":0,"region":"everywhere",)"
                      R"("from":"host","to":"cuda","bytes":800,"routine":"rhs","took":250.000})";
constexpr char down[] = R"({"what":"copy","time":30.500,"rank":1,"variable":"a \"b\"","level":0,"component":2,"region":"rim",)"
                        R"("from":"cuda","to":"host","bytes":4000,"routine":"exchange","took":500.250})";
constexpr char sent[] = R"({"what":"exchange","time":40,"rank":1,"variable":"eta","level":0,"component":0,"bytes":64,"took":1.5})";
constexpr char created[] = R"({"what":"create","time":0.100,"rank":0,"variable":"eta","memory":"cuda"})";

struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("keel-info-trace-" + std::to_string(getpid()));
  folder() { std::filesystem::create_directories(path); }
  ~folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string file(char const* name, std::initializer_list<std::string> lines) const {
    std::ofstream out(path / name);
    for (auto const& line : lines) out << line << '\n';
    return path / name;
  }
};

} // namespace

TEST_CASE("info: a trace's bytes and times are added up by variable, way and routine") {
  folder const here;
  auto const files = here.file("a.0.jsonl", {header0, created, up, up}) + ' ' + here.file("a.1.jsonl", {header1, down, sent});
  auto const heard = info("trace " + files);
  CHECK(heard.code == 0);
  CHECK(heard.out == "2 ranks\n"
                     "  variable  way                      routine   times  bytes  ms\n"
                     "  a \"b\"     cuda to host             exchange  1      4000   0.500\n"
                     "  eta       host to cuda             rhs       2      1600   0.500\n"
                     "  eta       this rank to neighbours  exchange  1      64     0.002\n"
                     "  all       cuda to host             all       1      4000   0.500\n"
                     "  all       host to cuda             all       2      1600   0.500\n"
                     "  all       this rank to neighbours  all       1      64     0.002\n");
  CHECK(info("trace " + here.file("none.jsonl", {header0})).out == "1 rank: nothing was copied\n");
}

TEST_CASE("info: a trace becomes events that tracing tools draw, on one clock") {
  folder const here;
  auto const files = here.file("a.0.jsonl", {header0, up}) + ' ' + here.file("a.1.jsonl", {header1, down, sent});
  auto const drawn = (here.path / "drawn.json").string();
  auto const heard = info("trace " + files + " --chrome " + drawn);
  CHECK(heard.code == 0);
  CHECK(heard.out.empty());
  auto const document = json::parse(std::ifstream{drawn});
  std::vector<json> events, names;
  for (auto const& e : document["traceEvents"]) (e["ph"] == "X" ? events : names).push_back(e);
  REQUIRE(events.size() == 3);
  CHECK(events[0]["name"] == "eta[1] everywhere");
  CHECK(events[0]["pid"] == 0);
  CHECK(events[0]["ts"] == 10.0);
  CHECK(events[0]["dur"] == 250.0);
  CHECK(events[0]["args"]["bytes"] == 800);
  CHECK(events[1]["name"] == "a \"b\"[0] rim");
  CHECK(events[1]["ts"] == 530.5); // the second file began 500 microseconds later
  CHECK(events[1]["cat"] == "exchange");
  CHECK(events[2]["pid"] == 1);
  CHECK(names.size() == 3 + 2);
  for (auto const& e : events)
    CHECK(std::count_if(names.begin(), names.end(), [&](auto const& n) { return n["name"] == "thread_name" && n["tid"] == e["tid"] && n["pid"] == e["pid"]; }) == 1);
}

TEST_CASE("info: what is not a trace is refused with file, line and reason") {
  folder const here;
  auto const refused = [&](std::string const& arguments, std::string const& words) {
    auto const heard = info("trace " + arguments);
    CHECK(heard.code == 2);
    CHECK(heard.out.empty());
    CHECK_MESSAGE(heard.err.find(words) != std::string::npos, heard.err);
  };
  refused("", "keel::info: no trace to read.");
  refused("--loud x", "unknown option --loud");
  refused("x --chrome", "--chrome has no value");
  refused("/nowhere.jsonl", "/nowhere.jsonl is not read (No such file or directory)");
  refused(here.file("empty", {}), "empty is empty.");
  refused(here.file("other", {"{\"a\":1}"}), "other is not understood (it is not the header of a trace)");
  refused(here.file("text", {"hello"}), "line 1 of " + (here.path / "text").string() + " is not understood ('{' is missing, at column 1)");
  refused(here.file("newer", {R"({"keel":"trace","version":2,"rank":0,"begin":1})"}), "a version that this program does not know");
  refused(here.file("cut", {header0, std::string(up).substr(0, 100)}), "line 2 of " + (here.path / "cut").string() +
                                                                      " is not understood (the line ends early");
  refused(here.file("lacks", {header0, R"({"what":"copy","time":1,"rank":0})"}), "(it has no variable)");
  refused(here.file("kind", {header0, R"({"what":7})"}), "(what is not a text)");
  refused(here.file("twice", {header0, R"({"what":"copy","what":"copy"})"}), "(what stands there twice, at column");
  refused(here.file("deep", {header0, R"({"what":{}})"}), "(neither a text nor a number, at column 9)");
  refused(here.file("more", {header0, std::string(created) + " x"}), "(something follows the object");
  refused(here.file("strange", {header0, R"({"what":"dance"})"}), "(nobody knows what dance is)");
  refused(here.file("good", {header0}) + " --chrome /nowhere/x.json", "/nowhere/x.json cannot be written");
}

TEST_CASE("info: --chrome does not write over a trace, and a full disk leaves the old file") {
  folder const here;
  auto const trace = here.file("a.0.jsonl", {header0, up}), old = here.file("drawn.json", {"old"});
  auto const heard = info("trace " + trace + " --chrome " + trace);
  CHECK(heard.code == 2);
  CHECK(heard.err == "keel::info: " + trace + " cannot be written (it is the input " + trace + "). Name another file?\n");
  CHECK(std::filesystem::file_size(trace) == std::strlen(header0) + std::strlen(up) + 2);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const full{200, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  auto const cut = info("trace " + trace + " --chrome " + old);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(cut.code == 2);
  CHECK(cut.err.find(old + " cannot be written (File too large)") != std::string::npos);
  CHECK(std::filesystem::file_size(old) == 4);
  CHECK(std::distance(std::filesystem::directory_iterator(here.path), {}) == 2);
}
