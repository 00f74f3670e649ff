// SPDX-License-Identifier: MIT
// What a checkpoint or a saved frame costs a step, beside a write and a flush of as many bytes by hand, in turns; or a
// restart beside a read.
#include "../medians.hpp"

#include <keel/impl/store/open_file.hpp>
#include <keel/keel.hpp>
#include <keel/machine/reductions.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace km = keel::machine;
namespace kr = keel::residency;

struct app : keel::defaults {};
struct u : kr::variable<"u", double**> {};
struct v : kr::variable<"v", double**> {};

struct start : kr::routine<"start", kr::on_host, kr::writes<u, v>> {
  template <class V>
  static void run(V fields) {
    Kokkos::deep_copy(fields(u{}), 1.);
    Kokkos::deep_copy(fields(v{}), 2.);
  }
};
/// So that later steps need what a checkpoint keeps.
struct go_on : kr::routine<"go on", kr::on_host, kr::updates<u, v>> {
  template <class V>
  static void run(V) {}
};
struct checkpoint : kr::schedule<go_on, kr::checkpoint<"run">> {};
struct frame : kr::schedule<kr::save<"frame", kr::owned<u>, kr::owned<v>>> {};

/// Writes so many bytes to a file, flushes it, and removes it.
void write_by_hand(std::string const& name, std::size_t bytes) {
  std::vector<char> const piece(1 << 20, 1);
  keel::policy::open_file const file(::open(name.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0666));
  int code = file.code;
  for (std::size_t at = 0; at < bytes && code == 0; at += piece.size())
    code = file.put(piece.data(), piece.size(), off_t(at));
  if (code != 0 || ::fsync(file.number) != 0) throw keel::error("checkpoint", name + " is not written");
  ::unlink(name.c_str());
}

/// Reads a share of a file.
void read_by_hand(std::string const& name, int rank, int ranks) {
  std::vector<char> piece(1 << 20);
  keel::policy::open_file const file(::open(name.c_str(), O_RDONLY));
  off_t const bytes = ::lseek(file.number, 0, SEEK_END);
  for (off_t at = bytes / ranks * rank; at < bytes / ranks * (rank + 1); at += off_t(piece.size()))
    if (::pread(file.number, piece.data(), piece.size(), at) <= 0)
      throw keel::error("checkpoint", name + " ends early");
}
/// So that it is read from the disk.
void forget(std::string const& name) {
  keel::policy::open_file const file(::open(name.c_str(), O_RDONLY));
  ::posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED);
}

} // namespace

/// checkpoint [MIB] [ROUNDS] [save | short | restart], in a folder with room for three times as much; `short`: rows of
/// 1 KiB are cut over the ranks. Medians of all rounds but the first, in which memory is made.
int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  auto const& env = run.environment();
  std::int64_t const mib = argc > 1 ? std::atol(argv[1]) : 1024;
  int const rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  std::string_view const what = argc > 3 ? argv[3] : "";
  bool const saves = what == "save", is_short = what == "short", reads = what == "restart";
  kr::ranks_in const cut(is_short ? 1 : env.size(), is_short ? env.size() : 1);
  kr::grid const cells{{is_short ? mib * 512 : mib * 64, is_short ? 128 : 1024}, kr::ghost_width{1}, cut};
  kr::fields<app, u, v> f{run, cells};
  f.run(start{});
  auto const time = [&](auto const& call) {
    km::barrier(env);
    return km::max(env, bench::microseconds(1, call) / 1e6);
  };
  std::vector<double> waits, wholes;
  if (reads) {
    f.step(checkpoint{});
    (void)f.checkpoints();
    for (int n = 0; n < rounds; ++n) {
      forget("run.h5");
      double const by_hand = time([&] { read_by_hand("run.h5", env.rank(), env.size()); });
      forget("run.h5");
      wholes.push_back(time([&] { f.restart<checkpoint>("run"); }) / by_hand);
    }
    if (env.is_master()) std::printf("a restart over reading by hand: %.3f\n", bench::median(wholes));
    return 0;
  }
  for (int n = 0; n < rounds; ++n) {
    double const by_hand = time([&] {
      write_by_hand("by_hand." + std::to_string(env.rank()), std::size_t(mib << 20) / std::size_t(env.size()));
      km::barrier(env);
    });
    double wait = 0;
    double const whole = time([&] {
      wait = bench::microseconds(1, [&] { saves ? f.step(frame{}) : f.step(checkpoint{}); }) / 1e6;
      if ((saves ? f.saves() : f.checkpoints()).failed != 0) throw keel::error("checkpoint", "one failed");
    });
    wait = km::max(env, wait);
    if (env.is_master())
      std::printf("by hand %.3f s, the step waits %.3f s, the file has its name after %.3f s\n", by_hand, wait, whole);
    std::fflush(stdout);
    if (n == 0) continue;
    waits.push_back(wait / by_hand), wholes.push_back(whole / by_hand);
  }
  if (env.is_master() && !waits.empty())
    std::printf("over by hand: the wait %.3f, all %.3f\n", bench::median(waits), bench::median(wholes));
} catch (std::exception const& e) {
  return keel::report(e);
}
