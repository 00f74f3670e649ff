// SPDX-License-Identifier: MIT
// A box of atoms beside ExaMiniMD, on some ranks and devices.
#include <support/program.hpp>
#include <support/test.hpp>

namespace {

using namespace program_test;

/// What is printed for a step: its number, temperature, potential and total energy of an atom.
struct row {
  int step;
  double temperature, potential, total;
};
/// By ExaMiniMD, commit 3264e29, whose input in.lj was given a box of 8 x 8 x 8 cells.
constexpr row by_examinimd[] = {
    {0, 1.400000, -6.332812, -4.233837},  {10, 1.267574, -6.134611, -4.234179}, {20, 0.774199, -5.394152, -4.233421},
    {30, 0.636645, -5.188304, -4.233803}, {40, 0.729335, -5.327448, -4.233981}, {50, 0.712673, -5.302334, -4.233847},
    {60, 0.692978, -5.272787, -4.233828}, {70, 0.705448, -5.291519, -4.233864}, {80, 0.720148, -5.313538, -4.233843},
    {90, 0.742732, -5.347426, -4.233871}, {100, 0.747166, -5.354067, -4.233865}};

/// Runs 2,048 atoms, checks what is printed, and returns the digest of ids and positions.
std::string digest_of(int ranks, std::string const& device, std::string const& newton) {
  CAPTURE(ranks);
  CAPTURE(device);
  CAPTURE(newton);
  folder const here;
  outcome const o =
      run_well("particles", ranks, "--cells 8 --newton " + newton + " --keel-device " + device, here.path);
  std::istringstream lines(o.out);
  std::string line, digest;
  std::getline(lines, line); // the names of columns
  for (row const& wanted : by_examinimd) {
    row found{};
    lines >> found.step >> found.temperature >> found.potential >> found.total;
    CAPTURE(found.step);
    CHECK(found.step == wanted.step);
    constexpr double digits = 1.5e-6; // one of the last digit
    CHECK(std::fabs(found.temperature - wanted.temperature) < digits);
    CHECK(std::fabs(found.potential - wanted.potential) < digits);
    CHECK(std::fabs(found.total - wanted.total) < digits);
    CHECK(std::fabs(found.total / by_examinimd[0].total - 1) < 1e-4); // it is conserved
  }
  while (std::getline(lines, line))
    if (line.starts_with("digest ")) digest = line;
  CHECK(digest != "");
  return digest;
}

} // namespace

TEST_CASE("particles: temperature and energies are those of ExaMiniMD, and no bit depends on ranks or devices") {
  std::string const one = digest_of(1, host, "off");
  CHECK(digest_of(1, "simulated", "on") == one); // no pair lies on two ranks
  if (!has_ranks) return keel::test::skip("no MPI in this build");
  CHECK(digest_of(2, "simulated", "off") == one);
  CHECK(digest_of(4, host, "off") == one);
  CHECK(digest_of(2, host, "on") == one); // forces are sent to owners
  CHECK(digest_of(4, "simulated", "on") == one);
}

TEST_CASE("particles: options that cannot be used are refused by name") {
  folder const here;
  for (std::string const wrong : {"--cells 5", "--cells=8x", "--newton maybe", "--atoms 4", "--steps"}) {
    outcome const o = run("particles", 1, wrong, here.path);
    CAPTURE(wrong);
    CHECK(o.code != 0);
    CHECK(o.err.find(wrong.substr(0, wrong.find_first_of(" ="))) != std::string::npos);
  }
  CHECK(run_well("particles", 1, "--help", here.path).out.find("--cells") != std::string::npos);
}
