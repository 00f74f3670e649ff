// SPDX-License-Identifier: MIT
#include <keel/impl/store/whole_file.hpp>

#include <support/folder.hpp>
#include <support/test.hpp>
#include <space/in_child.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/resource.h>
#include <sys/wait.h>

namespace fs = std::filesystem;
using keel::policy::write_whole_file, keel::test::content, keel::test::in_child;

namespace {

/// A folder of its own, gone at the end.
struct folder : keel::test::folder {
  folder() : keel::test::folder("keel-whole-file") {}
  std::string operator/(char const* name) const { return path / name; }
  [[nodiscard]] auto count() const { return std::distance(fs::directory_iterator(path), {}); }
};

void put(std::string const& path, std::string const& text) { std::ofstream{path, std::ios::binary} << text; }

} // namespace

TEST_CASE("policy: a file is made, replaced, and keeps its permissions") {
  folder const here;
  auto const path = here / "x";
  CHECK_FALSE(write_whole_file(path, "first"));
  CHECK(content(path) == "first");
  auto const fresh = fs::status(path).permissions();
  put(here / "made by the library", "");
  CHECK(fresh == fs::status(here / "made by the library").permissions());
  fs::permissions(path, fs::perms{0640});
  CHECK_FALSE(write_whole_file(path, std::string("a\0b", 3)));
  CHECK(content(path) == std::string("a\0b", 3));
  CHECK(fs::status(path).permissions() == fs::perms{0640});
  CHECK_FALSE(write_whole_file(path, ""));
  CHECK(content(path).empty());
  CHECK(here.count() == 2);
}

TEST_CASE("policy: links are followed, to a file that is there and to one that is not") {
  folder const here;
  fs::create_directory(here / "below");
  put(here / "below/target", "old");
  fs::create_symlink("below/target", here / "link");
  fs::create_symlink("link", here / "link to link");
  fs::create_symlink("below/made", here / "dangling");
  CHECK_FALSE(write_whole_file(here / "link to link", "new"));
  CHECK_FALSE(write_whole_file(here / "dangling", "made"));
  for (char const* link : {"link", "link to link", "dangling"}) CHECK(fs::is_symlink(here / link));
  CHECK(content(here / "below/target") == "new");
  CHECK(content(here / "below/made") == "made");
  fs::create_symlink("loop", here / "loop");
  CHECK(write_whole_file(here / "loop", "x").code == ELOOP);
}

TEST_CASE("policy: an input is refused by whatever name, and stays") {
  folder const here;
  put(here / "in", "input");
  fs::create_symlink("in", here / "link");
  fs::create_hard_link(here / "in", here / "hard");
  std::vector<std::string> const inputs{here / "missing", here / "in"};
  for (char const* name : {"in", "./in", "link", "hard"}) {
    CAPTURE(name);
    CHECK(write_whole_file(here / name, "lost", inputs).why == "it is the input " + here / "in");
    CHECK(content(here / "in") == "input");
  }
  CHECK_FALSE(write_whole_file(here / "out", "text", inputs));
}

TEST_CASE("policy: what is no plain file is written to, and stays what it was") {
  folder const here;
  CHECK_FALSE(write_whole_file("/dev/null", "text"));
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(write_whole_file("/dev/full", "text").code == ENOSPC);
  CHECK(fs::is_character_file("/dev/full"));
  CHECK(write_whole_file(here.path, "text").code == EISDIR);
  CHECK(write_whole_file(here / "no/such/folder", "text").code == ENOENT);

  auto const pipe = here / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string const large(1 << 20, 'x'); // more than a pipe holds
  pid_t const reader = fork();
  if (reader == 0) _exit(content(pipe) == large ? 0 : 1);
  CHECK_FALSE(write_whole_file(pipe, large));
  int status = 1;
  waitpid(reader, &status, 0);
  CHECK(status == 0);
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("policy: the file that standard output goes to is written to, in order") {
  folder const here;
  auto const path = here / "out";
  CHECK(in_child([&] {
          int const file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
          dup2(file, STDOUT_FILENO);
          std::fputs("before ", stdout);
          bool const went_wrong = bool(write_whole_file("/dev/stdout", "in the middle"));
          std::fputs(" after", stdout);
          std::fflush(stdout);
          return !went_wrong;
        }).status == 0);
  CHECK(content(path) == "before in the middle after");
}

TEST_CASE("policy: a disk that is full at any byte leaves the old file and nothing else") {
  folder const here;
  auto const path = here / "x";
  std::string const text(3000, 'n');
  put(path, "old");
  for (std::size_t room = 0; room < text.size(); room += 1 + room / 7) {
    CAPTURE(room);
    CHECK(in_child([&] {
            rlimit const bytes{room, room};
            setrlimit(RLIMIT_FSIZE, &bytes);
            return write_whole_file(path, text).code == EFBIG;
          }).status == 0);
    CHECK(content(path) == "old");
    CHECK(here.count() == 1);
  }
}

TEST_CASE("policy: a program that is killed at any time leaves a whole file, and the next one is not held up") {
  folder const here;
  auto const path = here / "x";
  std::string const old(1 << 16, 'o'), text(1 << 22, 'n');
  put(path, old);
  int killed = 0;
  for (int n = 0; n < 30; ++n) {
    pid_t const writer = fork();
    if (writer == 0) _exit(write_whole_file(path, text) ? 1 : 0);
    usleep(useconds_t(n * 300));
    kill(writer, SIGKILL);
    int status = 0;
    waitpid(writer, &status, 0);
    killed += WIFSIGNALED(status) ? 1 : 0;
    auto const found = content(path);
    CHECK((found == old || found == text));
  }
  CHECK(killed > 0);
  CHECK_FALSE(write_whole_file(path, text));
  CHECK(content(path) == text);
}

TEST_CASE("policy: what a killed program left is in no one's way") {
  folder const here;
  auto const path = here / "x";
  put(path + '.' + std::to_string(getpid()) + ".0.part", "left by a process that had this number");
  CHECK_FALSE(write_whole_file(path, "new"));
  CHECK(content(path) == "new");
  CHECK(here.count() == 2);
}

TEST_CASE("policy: a file without the permission to write is refused") {
  if (geteuid() != 0) return keel::test::skip("not root"); // who can become another user
  folder const here;
  auto const path = here / "x";
  put(path, "old");
  fs::permissions(path, fs::perms{0444});
  fs::permissions(here.path, fs::perms{0777}); // so the name could be given to another file
  CHECK(in_child([&] { return setuid(65534) == 0 && write_whole_file(path, "new").code == EACCES; }).status == 0);
  CHECK(content(path) == "old");
  CHECK(here.count() == 1);
}
