// SPDX-License-Identifier: MIT

/// @file
/// What the files of a run cost, in turns with the same by hand; medians on the slowest rank:
///
///     mpiexec -n 4 bench-files checkpoint TURNS MIB   until the file has its name, beside pwrite and HDF5 by hand
///     bench-files step TURNS MIB                      a step that checkpoints beside one that does not
///     mpiexec -n 7 bench-files restart TURNS LEVEL    of four ranks' file, beside reading its bytes once
///
/// Files are made in the current folder, and removed.

#include "../medians.hpp"
#include "../mesh/cut.hpp"
#include "../mesh/makers.hpp"

#include <keel/keel.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

namespace {

namespace kr = keel::residency;
namespace km = keel::machine;
namespace fs = std::filesystem;

struct app : keel::defaults {
  using exchange = kr::on_device;
};
using runtime = keel::runtime<app>;

constexpr char const file_name[] = "bench-files.h5", raw_name[] = "bench-files.raw";

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}
/// Milliseconds on the slowest rank.
double timed(km::environment const& ranks, auto const& f) {
  km::barrier(ranks);
  auto const begun = std::chrono::steady_clock::now();
  f();
  return km::max(ranks, 1e3 * seconds_since(begun));
}
void remove_files(km::environment const& ranks) {
  km::barrier(ranks);
  if (ranks.is_master())
    for (char const* const name : {file_name, raw_name, "bench-files.previous.h5", "bench-files.lock"})
      fs::remove(name);
  km::barrier(ranks);
}
/// Throws what errno says if the result of a call of the system, or of HDF5, is negative.
template <class Result>
Result checked(Result result) {
  if (result < 0) throw fs::filesystem_error("bench-files", {errno, std::generic_category()});
  return result;
}
constexpr double patience = 300; // s
keel::error no_file() { return {"bench-files", "no file came in 300 s", "warnings say why"}; }
void wait_for_file() {
  auto const begun = std::chrono::steady_clock::now();
  while (!fs::exists(file_name)) {
    if (seconds_since(begun) > patience) throw no_file();
    std::this_thread::sleep_for(std::chrono::microseconds(200)); // a rank that waits in MPI takes the writer's core
  }
}
std::string rounded(double x) {
  char text[32];
  static_cast<void>(std::snprintf(text, sizeof text, "%.1f", x));
  return text;
}
/// A row that bench/all.py knows: the other time, keel's, and a quotient.
void print(km::environment const& ranks, std::string const& what, bench::medians const& m, double quotient,
           std::string const& more) {
  if (!ranks.is_master()) return;
  std::printf("%-66s %9.2f %9.2f %7.3f  %s\n", what.c_str(), m.other, m.keel, quotient, more.c_str());
  std::fflush(stdout);
}

// A model: its state in two levels, and tendencies.
constexpr int layers = 32;
struct t : kr::variable<"t", double** [layers], kr::levels<2>> {};
struct s : kr::variable<"s", double** [layers], kr::levels<2>> {};
struct u : kr::variable<"u", double** [layers], kr::levels<2>> {};
struct v : kr::variable<"v", double** [layers], kr::levels<2>> {};
struct dt : kr::variable<"dt", double** [layers]> {};
struct ds : kr::variable<"ds", double** [layers]> {};
struct du : kr::variable<"du", double** [layers]> {};
struct dv : kr::variable<"dv", double** [layers]> {};

struct start : kr::routine<"start", kr::on_host, kr::writes<t, s, u, v>> {
  template <class V>
  static void run(V view) {
    auto const own = view.owned();
    auto const first = view.global_begin();
    auto const set = [&](auto const& x, double phase) {
      for (auto i = own.begin[0]; i < own.end[0]; ++i)
        for (auto j = own.begin[1]; j < own.end[1]; ++j)
          for (int k = 0; k < layers; ++k)
            x(i, j, k) = std::sin(phase + 0.01 * double((first[0] + i) * (first[1] + j) + k));
    };
    set(view(t{}), 0), set(view(s{}), 1), set(view(u{}), 2), set(view(v{}), 3);
  }
};
template <class X, class D>
struct mix : kr::routine<"mix", kr::on_device, kr::reads<kr::past<X, 1>>, kr::writes<D>> {
  template <class V>
  static void run(V view) {
    auto const x = view(kr::past<X, 1>{});
    auto const to = view(D{});
    kr::for_owned(
        view, KOKKOS_LAMBDA(int i, int j) {
          for (int k = 0; k < layers; ++k)
            to(i, j, k) = x(i - 1, j, k) + x(i + 1, j, k) + x(i, j - 1, k) + x(i, j + 1, k) - 4 * x(i, j, k);
        });
  }
};
template <class X, class By, class D>
struct carry
    : kr::routine<"carry", kr::on_device, kr::reads<kr::past<X, 1>, kr::owned<kr::past<By, 1>>>, kr::updates<D>> {
  template <class V>
  static void run(V view) {
    auto const x = view(kr::past<X, 1>{});
    auto const by = view(kr::past<By, 1>{});
    auto const to = view(D{});
    kr::for_owned(
        view, KOKKOS_LAMBDA(int i, int j) {
          for (int k = 0; k < layers; ++k) to(i, j, k) -= 0.1 * by(i, j, k) * (x(i + 1, j, k) - x(i - 1, j, k));
        });
  }
};
template <class X, class D>
struct advance
    : kr::routine<"advance", kr::on_device, kr::reads<kr::owned<kr::past<X, 1>>, kr::owned<D>>, kr::writes<X>> {
  template <class V>
  static void run(V view) {
    auto const was = view(kr::past<X, 1>{});
    auto const by = view(D{});
    auto const x = view(X{});
    kr::for_owned(
        view, KOKKOS_LAMBDA(int i, int j) {
          for (int k = 0; k < layers; ++k) x(i, j, k) = 0.9 * was(i, j, k) + 0.01 * by(i, j, k);
        });
  }
};
template <class X, class D, class A, class B, class C>
struct forward : kr::schedule<mix<X, D>, carry<X, A, D>, carry<X, B, D>, carry<X, C, D>, advance<X, D>> {};
using save = kr::checkpoint<"bench-files">;
struct plain : kr::schedule<kr::cycle<t, s, u, v>, forward<t, dt, s, u, v>, forward<s, ds, t, u, v>,
                            forward<u, du, t, s, v>, forward<v, dv, t, s, u>, kr::exchange<t, s, u, v>> {};
struct saving : kr::schedule<plain, save> {};

/// The state has so many MiB.
kr::grid grid_of(int mib) {
  int const edge = int(std::lround(std::sqrt(mib * 1048576. / (4 * layers * sizeof(double)))));
  return {{edge, edge}, kr::ghost_width{1}, kr::periodic{true, true}};
}
using model = kr::fields<app, t, s, u, v, dt, ds, du, dv>;

/// One file of all ranks, each of which writes its part, in one piece.
void write_raw(km::environment const& ranks, std::vector<double> const& mine) {
  if (ranks.is_master()) ::close(checked(::open(raw_name, O_WRONLY | O_CREAT | O_TRUNC, 0666)));
  km::barrier(ranks);
  int const file = checked(::open(raw_name, O_WRONLY));
  auto const size = off_t(mine.size() * sizeof(double));
  auto const* const from = reinterpret_cast<char const*>(mine.data());
  for (off_t at = 0; at < size;)
    at += checked(::pwrite(file, from + at, std::size_t(size - at), off_t(ranks.rank()) * size + at));
  checked(::fsync(file));
  ::close(file);
  km::barrier(ranks);
  if (ranks.is_master()) fs::rename(raw_name, file_name);
}

/// Rank 0 writes for all, a part of each after the other.
void write_hdf5(km::environment const& ranks, kr::grid const& grid, std::vector<double>& mine) {
  auto const n = hsize_t(kr::share_of(grid, 1, 0).owned().end[0] - kr::share_of(grid, 1, 0).owned().begin[0]);
  std::array<hsize_t, 3> const all{n, n, layers};
  bool const is_writer = ranks.rank() == 0;
  hid_t const file = is_writer ? checked(H5Fcreate(raw_name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) : -1;
  std::vector<double> theirs;
  for (std::size_t x = 0; x < 4; ++x) {
    std::size_t const size = mine.size() / 4;
    if (!is_writer) {
      MPI_Send(mine.data() + x * size, int(size), MPI_DOUBLE, 0, 0, ranks.comm());
      continue;
    }
    hid_t const space = checked(H5Screate_simple(3, all.data(), nullptr));
    hid_t const set = checked(H5Dcreate2(file, std::string(1, char('a' + x)).c_str(), H5T_NATIVE_DOUBLE, space,
                                         H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (int r = 0; r < ranks.size(); ++r) {
      auto const part = kr::share_of(grid, ranks.size(), r);
      auto const count = [&](int d) { return hsize_t(part.owned().end[d] - part.owned().begin[d]); };
      std::array<hsize_t, 3> const first{hsize_t(part.global_begin[0]), hsize_t(part.global_begin[1]), 0},
          counts{count(0), count(1), layers};
      theirs.resize(count(0) * count(1) * layers);
      if (r != 0) MPI_Recv(theirs.data(), int(theirs.size()), MPI_DOUBLE, r, 0, ranks.comm(), MPI_STATUS_IGNORE);
      checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, counts.data(), nullptr));
      hid_t const in_memory = checked(H5Screate_simple(3, counts.data(), nullptr));
      checked(H5Dwrite(set, H5T_NATIVE_DOUBLE, in_memory, space, H5P_DEFAULT,
                       r == 0 ? mine.data() + x * size : theirs.data()));
      H5Sclose(in_memory);
    }
    H5Dclose(set), H5Sclose(space);
  }
  if (is_writer) {
    checked(H5Fclose(file));
    int const written = checked(::open(raw_name, O_WRONLY));
    checked(::fsync(written));
    ::close(written);
    fs::rename(raw_name, file_name);
  }
  km::barrier(ranks);
}

void time_checkpoints(runtime& run, int turns, int mib) {
  auto const& ranks = run.environment();
  kr::grid const grid = grid_of(mib);
  auto const part = kr::share_of(grid, ranks.size(), ranks.rank());
  std::vector<double> mine(4 * layers * std::size_t(part.owned().size(2)), 1.5);
  model f(run, grid);
  f.run(start{});
  std::vector<double> calls;
  auto const by_keel = [&] {
    remove_files(ranks);
    return timed(ranks, [&] {
      auto const begun = std::chrono::steady_clock::now();
      f.run(save{});
      calls.push_back(1e3 * seconds_since(begun));
      wait_for_file();
    });
  };
  auto const beside = [&](char const* name, auto const& write) {
    auto const by_hand = [&] {
      remove_files(ranks);
      return timed(ranks, write);
    };
    by_keel(), by_hand(), calls.clear();
    auto const m = bench::in_turns(turns, by_hand, by_keel);
    std::string const what = "checkpoint of " + std::to_string(mib) + " MiB on " + std::to_string(ranks.size()) +
                             " ranks / " + name + ", ms; rate";
    print(ranks, what, m, 1 / m.quotient, rounded(bench::median(calls)) + " ms of it in the call");
  };
  beside("pwrite, fsync", [&] { write_raw(ranks, mine); });
  beside("HDF5 by rank 0", [&] { write_hdf5(ranks, grid, mine); });
}

void time_steps(runtime& run, int turns, int mib) {
  auto const& ranks = run.environment();
  model f(run, grid_of(mib));
  f.run(start{});
  f.run(kr::exchange<t, s, u, v>{});
  auto const fence = [&] {
    keel::with_device<app::devices>(run.device_name(),
                                    [&]<class Tag>(Tag) { run.template execution_space<Tag>().fence(); });
  };
  auto const by = [&](auto const& step) { return timed(ranks, [&] { f.step(step), fence(); }); };
  std::vector<double> files, besides;
  auto const one = [&] { return by(plain{}); };
  auto const with_file = [&] {
    remove_files(ranks);
    auto const begun = std::chrono::steady_clock::now();
    double const made = by(saving{});
    while (!km::all_of(ranks, fs::exists(file_name))) {
      if (seconds_since(begun) > patience) throw no_file();
      besides.push_back(one());
    }
    files.push_back(1e3 * seconds_since(begun));
    return made;
  };
  one(), with_file(), files.clear(), besides.clear();
  auto const m = bench::in_turns(turns, one, with_file);
  std::string const what = "step that checkpoints " + std::to_string(mib) + " MiB / one that does not, " +
                           std::string(run.device_name()) + ", ms";
  double const beside = besides.empty() ? m.other : bench::median(besides);
  print(ranks, what, m, m.quotient,
        "file after " + rounded(bench::median(files)) + " ms, steps meanwhile " + rounded(beside));
}

// A mesh with four variables of sixty levels.
using trisk::cells;
constexpr int levels = 60;
struct a : kr::variable<"a", double* [levels], kr::on_mesh<cells>> {};
struct b : kr::variable<"b", double* [levels], kr::on_mesh<cells>> {};
struct c : kr::variable<"c", double* [levels], kr::on_mesh<cells>> {};
struct d : kr::variable<"d", double* [levels], kr::on_mesh<cells>> {};

template <bool Writes>
using all_of_them = std::conditional_t<Writes, kr::writes<a, b, c, d>,
                                       kr::reads<kr::owned<a>, kr::owned<b>, kr::owned<c>, kr::owned<d>>>;
/// Gives elements values by their ids, or counts those that have others.
template <bool Writes>
struct visit : kr::routine<"visit", kr::on_host, all_of_them<Writes>> {
  template <class V>
  static std::int64_t run(V view, kr::partition<cells> const& part) {
    std::int64_t wrong = 0;
    auto const each = [&](auto const& x, double more) {
      for (auto i = part.owned().begin; i < part.owned().end; ++i)
        for (int k = 0; k < levels; ++k) {
          double const value = double(part.ids()[std::size_t(i)]) + more + k / 64.;
          if constexpr (Writes) x(i, k) = value;
          else wrong += x(i, k) == value ? 0 : 1;
        }
    };
    each(view(a{}), 0), each(view(b{}), 1e6), each(view(c{}), 2e6), each(view(d{}), 3e6);
    return wrong;
  }
};

/// Some ranks of a run, with the mesh cut into sectors by longitude.
struct on_sectors {
  runtime& whole;
  km::environment part;
  kr::partition<cells> of;

  on_sectors(runtime& run, trisk::mesh const& m, int ranks)
      : whole(run), part(run.environment(), km::first{ranks}), of(cut(m)) {}
  km::environment& environment() { return part; }
  [[nodiscard]] std::string_view device_name() const { return whole.device_name(); }
  template <class Tag>
  auto execution_space() {
    return whole.template execution_space<Tag>();
  }

private:
  [[nodiscard]] kr::partition<cells> cut(trisk::mesh const& m) const {
    std::vector<int> owners;
    for (trisk::point const p : m.cells)
      owners.push_back(int((std::atan2(p.y, p.x) / (2 * trisk::pi) + 0.5) * 0.999999 * part.size()));
    return kr::partition<cells>(part, trisk::cells_of(part, m, owners));
  }
};

void time_restarts(runtime& run, int turns, int level) {
  auto const& ranks = run.environment();
  auto const m = trisk::icosahedral(level, 1, 0);
  int const writers = std::min(4, ranks.size());
  using on_mesh = kr::fields<app, a, b, c, d>;
  remove_files(ranks);
  if (on_sectors some(run, m, writers); some.part.is_member()) {
    on_mesh f(some, some.of);
    f.run(visit<true>{}, some.of);
    f.run(kr::exchange<a, b, c, d>{}); // a restart fills ghosts, too
    f.run(save{});
  }
  km::barrier(ranks);
  on_sectors all(run, m, ranks.size());
  on_mesh f(all, all.of);
  auto const restart = [&] { return timed(ranks, [&] { f.restart("bench-files"); }); };
  auto const bytes = off_t(fs::file_size(file_name)), first = bytes * ranks.rank() / ranks.size();
  std::vector<char> mine(std::size_t(bytes * (ranks.rank() + 1) / ranks.size() - first));
  auto const read = [&] {
    return timed(ranks, [&] {
      int const file = checked(::open(file_name, O_RDONLY));
      for (std::size_t at = 0; at < mine.size();)
        at += std::size_t(checked(::pread(file, mine.data() + at, mine.size() - at, first + off_t(at))));
      ::close(file);
    });
  };
  restart(), read();
  if (km::sum(ranks, f.run(visit<false>{}, all.of)) != 0)
    throw keel::error("bench-files", "a restart brought other values", "elements were compared");
  auto const medians = bench::in_turns(turns, read, restart);
  print(ranks,
        "restart of " + std::to_string(writers) + " ranks on " + std::to_string(ranks.size()) + ", " +
            std::to_string(m.cells.size()) + " cells, " + std::to_string(bytes >> 20) + " MiB / reading once, ms",
        medians, medians.quotient, "");
}

} // namespace

int main(int argc, char** argv) try {
  runtime run{argc, argv};
  if (run.help_requested()) return 0;
  std::string_view const what = argc > 1 ? argv[1] : "";
  int const turns = argc > 2 ? std::atoi(argv[2]) : 15, size = argc > 3 ? std::atoi(argv[3]) : 0;
  if (what == "checkpoint") time_checkpoints(run, turns, size > 0 ? size : 1024);
  else if (what == "step") time_steps(run, turns, size > 0 ? size : 64);
  else if (what == "restart") time_restarts(run, turns, size > 0 ? size : 7);
  else
    throw keel::error("bench-files", "there is no row " + std::string(what), "see its source",
                      "Take checkpoint, step or restart");
  remove_files(run.environment());
} catch (std::exception const& e) {
  return keel::report(e);
}
