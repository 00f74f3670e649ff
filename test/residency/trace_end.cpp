// SPDX-License-Identifier: MIT
/// @file
/// The end of a trace as a program's user sees it: on standard error and in the exit code.
#include <support/test.hpp>

#include <support/failing.hpp>
#include <support/shell.hpp>

#include <filesystem>

#include <sys/resource.h>

namespace fs = std::filesystem;

namespace {

using keel::test::outcome;

/// A folder of its own, gone at the end.
struct folder : keel::test::folder {
  /// Runs traced_program.cpp, whose trace is `run.0.jsonl` here.
  [[nodiscard]] outcome run(std::string const& then, std::string const& variables = {},
                            std::string const& program = KEEL_TRACED_PROGRAM) const {
    auto const trace = path / "run.0.jsonl";
    if (fs::is_regular_file(fs::symlink_status(trace))) fs::remove(trace);
    std::string const options = " --keel-trace-file=" + (path / "run").string();
    return keel::test::shell(variables + " " + program + " " + then + options);
  }
};

} // namespace

TEST_CASE("residency: a trace whose end is lost is told, with exit code 2, whatever main returns") {
  folder const here;
  auto const trace = here.path / "run.0.jsonl";
  std::string const lost = "keel::residency::traced: the trace " + trace.string() +
                           " is not whole (No space left on device). Make room for it.\n";
  CHECK(here.run("").code == 0);
  CHECK(here.run("one").code == 1);
  CHECK(keel::test::content(trace).find("{\"what\":\"end\"") != std::string::npos);
  fs::remove(trace);
  fs::create_symlink("/dev/full", trace); // what is written is kept until the end, and lost there
  for (char const* then : {"", "one"}) {
    CAPTURE(then);
    auto const ended = here.run(then);
    CHECK(ended.code == 2);
    CHECK(ended.err == lost);
  }
  auto const thrown = here.run("throw");
  CHECK(thrown.code == 2);
  CHECK(thrown.err == lost + "the program's own error\n");
  auto const early = here.run("long"); // lost by a line in the middle: thrown, and told once
  CHECK(early.code == 2);
  CHECK(early.err == lost);
}

TEST_CASE("residency: a disk that is full at any byte of a trace gives exit code 2 and a reason") {
  folder const here;
  auto const trace = here.path / "run.0.jsonl";
  REQUIRE(here.run("long").code == 0);
  auto const whole = fs::file_size(trace);
  CHECK(whole > 8192);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (rlim_t room = 1000; room < whole; room += 1 + whole / 12) {
    CAPTURE(room);
    rlimit const full{room, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
    auto const ended = here.run("long");
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(ended.code == 2);
    CHECK(ended.err == "keel::residency::traced: the trace " + trace.string() +
                           " is not whole (File too large). Make room for it.\n");
  }
}

TEST_CASE("residency: a traced program is right or ends with code 2 and a reason, whichever allocation fails") {
  if (!keel::test::calls_can_fail) return keel::test::skip("sanitizers allocate for themselves");
  folder const here;
  for (char const* then : {"", "mesh"}) {
    CAPTURE(then);
    outcome ended;
    int refused = 0;
    auto const calls = keel::test::fail_one_by_one(
        keel::test::failing_call::own_allocation, here.path / "numbers",
        [&](std::string const& variables) { ended = here.run(then, variables); },
        [&](std::uint64_t n) {
          CAPTURE(n);
          CAPTURE(ended.err);
          if (ended.code != 0 && keel::test::ended_by_library(ended.err)) return;
          CHECK((ended.code == 0 || ended.code == 2));
          CHECK(ended.err.empty() == (ended.code == 0));
          refused += ended.code == 2 ? 1 : 0;
        });
    CHECK(calls > 100);
    CHECK(refused > 50);
  }
}

TEST_CASE("residency: whichever copy fails, a traced program ends with code 2, and its trace is whole") {
  if (!keel::test::calls_can_fail) return keel::test::skip("sanitizers allocate for themselves");
  folder const here;
  for (std::string const then : {"", "mesh"}) {
    CAPTURE(then);
    outcome ended;
    auto const calls = keel::test::fail_one_by_one(
        keel::test::failing_call::copy, here.path / "numbers",
        [&](std::string const& variables) { ended = here.run(then, variables); },
        [&](std::uint64_t n) {
          CAPTURE(n);
          CAPTURE(ended.err);
          CHECK(ended.code == 2);
          CHECK(ended.err.find("a copy that a test lets fail") != std::string::npos);
          // The first is the program's own; those of elements that move are of no variable.
          CHECK((n == 1 || then == "mesh" || ended.err.starts_with("keel::residency: a copy of heat, ")));
          std::string const trace = keel::test::content(here.path / "run.0.jsonl");
          CHECK(trace.ends_with("}\n"));
        });
    CHECK(calls == (then == "mesh" ? 8 : 7));
  }
}

TEST_CASE("residency: a traced program on two ranks ends with code 2 and a reason, whichever message fails") {
  if (!keel::test::calls_can_fail) return keel::test::skip("sanitizers allocate for themselves");
  std::string const on_ranks = KEEL_TRACED_ON_RANKS;
  if (on_ranks.empty()) return keel::test::skip("no MPI in this build");
  folder const here;
  // The launcher itself must not load the library.
  auto const program = on_ranks.substr(0, on_ranks.find('\'')), path = on_ranks.substr(program.size());
  auto const run = [&](std::string const& then, std::string const& variables = {}) {
    for (char const* rank : {"run.0.jsonl", "run.1.jsonl"}) fs::remove(here.path / rank);
    // One transport: how many messages there are must not depend on what was the fastest.
    return here.run(then, "", program + "env KEEL_EXCHANGE_THROUGH=staged " + variables + " " + path);
  };
  auto const check = [&](outcome const& ended) {
    CAPTURE(ended.code);
    CAPTURE(ended.err);
    if (ended.code != 0 && keel::test::ended_by_library(ended.err)) return;
    // UCX, below MPICH 5, can stumble over itself in MPI_Abort, after the message.
    CHECK((ended.code == 2 || ended.err.find("ucp_worker.c") != std::string::npos));
    CHECK(ended.err.find("aborts the job with code 2]") != std::string::npos);
    CHECK(ended.err.find("terminate called") == std::string::npos);
    for (char const* rank : {"run.0.jsonl", "run.1.jsonl"}) {
      std::string const trace = keel::test::content(here.path / rank);
      CHECK((trace.empty() || trace.ends_with("}\n")));
    }
  };
  for (std::string const then : {"", "mesh"}) {
    CAPTURE(then);
    outcome ended;
    auto const calls = keel::test::fail_one_by_one(
        keel::test::failing_call::message, here.path / "numbers",
        [&](std::string const& variables) { ended = run(then, variables); },
        [&](std::uint64_t n) {
          CAPTURE(n);
          check(ended);
          CHECK(ended.err.find("keel::") != std::string::npos);
        },
        8);
    CHECK(calls >= 20);
  }
  auto const left = run("'mesh gives up'");
  check(left);
  CHECK(left.err.find("the program's own error") != std::string::npos);
  CHECK(run("'mesh dies'").code != 0);               // by the launcher, which names the rank
  for (std::string const how : {"staged", "peer"}) { // between two graphs, and in one
    CHECK(run("graph --keel-device=simulated --keel-exchange-through=" + how).code == 0);
    CHECK(run("'graph dies' --keel-device=simulated --keel-exchange-through=" + how).code != 0);
  }
}

TEST_CASE("residency: the printed configuration says how the ranks cut the grid, once a job") {
  folder const here;
  auto const asked = here.run("none --keel-print-configuration");
  CHECK(asked.code == 0);
  auto const row = asked.out.find("\n  ranks_in  -  1  fields\n");
  CHECK(row != std::string::npos);
  CHECK(asked.out.find("ranks_in", row + 12) == std::string::npos);
  for (char const* other : {"none", "none --keel-print-configuration=json"})
    CHECK(here.run(other).out.find("ranks_in") == std::string::npos);
  std::string const on_ranks = KEEL_TRACED_ON_RANKS;
  if (on_ranks.empty()) return keel::test::skip("no MPI in this build");
  auto const both = here.run("none --keel-print-configuration", {}, on_ranks);
  CHECK(both.code == 0);
  auto const cut = both.out.find("\n  ranks_in  -  2  fields\n");
  CHECK(cut != std::string::npos);
  CHECK(both.out.find("ranks_in", cut + 12) == std::string::npos);
}
