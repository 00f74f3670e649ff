// SPDX-License-Identifier: MIT
#include <ocean/progress.hpp>
#include <ocean/vti.hpp>

#include <support/program.hpp>

#include <support/skip.hpp>

#include <fcntl.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace program_test;

std::string between(std::string const& text, std::string_view before, std::string_view after) {
  auto const begin = text.find(before);
  if (begin == text.npos) return {};
  auto const end = text.find(after, begin + before.size());
  return end == text.npos ? std::string{} : text.substr(begin + before.size(), end - begin - before.size());
}

/// The numbers of a file's one data array, taken apart without what wrote them.
std::vector<double> numbers(std::string const& file) {
  std::string const text = between(file, "Name=\"eta\" format=\"binary\">", "</DataArray>");
  std::string decoded;
  std::uint32_t bits = 0;
  int held = 0;
  for (char const c : text) {
    static std::string const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (c == '=') break;
    bits = bits << 6 | std::uint32_t(digits.find(c));
    if ((held += 6) >= 8) decoded += char(bits >> (held -= 8));
  }
  std::uint64_t size = 0;
  REQUIRE(decoded.size() >= sizeof size);
  std::memcpy(&size, decoded.data(), sizeof size);
  REQUIRE(size == decoded.size() - sizeof size);
  std::vector<double> values(size / sizeof(double));
  std::memcpy(values.data(), decoded.data() + sizeof size, size);
  return values;
}

} // namespace

TEST_CASE("ocean: base 64 is that of RFC 4648") {
  CHECK(ocean::base64("") == "");
  CHECK(ocean::base64("f") == "Zg==");
  CHECK(ocean::base64("fo") == "Zm8=");
  CHECK(ocean::base64("foo") == "Zm9v");
  CHECK(ocean::base64("foobar") == "Zm9vYmFy");
  CHECK(ocean::base64("\xff\xfe\xfd") == "//79");
}

TEST_CASE("ocean: an image holds every cell, x fastest") {
  auto const file = ocean::vti("eta", 3, 2, 10, 20, 5, {00, 01, 10, 11, 20, 21}); // [i * ny + j]
  CHECK(file.starts_with("<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" "));
  CHECK(between(file, "WholeExtent=\"", "\"") == "0 3 0 2 0 0");
  CHECK(between(file, "Piece Extent=\"", "\"") == "0 3 0 2 0 0");
  CHECK(between(file, "Spacing=\"", "\"") == "10 20 1");
  CHECK(numbers(file) == std::vector<double>{00, 10, 20, 01, 11, 21});
}

TEST_CASE("ocean: what cannot be written is told with exit code 2, and what was there stays") {
  auto const fails = [](std::string const& options, std::string const& name, std::string const& why) {
    folder const here;
    fs::create_symlink("/dev/full", here / "eta-00000003.vti"); // a disk without room
    fs::create_symlink("/dev/full", here / "full");
    fs::create_directory(here / "taken");
    auto const o = run("ocean", 1, "--grid 8x4 --layers 2 --steps 3 " + options, here.path);
    INFO(options << '\n' << o.err);
    CHECK(o.code == 2);
    CHECK(o.err.find("ocean: " + name + " cannot be written (" + why + "). ") != o.err.npos);
    CHECK(fs::is_symlink(here / "eta-00000003.vti"));
    CHECK(fs::is_symlink(here / "full"));
    CHECK(std::distance(fs::directory_iterator(here.path), {}) == 3);
  };
  fails("--output .", "./eta-00000003.vti", "No space left on device");
  fails("--no-output --dump full", "full", "No space left on device");
  fails("--no-output --dump taken", "taken", "Is a directory");
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("ocean: standard output that is lost is an error") {
  folder const here;
  for (char const* program : {"ocean", "ocean-plain"})
    for (char const* options : {"--help", "--grid 8x4 --layers 2 --steps 3 --no-output"}) {
      auto const o = run(program, 1, std::string{options} + " >/dev/full 2>err #", here.path);
      CHECK(o.code == 2);
      CHECK(content(here / "err").find("ocean: standard output cannot be written (") != std::string::npos);
    }
}

TEST_CASE("ocean: output comes every n steps and at the end, and its path is printed") {
  folder const here;
  auto const o =
      run_well("ocean", 1, "--grid 8x4 --layers 2 --steps 7 --output deep/er --output-every 3 --dump state", here.path);
  CHECK(o.out.find("deep/er/eta-00000007.vti") != o.out.npos);
  CHECK(o.err.find('\r') == o.err.npos); // no progress bar where there is no terminal
  for (auto const* name : {"eta-00000003.vti", "eta-00000006.vti", "eta-00000007.vti"})
    CHECK(numbers(content(here / "deep/er" / name)).size() == 32);
  CHECK(std::distance(fs::directory_iterator(here / "deep/er"), {}) == 3);

  auto const image = numbers(content(here / "deep/er/eta-00000007.vti")); // the same numbers as in the dump
  auto const dump = content(here / "state");
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < 4; ++j) CHECK(std::memcmp(&image[j * 8 + i], &dump[(i * 4 + j) * 8], 8) == 0);
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

TEST_CASE("ocean: the progress bar is drawn on a terminal and nowhere else") {
  int const terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) return keel::test::skip("no pseudo terminals");
  REQUIRE(grantpt(terminal) == 0);
  REQUIRE(unlockpt(terminal) == 0);
  int const end = open(ptsname(terminal), O_RDWR | O_NOCTTY), before = dup(STDERR_FILENO);
  folder const here;
  auto const drawn_on = [&](int file, bool shown) {
    dup2(file, STDERR_FILENO);
    {
      ocean::progress bar(200, shown);
      for (long n = 1; n <= 200; ++n) bar.at(n);
    }
    dup2(before, STDERR_FILENO);
  };
  auto const seen = [&] {
    REQUIRE(write(end, "!", 1) == 1); // so that there is something to wait for
    std::string text;
    for (char c = 0; read(terminal, &c, 1) == 1 && c != '!';) text += c;
    return text;
  };
  drawn_on(end, true);
  auto const text = seen();
  CHECK(text.find("  50 %") != text.npos);
  CHECK(text.find("[##################################################] 100 %") != text.npos);
  CHECK(text.size() < 110 * 70); // once a percent, not once a step
  drawn_on(end, false);
  CHECK(seen() == "");

  int const file = open((here / "file").c_str(), O_CREAT | O_WRONLY, 0600);
  drawn_on(file, true);
  CHECK(content(here / "file") == "");
  for (int one : {terminal, end, before, file}) close(one);
}

TEST_CASE("ocean: VTK's own reader takes the image") {
  folder const here;
  std::ofstream(here / "read.py") << "import sys, vtk\n"
                                     "r = vtk.vtkXMLImageDataReader()\n"
                                     "r.SetFileName(sys.argv[1])\n"
                                     "r.Update()\n"
                                     "d = r.GetOutput()\n"
                                     "a = d.GetCellData().GetArray('eta')\n"
                                     "n = a.GetNumberOfTuples()\n"
                                     "print(r.GetErrorCode(), d.GetNumberOfCells(), n, repr(a.GetValue(9)))\n";
  std::string python;
  for (std::string one : {"python3", "/usr/bin/python3"})
    if (python.empty() && std::system((one + " -c 'import vtk' 2>/dev/null").c_str()) == 0) python = one;
  if (python.empty()) return keel::test::skip("no python3-vtk9");
  run_well("ocean", 1, "--grid 8x4 --layers 2 --steps 3 --output .", here.path);
  auto const file = here / "eta-00000003.vti";
  auto const quoted = [](fs::path const& path) { return " '" + path.string() + "'"; };
  auto const command = python + quoted(here / "read.py") + quoted(file) + " >" + quoted(here / "said");
  REQUIRE(std::system(command.c_str()) == 0);
  std::istringstream said(content(here / "said"));
  int error = -1, cells = 0, tuples = 0;
  double value = 0;
  said >> error >> cells >> tuples >> value;
  CHECK(error == 0);
  CHECK(cells == 32);
  CHECK(tuples == 32);
  CHECK(value == numbers(content(file))[9]);
}
