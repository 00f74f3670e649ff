// SPDX-License-Identifier: MIT
#include <support/program.hpp>

#include <store/python.hpp>

#include <support/test.hpp>

namespace {

using namespace program_test;

/// The bits of the elevation in a file, the first index slowest.
std::string elevation_in(fs::path const& file) {
  return keel::test::said_by_h5py(keel::test::python_with_h5py(), file.string(),
                                  "  sys.stdout.buffer.write(f['VTKHDF/CellData/eta'][...].tobytes())\n");
}

} // namespace

TEST_CASE("ocean: what cannot be written is told with exit code 2, and what was there stays") {
  auto const fails = [](std::string const& options, std::string const& name, std::string const& why) {
    folder const here;
    fs::create_symlink("/dev/full", here / "full"); // a disk without room
    fs::create_directory(here / "taken");
    fs::create_directory(here / "eta.new.vtkhdf");
    auto const o = run("ocean", 1, "--grid 8x4 --layers 2 --steps 3 " + options, here.path);
    INFO(options << '\n' << o.err);
    CHECK(o.code == 2);
    CHECK(o.err.find(name + " (" + why + ")") != o.err.npos);
    CHECK(fs::is_symlink(here / "full"));
    CHECK(std::distance(fs::directory_iterator(here.path), {}) == 3);
  };
  if (PROGRAM_HDF5) fails("--output .", "eta.new.vtkhdf cannot be made", "Is a directory");
  fails("--no-output --dump full", "ocean: full cannot be written", "No space left on device");
  fails("--no-output --dump taken", "ocean: taken cannot be written", "Is a directory");
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("ocean: standard output that is lost is an error") {
  folder const here;
  for (char const* options : {"--help", "--grid 8x4 --layers 2 --steps 3 --no-output"}) {
    auto const o = run("ocean", 1, std::string{options} + " >/dev/full 2>err #", here.path);
    CHECK(o.code == 2);
    CHECK(content(here / "err").find("ocean: standard output cannot be written (") != std::string::npos);
  }
}

TEST_CASE("ocean: output comes every n steps and at the end, with the bits of the dump, and its path is printed") {
  if (keel::test::python_with_h5py().empty() || !PROGRAM_HDF5) return keel::test::skip("no HDF5, or no h5py");
  for (int const ranks : {1, has_ranks ? 4 : 1}) {
    folder const here;
    std::string const options = "--grid 37x29 --layers 2 --output deep/er --dump state ";
    auto const o = run_well("ocean", ranks, options + "--steps 7 --output-every 3", here.path);
    CHECK(o.out.find("deep/er/eta.000007.vtkhdf") != o.out.npos);
    CHECK(o.err.find('\r') == o.err.npos); // no progress bar where there is no terminal
    CHECK(std::distance(fs::directory_iterator(here / "deep/er"), {}) == 4); // and the list
    for (std::string const n : {"7", "6", "3"}) {
      if (n != "7") run_well("ocean", 1, options + "--steps " + n + " --no-output", here.path);
      auto const elevation = elevation_in(here / ("deep/er/eta.00000" + n + ".vtkhdf"));
      CHECK(elevation.size() == 37 * 29 * sizeof(double));
      CHECK(content(here / "state").starts_with(elevation));
    }
  }
}

TEST_CASE("ocean: the node, the ranks, the knobs and the table come in this order") {
  folder const here;
  int const ranks = has_ranks ? 2 : 1;
  auto const o =
      run_well("ocean", ranks, "--grid 8x4 --layers 2 --steps 3 --no-output --keel-device simulated", here.path);
  std::vector<std::string> words{"node ", ": ", " cores", "\nrank 0 ", ", cores ", ", device simulated"};
  if (ranks == 2) words.insert(words.end(), {"\nrank 1 ", ", cores ", ", device simulated"});
  words.insert(words.end(),
               {"--keel-device ", "simulated", "command line", "--keel-log-level ", "unset", "\ntime per step ",
                "\nbytes moved ", "\nbytes necessary ", "\nbandwidth ", "\ntriad ", "\nerror ", "\nnot counted "});
  std::size_t at = 0;
  for (auto const& word : words) {
    INFO(o.out);
    auto const next = o.out.find(word, at);
    CHECK_MESSAGE(next != o.out.npos, word);
    if (next != o.out.npos) at = next;
  }
}
