// SPDX-License-Identifier: MIT
/// @file
/// keel-info where an allocation or a write fails, at each place: it is right, or it ends with exit code 2 and a
/// reason.

#include "said.hpp"

#include <support/test.hpp>

#include <support/failing.hpp>
#include <support/folder.hpp>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using keel::test::content, keel::test::failing_call, keel::test::fail_one_by_one;

namespace {

struct folder : keel::test::folder {
  folder() : keel::test::folder("keel-info-failing") {}
  std::string operator/(char const* name) const { return path / name; }
};

constexpr char traced[] =
    R"({"keel":"trace","version":4,"run":"0000000000000001","part":1,"rank":0,"ranks":1,"begin":1})"
    "\n"
    R"({"what":"copy","time":10.000,"rank":0,"variable":"eta","level":1,"component":0,"region":"core",)"
    R"("from":"host","to":"cuda","bytes":800,"routine":"a routine with a long name","took":250.000})"
    "\n"
    R"({"what":"end","time":300,"rank":0})"
    "\n";

/// Each write that fails, in a run of keel-info that writes `written`.
void fails_well(std::string const& arguments, std::string const& written, folder const& here) {
  auto const right = test::info(arguments);
  REQUIRE(right.code == 0);
  auto const whole = content(written);
  REQUIRE(!whole.empty());
  test::said heard;
  std::uint64_t refused = 0;
  auto const calls = fail_one_by_one(
      failing_call::file, here / "numbers",
      [&](std::string const& variables) {
        std::ofstream{written} << "old";
        heard = test::info(arguments, variables);
      },
      [&](std::uint64_t n) {
        CAPTURE(n);
        CAPTURE(heard.err);
        auto const now = content(written);
        CHECK((now == whole || now == "old"));
        if (heard.code == 0) {
          CHECK(heard.out == right.out);
          CHECK(now == whole);
        } else {
          ++refused;
          CHECK(heard.code == 2);
          CHECK(heard.out.empty());
          CHECK(heard.err.find("keel::") != std::string::npos);
          CHECK(heard.err.find("not a topology") == std::string::npos);
          CHECK(heard.err.find(" (") != std::string::npos); // a reason
          CHECK(heard.err.ends_with("\n"));
        }
        fs::remove(written);
        CHECK(std::distance(fs::directory_iterator{here.path}, {}) ==
              (arguments.find(".jsonl") != std::string::npos ? 2 : 1));
      });
  CHECK(calls >= 4);
  CHECK(refused > 0);
}

} // namespace

TEST_CASE("info: where a disk runs out at any place it says so, and what it wrote is whole or old") {
  if (!keel::test::calls_can_fail) return keel::test::skip("sanitizers allocate for themselves");
  folder const here;
  auto const page = here / "page.html", trace = here / "a.0.jsonl";
  std::ofstream{trace} << traced;
  fails_well("report " + page + ' ' + trace + " --xml '" KEEL_TEST_DATA "/no_io.xml'", page, here);
}

TEST_CASE("info: where memory runs out while a machine or a trace is read it ends with a code and a reason") {
  if (!keel::test::calls_can_fail) return keel::test::skip("sanitizers allocate for themselves");
  folder const here;
  auto const trace = here / "a.0.jsonl";
  std::ofstream{trace} << traced;
  struct {
    std::string arguments;
    bool is_whole; ///< what is printed, because hwloc leaves out of this machine what it has no memory for
    int refused;
  } const runs[]{{"", false, KEEL_REFUSED},
                 {"--json --map 2 --xml '" KEEL_TEST_DATA "/no_io.xml'", true, 100},
                 {"trace " + trace, true, 30}};
  for (auto const& run : runs) {
    CAPTURE(run.arguments);
    auto const right = test::info(run.arguments);
    test::said heard;
    int refused = 0;
    fail_one_by_one(
        failing_call::allocation, here / "numbers",
        [&](std::string const& variables) { heard = test::info(run.arguments, variables); },
        [&](std::uint64_t n) {
          CAPTURE(n);
          CAPTURE(heard.err);
          CHECK((heard.code == 0 || heard.code == 2));
          CHECK((heard.code == 0 ? !run.is_whole || heard.out == right.out : heard.out.empty()));
          CHECK((heard.code == 0 || (heard.err.find("keel::") != std::string::npos && heard.err.ends_with("\n"))));
          CHECK(heard.err.find("terminate called") == std::string::npos);
          CHECK(heard.err.find("not a topology") == std::string::npos);
          refused += heard.code == 2 ? 1 : 0;
        });
    CHECK(refused >= run.refused);
  }
}
