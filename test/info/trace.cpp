// SPDX-License-Identifier: MIT
/// @file
/// keel-info trace from outside. Files of a real run: test/residency/trace.cpp.

#include "said.hpp"

#include <support/test.hpp>
#include <support/folder.hpp>

#include <filesystem>
#include <fstream>

using test::info, test::header;

namespace {

std::string const header0 = header(0, 2), header1 = header(1, 2), header_alone = header(0, 1);
constexpr char up[] =
    R"({"what":"copy","time":10.000,"rank":0,"variable":"eta","level":1,"component":0,"region":"everywhere",)"
    R"("from":"host","to":"cuda","bytes":800,"routine":"rhs","took":250.000})";
constexpr char down[] =
    R"({"what":"copy","time":30.500,"rank":1,"variable":"a \"b\"","level":0,"component":2,"region":"rim",)"
    R"("from":"cuda","to":"host","bytes":4000,"routine":"exchange","took":500.250})";
constexpr char sent[] =
    R"({"what":"exchange","time":40,"rank":1,"variable":"eta","level":0,"component":0,"bytes":64,"took":1.5})";
constexpr char added[] =
    R"({"what":"accumulate","time":50,"rank":1,"variable":"f","level":0,"component":0,"bytes":32,"took":1.5})";
constexpr char created[] = R"({"what":"create","time":0.100,"rank":0,"variable":"eta","memory":"cuda"})";

struct folder : test::traces {
  folder() : traces("keel-info-trace") {}
};

} // namespace

TEST_CASE("info: a trace's bytes and times are added up by variable, way and routine") {
  folder const here;
  auto const files =
      here.file("a.0.jsonl", {header0, created, up, up}) + ' ' + here.file("a.1.jsonl", {header1, down, sent, added});
  auto const heard = info("trace " + files);
  CHECK(heard.code == 0);
  CHECK(heard.out == "2 ranks\n"
                     "  variable  way                      routine     times  bytes  ms\n"
                     "  a \"b\"     cuda to host             exchange    1      4000   0.500\n"
                     "  eta       host to cuda             rhs         2      1600   0.500\n"
                     "  eta       this rank to neighbours  exchange    1      64     0.002\n"
                     "  f         this rank to neighbours  accumulate  1      32     0.002\n"
                     "  all       cuda to host             all         1      4000   0.500\n"
                     "  all       host to cuda             all         2      1600   0.500\n"
                     "  all       this rank to neighbours  all         2      96     0.003\n");
  CHECK(info("trace " + here.file("none.jsonl", {header_alone})).out == "1 rank: nothing was copied\n");
}

namespace {

void refused(std::string const& arguments, std::string const& words) {
  auto const heard = info("trace " + arguments);
  CHECK(heard.code == 2);
  CHECK(heard.out.empty());
  CHECK_MESSAGE(heard.err.find(words) != std::string::npos, heard.err);
  CHECK(heard.err.size() < 400);
}

} // namespace

TEST_CASE("info: what is not a trace is refused with file, line and reason") {
  folder const here;
  refused("", "keel::info: no trace to read.");
  refused("--loud x", "unknown option --loud");
  refused("/nowhere.jsonl", "/nowhere.jsonl is not read (No such file or directory)");
  refused(here.path, here.path.string() + " is not read (Is a directory)");
  refused(here.cut("empty", {}), "empty is empty.");
  refused(here.file("other", {"{\"a\":1}"}), "other is not understood (it is not the header of a trace)");
  auto const first = [&](char const* name, std::string const& line, std::string const& why) {
    refused(here.file(name, {line}), "line 1 of " + (here.path / name).string() + " is not understood (" + why);
  };
  first("text", "hello", "it is not JSON at column 1)");
  first("array", "[1]", "it is not an object)");
  first("older", R"({"keel":"trace","version":3,"rank":0,"begin":1})",
        "it is of version 3, and this program reads version 4)");
  first("beyond", header(3, 2), "rank is not below ranks)");
  auto const second = [&](char const* name, std::string const& line, std::string const& why) {
    refused(here.file(name, {header_alone, line}),
            "line 2 of " + (here.path / name).string() + " is not understood (" + why);
  };
  second("cut", std::string(up).substr(0, 100), "the line ends early)");
  second("lacks", R"({"what":"copy","time":1,"rank":0})", "it has no variable)");
  second("kind", R"({"what":7})", "what is not a text)");
  second("deep", R"({"what":{}})", "what is not a text)");
  second("more", std::string(created) + " x", "it is not JSON at column ");
  second("zero", std::string(created) + std::string("\0{}", 3), "there is a zero byte at column ");
  second("strange", R"({"what":"dance"})", "what is 'dance', which no trace has)");
}

TEST_CASE("info: a number of a trace that is none, or out of range, is refused with file and line") {
  folder const here;
  auto const with = [](std::string line, std::string const& old, std::string const& now) {
    auto const at = line.find(old);
    REQUIRE(at != line.npos);
    return line.replace(at, old.size(), now);
  };
  auto const refuses = [&](std::string const& line, std::string const& why) {
    CAPTURE(line);
    refused(here.file("number", {header_alone, line}),
            "line 2 of " + (here.path / "number").string() + " is not understood (" + why);
  };
  for (char const* bad : {"-10", "1e30", "1.5", "9007199254740993", "99999999999999999999", "\"7\""})
    refuses(with(up, "\"bytes\":800", "\"bytes\":" + std::string(bad)),
            "bytes is not a whole number from 0 to 9007199254740992)");
  for (char const* bad : {"nan", "inf", "-inf", "5.", "01", "0x10", "+1", ".5"})
    refuses(with(up, "\"bytes\":800", "\"bytes\":" + std::string(bad)), "it is not JSON at column ");
  for (char const* bad : {"-0.5", "1e16", "1e300"})
    refuses(with(up, "\"took\":250.000", "\"took\":" + std::string(bad)),
            "took is not a number of microseconds from 0 to 1e15)");
  for (char const* bad : {"1e10", "-1", "99999999999"})
    refuses(with(up, "\"rank\":0", "\"rank\":" + std::string(bad)), "rank is not a whole number from 0 to ");
  refuses(with(up, "\"bytes\":800", "\"bytes\":1e999"), "it is not JSON, a number is out of range)");
  refuses(with(up, "\"rank\":0", "\"rank\":1"), "rank is not that of the header)");
  refuses(with(up, "\"level\":1", "\"level\":4294967296"), "level is not a whole number from 0 to 2147483647)");
  refuses(with(up, "eta", "\\u0zzz"), "it is not JSON at column ");
  refuses(with(up, "eta", "\xff"), "it is not JSON at column ");
  std::vector<std::string> many(3000, with(up, "\"bytes\":800", "\"bytes\":9007199254740992"));
  many.insert(many.begin(), header_alone);
  refused(here.file("sum", many), "the bytes of a variable are more than 2^64.");
}

TEST_CASE("info: of a process that was killed what it wrote is added up, and the ranks are named, with exit code 1") {
  folder const here;
  auto const files = here.cut("0", {header(0, 3), up}) + ' ' + here.file("1", {header(1, 3), down}) + ' ' +
                     here.cut("2", {header(2, 3)});
  for (auto const& what : {std::string("trace "), "report " + (here.path / "x.html").string() + ' '}) {
    CAPTURE(what);
    auto const heard = info(what + files);
    CHECK(heard.code == 1);
    CHECK(heard.err.starts_with("keel::info: the traces of ranks 0,2 have no last line (a process was killed, or"));
  }
  CHECK(info("trace " + files).out.find("host to cuda  rhs       1      800") != std::string::npos);
  CHECK(keel::test::content(here.path / "x.html").find("ranks 0,2 have no last line") != std::string::npos);
  auto const one = here.file("3", {header(1, 3), down});
  auto const whole = info("trace --force " + one);
  CHECK(whole.code == 0);
  CHECK(whole.err.empty());
  std::ofstream(one, std::ios::app) << down << '\n';
  CHECK(info("trace --force " + one).err.find("it is after the last one") != std::string::npos);
}

TEST_CASE("info: a trace is shown without what a terminal obeys, quoted in short, and read from a pipe") {
  folder const here;
  auto const loud = here.file(
      "loud",
      {header_alone, R"({"what":"copy","time":1,"rank":0,"variable":"\u001b[31mred\u009b\u0007","level":0,)"
                     R"("component":0,"region":"core","from":"a","to":"b","bytes":1,"routine":"\u00fc","took":1})"});
  auto const heard = info("trace " + loud);
  CHECK(heard.code == 0);
  CHECK(heard.out.find("?[31mred???  a to b  \xc3\xbc") != std::string::npos);
  refused(here.file("escape", {header_alone, "{\"what\":\"\\u001b[2J\"}"}), "what is '?[2J', which");
  refused(here.file("long", {header_alone, "{\"what\":\"" + std::string(500000, 'x') + "\"}"}),
          "what is '" + std::string(80, 'x') + "...', which");
  refused(here.file("longer", {header_alone, "{\"what\":\"" + std::string(50 << 20, 'x') + "\"}"}),
          "is not understood (it is longer than 1 MiB)");
  refused("/dev/full", "line 1 of /dev/full is not understood (it is longer than 1 MiB)"); // which has no end
  CHECK(info("trace /dev/stdin", "cat " + loud + " |").out == heard.out);
}

TEST_CASE("info: only the traces of one run are added up, each once, unless --force says so") {
  folder const here;
  auto const zero = here.file("a.0.jsonl", {header0, up}), one = here.file("a.1.jsonl", {header1});
  auto const other = here.file("b.1.jsonl", {header(1, 2, "", "00000000000000bb")});
  auto const later = here.file("a.0.2.jsonl", {header(0, 2, "", "00000000000000aa", 2), up});
  auto const more = here.file("a.1.2.jsonl", {header(1, 3)}), unknown = here.file("c.jsonl", {header(5, 0)});
  auto const again = (here.path / ".." / here.path.filename() / "a.0.jsonl").string();
  struct {
    std::string files, words;
  } const wrong[]{
      {zero, "the trace of rank 1 is missing (the run of " + zero +
                 " had 2). Name their files, or add up what is here with --force."},
      {zero + ' ' + one + ' ' + zero,
       zero + " and " + zero + " are one trace (both are of rank 0). Leave one out, or add"},
      {zero + ' ' + one + ' ' + again, again + " and " + zero + " are one trace (both are of rank 0)"},
      {zero + ' ' + other,
       other + " is of another run than " + zero + " (run 00000000000000bb and run 00000000000000aa). Leave it out"},
      {zero + ' ' + one + ' ' + later, "the trace of rank 1 is missing (the run of " + later + " had 2)"},
      {zero + ' ' + more, more + " and " + zero + " do not agree on the number of ranks (3 and 2)"},
      {here.file("many", {header(0, 20)}), "the traces of ranks 1-19 are missing"},
  };
  for (auto const& w : wrong) {
    CAPTURE(w.words);
    auto const heard = info("trace " + w.files);
    CHECK(heard.code == 2);
    CHECK_MESSAGE(heard.err.find(w.words) != std::string::npos, heard.err);
    CHECK(info("trace --force " + w.files).code == 0);
  }
  CHECK(info("trace " + zero + ' ' + one).code == 0);
  CHECK(info("trace " + unknown).code == 0);
  CHECK(info("trace --force " + zero + ' ' + zero).out.find("host to cuda  all      2      1600") != std::string::npos);
}
