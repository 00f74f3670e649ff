// SPDX-License-Identifier: MIT
#include <support/program.hpp>

#include <support/test.hpp>

#include <system_error>

namespace {

using namespace program_test;

std::size_t count(std::string const& text, std::string_view words) {
  std::size_t n = 0;
  for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++n;
  return n;
}

/// Refused with exit code 2 and, once a job, one sentence of the design's grammar that holds
/// `words`; nothing is introduced, no step made and no file left.
void refuses(std::string const& options, std::string const& words, int ranks = 1) {
  folder const here;
  std::ofstream(here / "file") << "no folder";
  auto const o = run("ocean", has_ranks ? ranks : 1, options, here.path);
  INFO(options << "\n" << o.out << o.err);
  CHECK(o.code == 2);
  CHECK(o.out.find("time per step") == o.out.npos);
  CHECK(o.out.find("rank 0 ") == o.out.npos); // it did not even begin
  CHECK(count(o.err, words) == 1);
  auto const begin = o.err.rfind('\n', o.err.find(words)) + 1; // others may speak too: hwloc, the launcher
  auto const line = o.err.substr(begin, o.err.find('\n', begin) - begin);
  CHECK(line.find(": ") != line.npos);
  CHECK(line.find(" (") != line.npos);
  CHECK(line.find("). ") != line.npos);
  CHECK((line.ends_with(".") || line.find("Did you mean") != line.npos));
  CHECK(std::distance(fs::directory_iterator(here.path), {}) == 1);
}

} // namespace

TEST_CASE("ocean: an unknown option is refused") {
  refuses("--gird 8x8", "--gird");
  refuses("8x8", "8x8 is not known");
  refuses("--keel-num-thread 2", "unknown option --keel-num-thread (");
}

TEST_CASE("ocean: a malformed value is refused") {
  for (std::string const options :
       {"--grid 8", "--grid 8x8x8", "--grid 0x8", "--layers 4x", "--layers 129", "--steps ''", "--output-every -1"})
    refuses(options, options.substr(0, options.find(' ')) + " ");
  refuses("--case storm", "storm is not known");
  refuses("--layers", "--layers stands alone");
  refuses("--keel-device abacus", "there is no device 'abacus'");
  refuses("--keel-num-threads 4x", "4x");
}

TEST_CASE("ocean: an output folder that cannot be written is refused before the first step") {
  refuses("--grid 8x8 --steps 3 --output file/in", "file/in cannot be written");
  refuses("--grid 8x8 --steps 3 --output /proc/ocean", "/proc/ocean cannot be written");
  std::error_code why; // no permission, or a system that is read only
  fs::create_directories("/sys/ocean", why);
  refuses("--grid 8x8 --steps 3 --output /sys/ocean", "/sys/ocean cannot be written (" + why.message() + ")");
  refuses("--grid 8x8 --steps 3 --no-output --dump missing/state", "missing cannot be written");
}

TEST_CASE("ocean: what is wrong on many ranks is said once") {
  refuses("--gird 8x8", "--gird", 2);
  refuses("--grid 8x8 --steps 3 --output file/in", "file/in cannot be written", 2);
  refuses("--keel-num-threads 4x", "4x", 2);
}

TEST_CASE("ocean: a description of the node that is none is refused") {
  setenv("HWLOC_SYNTHETIC", "no node", 1); // Open MPI itself ends where HWLOC_XMLFILE is bad
  refuses("--grid 8x8 --steps 3", "no node");
  unsetenv("HWLOC_SYNTHETIC");
}

TEST_CASE("ocean: a grid smaller than the ranks is refused") {
  if (!has_ranks) return keel::test::skip("no MPI");
  refuses("--grid 1x3 --steps 3", "1 x 3 cells cannot be cut for 4 ranks", 4);
}
