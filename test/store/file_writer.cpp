// SPDX-License-Identifier: MIT
#include <keel/impl/store/file_writer.hpp>

#include <keel/impl/store/checksum.hpp>
#include <keel/impl/store/folder_lock.hpp>
#include <keel/impl/store/read_file.hpp>

#include <support/folder.hpp>
#include <support/test.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace keel::residency::detail;
namespace fs = std::filesystem;

namespace {

std::vector<std::byte> random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (auto& each : bytes) each = std::byte(random());
  return bytes;
}

} // namespace

TEST_CASE("store: checksums of parts are added to that of the whole, whatever words they are cut at") {
  auto const bytes = random_bytes(1 << 12, 1);
  for (int const word : {1, 2, 4, 8}) {
    auto const of = [&](std::size_t begin, std::size_t end) {
      return checksum(bytes.data() + begin * std::size_t(word), (end - begin) * std::size_t(word), begin, word);
    };
    std::size_t const all = bytes.size() / std::size_t(word);
    CHECK(of(0, all) == of(300, all) + of(0, 17) + of(17, 300));
    std::set<std::uint64_t> others;
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        auto changed = bytes;
        changed[at] ^= std::byte{1} << bit;
        others.insert(checksum(changed.data(), changed.size(), 0, word));
      }
    CHECK(others.size() == 8 * bytes.size());
    CHECK(others.count(of(0, all)) == 0);
  }
  CHECK(checksum(bytes.data(), 13, 5) != checksum(bytes.data(), 16, 5)); // the last word is filled with zeros
  std::vector<std::byte> const zeros(16);
  CHECK(checksum(zeros.data(), 9, 0) == checksum(zeros.data(), 16, 0));
  // Neighbours that change places, though only their exponents differ, as those of 1 and 2 do.
  std::set<std::uint64_t> sums;
  for (std::size_t one = 0; one < 64; ++one)
    for (std::size_t two = one + 1; two < 64; ++two) {
      std::vector<double> values(64, 0);
      values[one] = 1, values[two] = 2;
      sums.insert(checksum(reinterpret_cast<std::byte const*>(values.data()), 512, 0));
      std::swap(values[one], values[two]);
      sums.insert(checksum(reinterpret_cast<std::byte const*>(values.data()), 512, 0));
    }
  CHECK(sums.size() == 64 * 63);
  CHECK(word_bytes_of(16) == 8);
  CHECK(word_bytes_of(12) == 4);
  CHECK(word_bytes_of(5) == 1);
}

TEST_CASE("store: a second job in a folder is refused, until the first has ended or was killed") {
  keel::test::folder const here("keel-store");
  std::string const path = here / "run";
  auto const is_refused = [&] {
    return keel::test::refuses([&] { folder_lock const again(path); },
                               "another job writes " + path + " (it holds " + path + ".lock)");
  };
  {
    folder_lock const lock(path);
    CHECK(is_refused());
  }
  {
    folder_lock const lock(path);
  }
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  pid_t const child = ::fork();
  if (child == 0) {
    folder_lock const lock(path);
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK(is_refused());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  folder_lock const lock(path);
  CHECK(keel::test::refuses([&] { folder_lock const none(here / "none/run"); },
                            "none/run.lock cannot be made (No such file"));
  for (int const each : ready) ::close(each);
}

#if KEEL_WITH_HDF5

namespace {

constexpr int all_ranks = 3;
constexpr std::size_t share = 5000; // elements of a rank

/// A call that fails, of one writer: the `number`-th.
struct failure {
  std::string call;
  int number = 0, code = EIO;
  std::atomic<int> calls{0};
} fails;

bool fails_now(char const* call) {
  if (fails.call != call || ++fails.calls != fails.number) return false;
  errno = fails.code;
  return true;
}

file_calls const failing = {
    .open = [](char const* path, int flags) { return fails_now("open") ? -1 : ::open(path, flags); },
    .pwrite = [](int f, void const* from, std::size_t n,
                 off_t at) { return fails_now("pwrite") ? -1 : ::pwrite(f, from, n, at); },
    .fsync = [](int f) { return fails_now("fsync") ? -1 : ::fsync(f); },
    .rename = [](char const* from, char const* to) { return fails_now("rename") ? -1 : ::rename(from, to); },
    .link = [](char const* from, char const* to) { return fails_now("link") ? -1 : ::link(from, to); },
    .unlink = [](char const* path) { return fails_now("unlink") ? -1 : ::unlink(path); }};

/// Files of one name, in generations, by writers for three ranks.
struct series {
  std::string name;
  std::array<std::unique_ptr<file_writer>, all_ranks> writers;

  explicit series(std::string path, int failing_rank = -1) : name(std::move(path)) {
    for (int r = 0; r < all_ranks; ++r)
      writers[std::size_t(r)] = std::make_unique<file_writer>(r == failing_rank ? failing : system_calls);
  }
  [[nodiscard]] std::string temporary() const { return name + ".part"; }
  [[nodiscard]] std::string previous() const { return name + ".previous"; }

  /// The file without its parts, and these.
  [[nodiscard]] std::vector<write_job> jobs(std::int64_t generation) const {
    std::int64_t const n = all_ranks * std::int64_t(share);
    stored_file what;
    what.attributes = {{"generation", std::vector<std::int64_t>{generation}}};
    what.datasets = {{.path = "/x", .extents = {n}},
                     {.path = "/y", .element_bytes = 4, .extents = {n}},
                     {.path = "/written",
                      .type = stored_type::natural,
                      .extents = {all_ranks, 3},
                      .content = std::vector<std::byte>(8 * all_ranks * 3)}};
    make_file(temporary(), what);
    std::vector<write_job> all(all_ranks);
    for (int r = 0; r < all_ranks; ++r) {
      auto const bytes =
          std::make_shared<std::vector<std::byte>>(random_bytes(12 * share, unsigned(generation * 8 + r)));
      write_job& j = all[std::size_t(r)];
      j = {.temporary = temporary(),
           .name = name,
           .previous = previous(),
           .rank = r,
           .sums = 2,
           .table = what.datasets[2].offset,
           .runs = {},
           .fetch = [bytes] {}}; // keeps them
      // Every third element of x is a rank's, in runs of 500; all of y that is a rank's lies together.
      for (std::size_t k = 0; k < share / 500; ++k) {
        std::size_t const first = (3 * k + std::size_t(r)) * 500;
        j.runs.push_back(
            {bytes->data() + 4000 * k, what.datasets[0].offset + std::int64_t(8 * first), 4000, first, 0, 8});
      }
      std::size_t const first = std::size_t(r) * share;
      j.runs.push_back(
          {bytes->data() + 8 * share, what.datasets[1].offset + std::int64_t(4 * first), 4 * share, first, 1, 4});
    }
    return all;
  }

  /// As ranks do that agree: the reasons, empty if there are none.
  std::string end() {
    std::string reasons;
    for (auto& each : writers) reasons += each->wait_part();
    bool const all_wrote = reasons.empty();
    for (auto& each : writers) reasons += each->finish(all_wrote);
    return reasons;
  }

  std::string write(std::int64_t generation) {
    auto all = jobs(generation);
    for (int r = all_ranks; r-- > 0;) writers[std::size_t(r)]->begin(std::move(all[std::size_t(r)]));
    return end();
  }
};

/// The generation of a file that is whole; -1: it is not there, or anything is wrong with it.
std::int64_t generation_of(std::string const& path) {
  try {
    auto const read = read_file(path, std::vector<std::string_view>{"/written"});
    std::uint64_t table[all_ranks][3], sums[2] = {};
    std::memcpy(table, read.dataset("/written")->content.data(), sizeof table);
    for (auto const& row : table) {
      if (row[0] != part_is_there) return -1;
      for (int s : {0, 1}) sums[s] += row[1 + s];
    }
    std::string const all = keel::test::content(path);
    for (int s : {0, 1}) {
      auto const& d = *read.dataset(s == 0 ? "/x" : "/y");
      if (checksum(reinterpret_cast<std::byte const*>(all.data()) + d.offset, std::size_t(d.bytes()), 0,
                   d.element_bytes) != sums[s])
        return -1;
    }
    return attribute_of<std::vector<std::int64_t>>(read.attributes, "generation")->at(0);
  } catch (keel::error const&) {
    return -1;
  }
}

struct folder : keel::test::folder {
  folder() : keel::test::folder("keel-store") {}
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> all;
    for (auto const& each : fs::directory_iterator(path)) all.insert(each.path().filename());
    return all;
  }
};

} // namespace

TEST_CASE("store: where a call fails on one rank, all are told, and the former files stay") {
  int refused = 0, passed = 0;
  for (int rank = 0; rank < all_ranks; ++rank)
    for (std::string const call : {"open", "pwrite", "fsync", "rename", "link", "unlink"})
      for (int number = 1; number < 100; ++number) {
        folder const here;
        series run(here / "run", rank);
        fails.call.clear();
        REQUIRE(run.write(1) == "");
        REQUIRE(run.write(2) == "");
        fails.call = call, fails.number = number, fails.code = number % 2 == 0 ? ENOSPC : EIO, fails.calls = 0;
        std::string const why = run.write(3);
        bool const has_failed = fails.calls >= number;
        CAPTURE(rank);
        CAPTURE(call);
        CAPTURE(number);
        CAPTURE(why);
        bool const is_of_first = call == "rename" || call == "link" || call == "unlink";
        CHECK((number > 1 || has_failed || (is_of_first && rank != 0))); // each is made
        CHECK(here.names() == std::set<std::string>{"run", "run.previous"});
        CHECK(generation_of(run.name) == (why.empty() ? 3 : 2));
        CHECK(generation_of(run.previous()) == (why.empty() ? 2 : 1));
        if (!why.empty()) CHECK(why.find(std::strerror(fails.code)) != why.npos);
        if (call == "fsync" && number == 1) CHECK_FALSE(why.empty()); // the file's; a folder need not have one
        ++(why.empty() ? passed : refused);
        fails.call.clear();
        CHECK(run.write(4) == "");
        CHECK(generation_of(run.name) == 4);
        if (!has_failed) break;
      }
  MESSAGE(refused << " files were refused, " << passed << " were whole");
  CHECK(refused > 40);
}

TEST_CASE("store: files are kept where the file system has no links") {
  folder const here;
  series run(here / "run", 0);
  for (int generation = 1; generation < 4; ++generation) {
    fails.call = "link", fails.number = 1, fails.code = EPERM, fails.calls = 0;
    CHECK(run.write(generation) == "");
  }
  CHECK(generation_of(run.name) == 3);
  CHECK(generation_of(run.previous()) == 2);
  for (auto& each : run.writers) CHECK(each->finish(false) == ""); // said before
  CHECK(generation_of(run.name) == 3);
}

TEST_CASE("store: writes that are interrupted or short go on") {
  folder const here;
  series run(here / "run");
  static std::atomic<int> calls;
  static file_calls slow = system_calls;
  slow.pwrite = [](int f, void const* from, std::size_t n, off_t at) -> ssize_t {
    errno = EINTR;
    return ++calls % 2 == 0 ? -1 : ::pwrite(f, from, std::min<std::size_t>(n, 1001), at);
  };
  for (auto& each : run.writers) each = std::make_unique<file_writer>(slow);
  CHECK(run.write(1) == "");
  CHECK(generation_of(run.name) == 1);
  CHECK(calls > 300);
}

TEST_CASE("store: what a rank waits for before it writes may fail") {
  folder const here;
  series run(here / "run");
  REQUIRE(run.write(1) == "");
  bool has_come = false;
  for (bool const is_lost : {true, false}) {
    auto all = run.jobs(2);
    all[1].fetch = [&, kept = all[1].fetch] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      has_come = true;
      if (is_lost) throw std::runtime_error("the device is lost");
    };
    for (std::size_t r : {0, 1, 2}) run.writers[r]->begin(all[r]);
    std::string const why = run.end();
    CHECK(has_come);
    CHECK((why.find("run.part cannot be written: the device is lost") != std::string::npos) == is_lost);
    CHECK(generation_of(run.name) == (is_lost ? 1 : 2));
  }
}

TEST_CASE("store: no end waits for a rank that never writes") {
  folder const here;
  series run(here / "run");
  REQUIRE(run.write(1) == "");
  {
    series other(here / "run");
    auto all = other.jobs(2);
    other.writers[0]->begin(all[0]);
    for (int n = 0; n < 5000 && !other.writers[0]->is_written(); ++n)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(other.writers[0]->is_written());
    CHECK(other.writers[0]->finish(false) == "");
    CHECK(here.names() == std::set<std::string>{"run"});
    all = other.jobs(3);
    other.writers[0]->begin(all[0]); // and is left so
  }
  CHECK(here.names() == std::set<std::string>{"run"});
  CHECK(generation_of(run.name) == 1);
  // A child of a fork has no thread to wait for.
  auto all = run.jobs(4);
  run.writers[0]->begin(all[0]);
  pid_t const child = ::fork();
  if (child == 0) {
    ::alarm(20);
    run.writers[0].reset();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("store: a folder that vanishes is told, and nothing hangs") {
  folder const here;
  fs::create_directory(here / "below");
  series run(here / "below/run");
  REQUIRE(run.write(1) == "");
  auto all = run.jobs(2);
  run.writers[1]->begin(all[1]);
  run.writers[0]->begin(all[0]);
  CHECK(run.writers[0]->wait_part() + run.writers[1]->wait_part() == "");
  fs::remove_all(here / "below");
  run.writers[2]->begin(all[2]);
  CHECK(run.end().starts_with(run.temporary() + " cannot be opened: No such file or directory"));
  // At the last moment.
  fs::create_directory(here / "below");
  all = run.jobs(3);
  for (std::size_t r : {1, 0}) run.writers[r]->begin(all[r]);
  CHECK(run.writers[0]->wait_part() == "");
  fs::remove_all(here / "below");
  CHECK(run.writers[0]->finish(true).ends_with("No such file or directory"));
  CHECK(run.writers[1]->finish(true) == "");
}

TEST_CASE("store: a job that is killed at any moment leaves a whole file, the last or the one before") {
  folder const here;
  std::mt19937 random(2);
  std::int64_t last = 0;
  int moved = 0;
  auto const begin = std::chrono::steady_clock::now();
  REQUIRE(series(here / "run").write(1) == "");
  auto const one = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  last = 1;
  for (int n = 0; n < 100; ++n) {
    pid_t const child = ::fork();
    if (child == 0) {
      folder_lock const lock(here / "run");
      series run(here / "run");
      for (std::int64_t generation = last + 1;; ++generation)
        if (!run.write(generation).empty()) ::_exit(1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % std::uint64_t(8 * one.count())));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    std::int64_t const now = generation_of(here / "run");
    CHECK(now >= last);
    // One more than a file is lost where a job is killed between the two names.
    CHECK(generation_of(here / "run.previous") >= last - 2);
    moved += now > last ? 1 : 0;
    last = now;
  }
  MESSAGE(last << " files, " << moved << " of 100 killed jobs wrote one or more");
  series run(here / "run");
  CHECK(run.write(last + 1) == "");
  CHECK(here.names() == std::set<std::string>{"run", "run.lock", "run.previous"});
}

#endif
