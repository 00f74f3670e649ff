// SPDX-License-Identifier: MIT

/// @file
/// ocean without keel: the same kernels on the same grid, with MPI, device memory, time levels and
/// copies by hand, on the execution space that Kokkos was built for. What keel is measured against.
/// With -DOCEAN_DUALVIEW the arrays are Kokkos' DualViews, which know for a whole array where it is valid:
/// synchronised before and marked after each use, cleared where all of it is overwritten.

#include "by_hand.hpp"
#include "case.hpp"
#include "kernels.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "stretch.hpp"
#include "triad.hpp"

#include <Kokkos_Core.hpp>
#if defined(OCEAN_DUALVIEW)
#include <Kokkos_DualView.hpp>
#endif

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace ocean;
using space = Kokkos::DefaultExecutionSpace;

#if defined(OCEAN_DUALVIEW)
constexpr char const* program_name = "dualview";
using exchange_space = Kokkos::DefaultHostExecutionSpace;
template <class Data>
using array = Kokkos::DualView<Data, layout, space>;

template <class Array>
auto read(Array a) {
  a.sync_device();
  return a.view_device();
}
template <class Array>
auto overwrite(Array a) {
  a.clear_sync_state();
  a.modify_device();
  return a.view_device();
}
template <class Array>
auto on_host(Array a) {
  a.sync_host();
  return a.view_host();
}
template <class Array>
auto fill(Array a) {
  a.clear_sync_state();
  a.modify_host();
  return a.view_host();
}
/// For the exchange, which runs on the host.
template <class Array>
auto update(Array a) {
  a.sync_host();
  a.modify_host();
  return a.view_host();
}
#else
constexpr char const* program_name = "plain";
using exchange_space = space;
template <class Data>
using array = Kokkos::View<Data, layout, space::memory_space>;

template <class Array>
Array read(Array a) {
  return a;
}
template <class Array>
Array overwrite(Array a) {
  return a;
}
template <class Array>
Array update(Array a) {
  return a;
}
template <class Array>
auto on_host(Array a) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a);
}
#endif

using field = array<double**>;
using layered = array<double***>;

/// The three prognostic variables at one time.
struct level {
  field eta;
  layered u, v;

  level(place const& p, int layers)
      : eta("eta", std::size_t(p.ni + 2), std::size_t(p.nj + 2)),
        u("u", std::size_t(p.ni + 2), std::size_t(p.nj + 2), std::size_t(layers)),
        v("v", std::size_t(p.ni + 2), std::size_t(p.nj + 2), std::size_t(layers)) {}

  void set(experiment const& e, place const& p, double time) {
#if defined(OCEAN_DUALVIEW)
    auto const host_eta = fill(eta);
    auto const host_u = fill(u), host_v = fill(v);
#else
    auto const host_eta = Kokkos::create_mirror_view(eta);
    auto const host_u = Kokkos::create_mirror_view(u), host_v = Kokkos::create_mirror_view(v);
#endif
    for (int i = 0; i < p.ni; ++i)
      for (int j = 0; j < p.nj; ++j) {
        host_eta(i + 1, j + 1) = e.eta(p.i + i, p.j + j, time);
        for (int k = 0; k < e.equations().layers; ++k) {
          host_u(i + 1, j + 1, k) = e.u(p.i + i, p.j + j, k, time);
          host_v(i + 1, j + 1, k) = e.v(p.i + i, p.j + j, k, time);
        }
      }
#if !defined(OCEAN_DUALVIEW)
    Kokkos::deep_copy(eta, host_eta);
    Kokkos::deep_copy(u, host_u);
    Kokkos::deep_copy(v, host_v);
#endif
  }
};

/// The whole of a view of rank 2 or 3 on rank 0, in global order.
template <class View>
std::vector<double> gathered(by_hand::world const& world, by_hand::division const& d, experiment const& e,
                             View const& view) {
  place const& p = d.here;
  auto const host = on_host(view);
  std::size_t const depth = host.extent(2);
  auto const owned = in_order(host, 1, p.ni + 1, 1, p.nj + 1);
  auto const places = world.gather(std::vector<place>{p});
  auto const parts = world.gather(owned);
  return world.rank() == 0 ? assemble(places, parts, e.nx(), e.ny(), int(depth)) : std::vector<double>{};
}

/// The elevation after a step, in global order, in a file of raw doubles. False if that failed.
bool write(std::string const& path, std::vector<double> const& eta) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  bool const well = std::fwrite(eta.data(), sizeof(double), eta.size(), file) == eta.size();
  return std::fclose(file) == 0 && well;
}

void simulate(by_hand::world const& world, options const& o) {
  experiment const e(o.which, o.nx, o.ny, o.layers);
  by_hand::division const d(world, o.nx, o.ny, e.closed_in_y());
  bool const master = world.rank() == 0;
  output_folder folder(o.output, o.dump, master);
  if (world.largest(folder.usable() ? 0 : 1) > 0) throw folder.refusal();

  space const on;
  physics const p = e.equations();
  part const here = d.bounds();
  exchange_space const on_exchange;
  level before(d.here, p.layers), now(d.here, p.layers), next(d.here, p.layers);
  by_hand::ghosts<exchange_space> ghosts(world, d, on_exchange, p.layers);
  before.set(e, d.here, -p.dt);
  now.set(e, d.here, 0);
  ghosts.fill(update(now.eta), update(now.u), update(now.v));

  progress bar(o.steps, master);
  double seconds = 0, output_seconds = 0;
  std::string last_file;
  for (long n = 0; n < o.steps;) {
    long const last = end_of_stretch(n, o.steps, o.output_every);
    (void)world.largest(0);
    Kokkos::Timer clock;
    while (n < last) {
      advance_all("advance", on, here, p, e.mixing_strength(), read(before.eta), read(before.u), read(before.v),
                  read(now.eta), read(now.u), read(now.v), overwrite(next.eta), overwrite(next.u), overwrite(next.v));
      ghosts.fill(update(next.eta), update(next.u), update(next.v));
      std::swap(before, now);
      std::swap(now, next);
      bar.at(++n);
    }
    on.fence();
    double const passed = world.largest(clock.seconds());
    if (is_timed(n, o.steps)) seconds += passed;
    if (!o.output.empty() && is_output_due(n, o.steps, o.output_every)) {
      Kokkos::Timer output;
      auto const eta = gathered(world, d, e, now.eta);
      last_file = (std::filesystem::path(o.output) / ("eta." + std::to_string(n) + ".raw")).string();
      if (world.largest(master && !write(last_file, eta) ? 1 : 0) > 0)
        throw bench::refusal("ocean", last_file + " cannot be written", "fwrite failed", "Name a folder that can");
      if (is_timed(n, o.steps)) output_seconds += world.largest(output.seconds());
    }
  }

  state const s{gathered(world, d, e, now.eta), gathered(world, d, e, now.u), gathered(world, d, e, now.v)};
  if (world.largest(master && !o.dump.empty() && !folder.dump(o.dump, bytes_of(s)) ? 1 : 0) > 0) throw folder.refusal();
  triad<space> const t(on, 6 * read(now.u).size());
  double const triad_seconds = t.seconds([&](double x) { return world.largest(x); });
  if (master)
    report{program_name,
           space::name(),
           e,
           o.steps,
           world.size(),
           seconds,
           output_seconds,
           t.bytes() * world.size() / triad_seconds,
           {},
           judge(e, double(o.steps) * p.dt, s),
           last_file}
        .print();
}

} // namespace

int main(int argc, char** argv) {
  by_hand::world const world{argc, argv};
  Kokkos::ScopeGuard const kokkos{argc, argv};
  try {
    options const o = read_options({argv + 1, std::size_t(argc - 1)});
    if (o.help) {
      if (world.rank() == 0) std::printf("%s", help_text);
    } else simulate(world, o);
    if (auto const failure = keel::policy::flush_standard_output())
      throw bench::refusal("ocean", "standard output cannot be written", failure.why, "Make room for it");
  } catch (bench::refusal const& e) {
    if (world.rank() == 0) std::fprintf(stderr, "%s\n", e.what());
    return bench::refusal::code;
  }
}
