// SPDX-License-Identifier: MIT
#include <support/program.hpp>

#include <string>

namespace {

using namespace program_test;

/// The error of `which` after the same time on a grid of n by n cells.
double error_on(std::string const& which, int n) {
  folder const here;
  auto const size = std::to_string(n);
  return run_well("ocean", 1,
                  "--case " + which + " --grid " + size + "x" + size + " --layers 4 --steps " +
                      std::to_string(n * 5 / 2) + " --no-output",
                  here.path)
      .figure("error");
}

/// Twice the cells divide the error by `factor`, or by a tenth more or less of it.
void check_order(std::string const& which, double factor) {
  double const coarse = error_on(which, 16), middle = error_on(which, 32), fine = error_on(which, 64);
  CHECK(coarse < 0.1);
  CHECK(coarse / middle == doctest::Approx(factor).epsilon(0.09));
  CHECK(middle / fine == doctest::Approx(factor).epsilon(0.09));
}

} // namespace

TEST_CASE("ocean: the error of a standing wave falls with the square of the grid's spacing") { check_order("wave", 4); }

TEST_CASE("ocean: the error of the implicit mixing falls with the time step") { check_order("shear", 2); }

TEST_CASE("ocean: no water is lost in 1,000 steps, with walls and without") {
  folder const here;
  for (std::string which : {"wave", "jet"})
    CHECK(run_well("ocean", 1, "--case " + which + " --grid 40x28 --layers 3 --steps 1000 --no-output", here.path)
              .figure("volume") <= 1e-13);
}

TEST_CASE("ocean: a balanced jet stays where it is for ten inertial periods") {
  folder const here;
  // ten times 2 pi / f, in steps of 124.7 s
  auto const o = run_well("ocean", 1, "--case jet --grid 64x64 --layers 2 --steps 5038 --no-output", here.path);
  CHECK(o.figure("elevation") < 0.01);
  CHECK(o.figure("elevation") > 0); // it is computed, not copied
}
