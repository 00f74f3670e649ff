// SPDX-License-Identifier: MIT
// Runs ministag: the same bits however it runs, exact answers, no byte too many.
#include <support/program.hpp>

#include <support/test.hpp>

namespace {

using namespace program_test;

std::vector<std::string> const problems{"sod", "blast"};

/// The last state. No number of ranks divides the grid.
std::string state_of(int ranks, std::string const& problem, std::string const& more, bool sends = false) {
  folder const here;
  auto const o =
      run_well("ministag", ranks, "--problem " + problem + " --grid 50x26 --steps 12 --dump state " + more, here.path);
  CHECK(o.figure("bytes sent") == o.figure("least"));
  CHECK((o.figure("bytes sent") > 0) == sends);
  return content(here / "state");
}

} // namespace

TEST_CASE("ministag: the bits are those of the kernels by hand, on every device") {
  for (auto const& problem : problems) {
    auto const state = state_of(1, problem, std::string("--by-hand --keel-device ") + host);
    CHECK(state.size() == (2 * 50 * 26 + 51 * 26 + 50 * 27) * sizeof(double));
    for (std::string const device : {"tbb", "simulated"})
      CHECK(state == state_of(1, problem, "--by-hand --keel-device " + device));
    CHECK(state == state_of(1, problem, "--by-hand=rows"));
  }
}

TEST_CASE("ministag: the bits depend neither on ranks, blocks nor devices, and no byte too many is sent") {
  if (!has_ranks) return keel::test::skip("no MPI");
  for (auto const& problem : problems) {
    auto const alone = state_of(1, problem, std::string("--keel-device ") + host);
    for (std::string const blocks : {"1", "4"})
      for (int ranks : {1, 2, 3, 4})
        for (std::string const device : {host, "tbb", "simulated"}) {
          INFO(problem << " on " << ranks << " ranks, " << blocks << " blocks each, " << device);
          CHECK(alone == state_of(ranks, problem, "--blocks " + blocks + " --keel-device " + device, ranks > 1));
        }
  }
}

TEST_CASE("ministag: the exact answers are met") {
  folder const here;
  auto const sod = run_well("ministag", 1, "--grid 400x3", here.path);
  CHECK(sod.figure("error") < 0.0022);
  CHECK(sod.figure("mass") < 1e-12);
  CHECK(sod.figure("energy") < 1e-3);
  auto const blast = run_well("ministag", 1, "--problem blast --grid 80x80", here.path);
  CHECK(blast.figure("error") < 0.035);
  CHECK(blast.figure("mass") < 1e-12);
}

TEST_CASE("ministag: input that cannot be used is refused") {
  folder const here;
  auto const text = [&](std::string const& options) {
    auto const o = run("ministag", 1, options, here.path);
    CHECK(o.code == 2);
    return o.err;
  };
  CHECK(text("--problem noh") == "ministag: --problem noh is not known (there are sod and blast). Take one.\n");
  CHECK(text("--grid 50").find("--grid 50 cannot be used") != std::string::npos);
  CHECK(text("--steps 1.5").find("--steps 1.5 cannot be used") != std::string::npos);
  CHECK(text("--time 1").find("--time is above 0.25") != std::string::npos);
  CHECK(text("--step 5") == "ministag: --step is not known (ministag has no such option). See --help.\n");
  CHECK(run_well("ministag", 1, "--help", here.path).out.starts_with("usage: ministag"));
}
