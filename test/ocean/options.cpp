// SPDX-License-Identifier: MIT
#include <ocean/options.hpp>

#include <support/test.hpp>

namespace {

ocean::options read(std::vector<char const*> const& arguments) { return ocean::read_options(arguments); }

std::string refusal(std::vector<char const*> const& arguments) {
  try {
    (void)read(arguments);
  } catch (bench::refusal const& e) {
    return e.what();
  }
  return {};
}

} // namespace

TEST_CASE("ocean: options are read, with a space or an equals sign, and the last wins") {
  auto const o = read({"--grid", "7x8", "--layers=9", "--steps", "10", "--case", "jet", "--output=here",
                       "--output-every", "3", "--dump", "there", "--layers", "5"});
  CHECK(o.nx == 7);
  CHECK(o.ny == 8);
  CHECK(o.layers == 5);
  CHECK(o.steps == 10);
  CHECK(o.which == ocean::flow::jet);
  CHECK(o.output == "here");
  CHECK(o.output_every == 3);
  CHECK(o.dump == "there");
  CHECK_FALSE(o.help);
  CHECK(read({"--no-output"}).output.empty());
  CHECK(read({"--help"}).help);
}

TEST_CASE("ocean: what no option says stays as the help says") {
  auto const o = read({});
  CHECK(std::to_string(o.nx) + "x" + std::to_string(o.ny) == "256x256");
  CHECK(o.layers == 32);
  CHECK(o.steps == 200);
  CHECK(o.which == ocean::flow::wave);
  CHECK(o.output == "ocean-output");
  CHECK(o.output_every == 0);
  std::string const help = ocean::help_text;
  for (auto const* word : {"256x256", "(32)", "(200)", "(wave)", "(ocean-output)"}) CHECK(help.find(word) != help.npos);
}

TEST_CASE("ocean: a refusal names option, text and reason") {
  CHECK(refusal({"--layers", "4x"}) ==
        "ocean: --layers 4x cannot be used (a whole number from 1 to 128 is wanted). See --help.");
  CHECK(refusal({"--grid", "8"}).starts_with("ocean: --grid 8 cannot be used ("));
  CHECK(refusal({"--steps"}).starts_with("ocean: --steps stands alone ("));
  CHECK(refusal({"--help=yes"}).starts_with("ocean: --help=yes is not known ("));
  CHECK(refusal({"--output="}).starts_with("ocean: --output is empty ("));
  CHECK(refusal({""}).starts_with("ocean:  is not known ("));
  for (auto const* text : {"", "8", "8x", "x8", "8x8x8", "0x8", "-8x8", " 8x8", "8x8 ", "8X8", "8x99999999999"})
    CHECK(refusal({"--grid", text}).starts_with("ocean: --grid "));
  for (auto const* text : {"", "0", "129", "-1", "+4", "4 ", " 4", "0x4", "1e1", "99999999999999999999"})
    CHECK(refusal({"--layers", text}).starts_with("ocean: --layers "));
  CHECK(refusal({"--output-every", "-1"}).starts_with("ocean: --output-every -1 "));
}
