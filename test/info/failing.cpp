// SPDX-License-Identifier: MIT
/// @file
/// keel-info where an allocation or a write fails, at each place: it is right, or it ends with exit code 2 and a
/// reason.

#include "said.hpp"

#include <support/test.hpp>

#include <support/failing.hpp>
#include <support/folder.hpp>

#include <cstdlib>
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

/// A run of keel-info of which each call of a kind fails in turn.
struct failing_run {
  failing_call kind;
  std::string arguments, written; ///< the file that it writes, if any
  int refused = 1;                ///< times that it ends with a reason, at least
  bool is_whole = true;           ///< what it prints; hwloc leaves out of this machine what it has no memory for
};

void fails_well(failing_run const& run, folder const& here) {
  CAPTURE(run.arguments);
  auto const right = test::info(run.arguments);
  REQUIRE(right.code == 0);
  auto const whole = content(run.written);
  REQUIRE(whole.empty() == run.written.empty());
  test::said heard;
  int refused = 0;
  fail_one_by_one(
      run.kind, here / "numbers",
      [&](std::string const& variables) {
        if (!run.written.empty()) std::ofstream{run.written} << "old";
        heard = test::info(run.arguments, variables);
      },
      [&](std::uint64_t n) {
        CAPTURE(n);
        CAPTURE(heard.err);
        auto const now = content(run.written);
        CHECK((now == whole || now == "old"));
        CHECK(heard.err.find("not a topology") == std::string::npos);
        CHECK(heard.err.find("terminate called") == std::string::npos);
        if (heard.code == 0) {
          CHECK((!run.is_whole || heard.out == right.out));
          CHECK(now == whole);
        } else {
          ++refused;
          CHECK(heard.code == 2);
          CHECK(heard.out.empty());
          CHECK(heard.err.find("keel::") != std::string::npos);
          CHECK(heard.err.find(" (") != std::string::npos); // a reason
          CHECK(heard.err.ends_with("\n"));
        }
        fs::remove(run.written);
        CHECK(std::distance(fs::directory_iterator{here.path}, {}) == 2); // the numbers and the trace
      });
  CHECK(refused >= run.refused);
}

} // namespace

TEST_CASE("info: where memory or a disk runs out at any place it says so, and what it wrote is whole or old") {
  if (!keel::test::calls_can_fail) return keel::test::skip("sanitizers allocate for themselves");
  // Without its components for X and OpenCL, as hwloc's plugins have them: there glibc waits for ever, or ends the
  // program, where a name server's or a thread's data find no memory.
  setenv("HWLOC_COMPONENTS", "-gl,-opencl", 1);
  folder const here;
  auto const page = here / "page.html", trace = here / "a.0.jsonl";
  std::ofstream{trace} << traced;
  std::string const machine = " --xml '" KEEL_TEST_DATA "/no_io.xml'";
  for (failing_run const& run : {failing_run{failing_call::file, "report " + page + ' ' + trace + machine, page},
                                 {failing_call::allocation, "trace " + trace, "", 30},
                                 {failing_call::allocation, "", "", KEEL_REFUSED, false},
                                 {failing_call::allocation, "--json --map 2" + machine, "", 100}})
    fails_well(run, here);
}
