// SPDX-License-Identifier: MIT
#include <keel/machine/end.hpp>

#include <keel/machine/alone.hpp>
#include <keel/machine/mpi.hpp>

#include <support/test.hpp>
#include <support/said_to_stderr.hpp>

#include <chrono>
#include <ctime>
#include <thread>

#include <unistd.h>

// A rank that never comes is a job that is aborted: test/device/programs.cpp.

namespace km = keel::machine;

namespace {
std::string option() { return "--end"; }
// A destructor waits, so what allocates may be asked for only where something is told.
std::string not_needed() {
  FAIL("the option is named, and nothing is told");
  return {};
}
} // namespace

TEST_CASE("machine: ranks meet at the end without a word, with a limit and without") {
  km::environment const world;
  for (auto const limit : {std::optional<std::chrono::seconds>{}, std::optional{std::chrono::seconds{30}}}) {
    km::finalize_barrier<km::mpi> end{world};
    std::string const said = keel::test::said_to_stderr([&] { end.wait(limit, not_needed); });
    CHECK(said == "");
  }
  km::finalize_barrier<km::alone>{km::basic_environment<km::alone>{}}.wait({}, not_needed);
}

TEST_CASE("machine: a rank that comes late is waited for, and the rank that waits says so after a while") {
  km::environment const world;
  if (world.size() == 1) return;
  km::finalize_barrier<km::mpi> end{world};
  if (world.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1200});
  auto const begun = std::clock();
  std::string const said = keel::test::said_to_stderr([&] { end.wait({}, option, std::chrono::milliseconds{300}); });
  CHECK(std::clock() - begun < CLOCKS_PER_SEC / 2); // of 1.2 s: it sleeps between its looks
  CHECK((said.find("rank 1 has ended and rank 0 has not") != std::string::npos) == (world.rank() == 1));
  CHECK((said.find("--end=N ends the job after N seconds.") != std::string::npos) == (world.rank() == 1));
}

TEST_CASE("machine: what is said before a job is ended has been read by then") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(stderr);
  int const kept = dup(2);
  dup2(ends[1], 2);
  std::string read_before(200, ' ');
  auto const begun = std::chrono::steady_clock::now();
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    read_before.resize(std::size_t(read(ends[0], read_before.data(), read_before.size())));
  });
  km::detail::say_before_abort("keel::test: over", 1, 4, 7);
  auto const waited = std::chrono::steady_clock::now() - begun;
  dup2(kept, 2);
  reader.join();
  for (int const one : {ends[0], ends[1], kept}) close(one);
  CHECK(read_before.find("keel::test: over [rank 1 of 4 on host ") == 0);
  CHECK(waited >= std::chrono::milliseconds{100});
}
