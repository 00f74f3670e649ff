// SPDX-License-Identifier: MIT
/// @file
/// Ocean where an allocation fails, at each place: the run is right, or it ends with code 2 and a reason; what stands
/// on disk is whole. Copies and messages that fail: residency/trace_end.cpp. Files: the tests of store.

#include <support/program.hpp>

#include <support/test.hpp>

#include <support/failing.hpp>

using keel::test::fail_one_by_one, keel::test::failing_call;
using program_test::content, program_test::folder, program_test::outcome;

/// Each of some failures in a short run that writes a state and a dump.
TEST_CASE("ocean: where memory runs out at any place it says so with code 2, and what stands there is whole") {
  if (!keel::test::calls_can_fail) return keel::test::skip("sanitizers allocate for themselves");
  folder const here, numbers;
  std::string const options = std::string(PROGRAM_HDF5 ? "--output out --output-every 2 " : "--no-output ") +
                              "--grid 8x8 --layers 2 --steps 3 --dump dump --keel-num-threads=1";
  program_test::run_well("ocean", 1, options, here.path);
  auto const dump = content(here / "dump");
  REQUIRE(!dump.empty());
  outcome o;
  int refused = 0;
  auto const calls = fail_one_by_one(
      failing_call::own_allocation, numbers / "numbers",
      [&](std::string const& variables) {
        program_test::fs::remove_all(here / "out");
        program_test::fs::remove(here / "dump");
        // Alone, Open MPI starts a daemon, whose calls would count too.
        o = program_test::run("ocean", 1, options, here.path, variables + " OMPI_MCA_ess_singleton_isolated=1");
      },
      [&](std::uint64_t n) {
        CAPTURE(n);
        CAPTURE(o.err);
        bool const is_there = program_test::fs::exists(here / "dump");
        CHECK((!is_there || content(here / "dump") == dump));
        for (auto const& entry : program_test::fs::recursive_directory_iterator{here.path}) {
          auto const& path = entry.path();
          if (!entry.is_regular_file() || path.extension() != ".vtkhdf" || path.filename() == "eta.new.vtkhdf")
            continue;
          auto const file = content(path);
          std::uint64_t size = 0; // as the file itself has it
          REQUIRE(file.size() > 36);
          std::memcpy(&size, file.data() + 28, sizeof size);
          CHECK(size == file.size());
        }
        if (o.code == 0) {
          CHECK(is_there);
        } else if (!keel::test::ended_by_library(o.err)) {
          ++refused;
          CHECK(o.code == 2);
          CHECK((o.err.find("keel::") != std::string::npos || o.err.find("ocean: ") != std::string::npos ||
                 o.err.find("Kokkos ERROR: ") != std::string::npos || // that of a view which ocean makes itself
                 o.err.find("Kokkos failed to allocate") != std::string::npos));
          CHECK(o.err.find(" (") != std::string::npos); // a reason
          CHECK(o.err.find("terminate called") == std::string::npos);
        }
      },
      30);
  CHECK(calls >= 300);
  CHECK(refused > 0);
}
