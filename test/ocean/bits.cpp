// SPDX-License-Identifier: MIT
#include <support/program.hpp>

#include <support/test.hpp>

namespace {

using namespace program_test;

/// eta, u and v of the whole grid after some steps. The extents divide by no number of ranks.
std::string state_of(std::string const& program, int ranks, std::string const& which, std::string const& more = {}) {
  folder const here;
  run_well(program, ranks, "--case " + which + " --grid 37x29 --layers 5 --steps 25 --no-output --dump state " + more,
           here.path);
  return content(here / "state");
}

std::vector<std::string> const cases{"wave", "jet", "shear"};
constexpr std::size_t bytes = 37 * 29 * (1 + 2 * 5) * sizeof(double);

} // namespace

TEST_CASE("ocean: the bits are those of the model written by hand") {
  folder const here;
  for (auto const& which : cases)
    for (int const ranks : {1, has_ranks ? 4 : 1})
      for (std::string const device : {host, "simulated"})
        CHECK(run_well("ocean", ranks,
                       "--by-hand --case " + which + " --grid 37x29 --layers 5 --steps 25 --keel-device " + device,
                       here.path)
                  .out.find("bits the same") != std::string::npos);
}

TEST_CASE("ocean: the bits are the same on the host and on the simulated device") {
  for (auto const& which : cases)
    CHECK(state_of("ocean", 1, which) == state_of("ocean", 1, which, "--keel-device simulated"));
}

TEST_CASE("ocean: the bits do not depend on the ranks, on either device") {
  if (!has_ranks) return keel::test::skip("no MPI");
  for (std::string const which : {"wave", "jet"}) { // periodic, and with walls
    auto const alone = state_of("ocean", 1, which);
    CHECK(alone.size() == bytes);
    for (int ranks : {2, 4}) {
      CHECK(alone == state_of("ocean", ranks, which));
      CHECK(alone == state_of("ocean", ranks, which, "--keel-device simulated"));
    }
  }
}

TEST_CASE("ocean: the bytes moved between memories are the bytes necessary") {
  folder const here;
  for (std::string const which : {"wave", "jet"})
    for (std::string const output : {"--no-output", "--output-every 3", "--output-every 25"}) {
      if (!PROGRAM_HDF5 && output != "--no-output") continue;
      auto const options = "--keel-device simulated --case " + which + " --grid 37x29 --layers 5 --steps 25 " + output;
      auto const o = run_well("ocean", has_ranks ? 2 : 1, options, here.path);
      CHECK(o.figure("bytes moved") > 0.18); // two levels up, and what is written down // MB: of two ranks, or of one
      CHECK(o.figure("bytes moved") == o.figure("bytes necessary"));
    }
  auto const o = run_well("ocean", 1, "--grid 37x29 --layers 5 --steps 25 --no-output", here.path);
  CHECK(o.figure("bytes moved") == 0);
  CHECK(o.figure("bytes necessary") == 0);
}

TEST_CASE("ocean: the cases differ, and so do their steps") {
  CHECK(state_of("ocean", 1, "wave") != state_of("ocean", 1, "jet"));
  CHECK(state_of("ocean", 1, "wave") != state_of("ocean", 1, "wave", "--steps 26"));
}
