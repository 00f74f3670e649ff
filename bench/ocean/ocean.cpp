// SPDX-License-Identifier: MIT

/// @file
/// The main job of keel: a rotating shallow-water model in layers, on keel alone and on Kokkos
/// kernels. No call of MPI, no copy between memories and no choice of a device stands here.

#include "../output.hpp"
#include "by_hand.hpp"
#include "case.hpp"
#include "model.hpp"
#include "necessary.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "state.hpp"
#include "stretch.hpp"
#include "triad.hpp"

#include <keel/residency/gather.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace ocean;
namespace km = keel::machine;

using runtime = keel::runtime<app>;

/// Calls `f(tag)` for the device that the routines run on.
template <class F>
void with_chosen_device(runtime& run, F f) {
  keel::with_device<app::devices>(run.device_name(), f);
}

/// The node, then where each rank runs on what, then the knobs as they are after the start.
void introduce(runtime& run) {
  auto const& node = run.node();
  auto const& ranks = run.environment();
  std::string place = km::host_name() + ", cores " + to_string(keel::topology::bound_cores(node)) + ", device " +
                      std::string(run.device_name());
  with_chosen_device(run, [&]<class Tag>(Tag) {
    if constexpr (keel::device_traits<Tag>::has_instances)
      place += " " + keel::device_traits<Tag>::pci_id(keel::device_traits<Tag>::device_instance());
  });
  auto const places = km::gather_texts(ranks, place, ranks.master_rank());
  if (!ranks.is_master()) return;

  std::printf("%-16s  %s: %zu cores\n", "node", km::host_name().c_str(), node.cores().size());
  for (auto const& m : node.memories())
    std::printf("%-16s  %s: %.1f GiB\n", "", m.name.c_str(), double(m.bytes) / (1 << 30));
  for (auto const& d : node.devices())
    std::printf("%-16s  %s %s %s\n", "", std::string(to_string(d.type)).c_str(), d.pci_id.c_str(), d.name.c_str());
  for (std::size_t r = 0; r < places.size(); ++r)
    std::printf("%-16s  %s\n", ("rank " + std::to_string(r)).c_str(), places[r].c_str());
  std::printf("%s\n", keel::device::table(run.knobs()).c_str());
  std::fflush(stdout);
}

/// What is settled before the first step, and refused on every rank or on none.
struct job {
  options wanted;
  experiment what;
  kr::grid grid;
  kr::share here;
  bench::output_folder folder;

  job(runtime& run, options const& o)
      : wanted(o), what(o.which, o.nx, o.ny, o.layers),
        grid{{o.nx, o.ny}, kr::ghost_width{1, 1}, kr::periodic{true, !what.closed_in_y()}}, here(started(run, grid)),
        folder("ocean", run.environment(), o.output, o.dump) {}

private:
  /// The rank's part of the grid, once the devices run.
  static kr::share started(runtime& run, kr::grid const& grid) {
    kr::share here;
    std::string wrong;
    try {
      here = kr::share_of(grid, run.environment().size(), run.environment().rank());
      (void)run.node();
      run.start_devices();
    } catch (keel::error const& e) {
      wrong = e.what();
    }
    bench::settle(run.environment(), wrong);
    return here;
  }
};

class simulation {
public:
  simulation(runtime& run, job const& j)
      : run_(run), env_(run.environment()), job_(j), fields_(run, j.grid, kr::extra<u>{j.wanted.layers}) {
    here_ = place_of(j.here);
  }

  /// Steps in turns with the same by hand, and whether the bits are the same.
  void compare_by_hand() {
    fields_.run(initial_state{}, job_.what);
    fields_.run(share_ghosts{});
    with_chosen_device(run_, [&]<class Tag>(Tag) {
      auto const space = run_.execution_space<Tag>();
      by_hand other(space, env_, job_.grid, job_.what);
      auto const by_keel = [&] { fields_.step(step{}, job_.what); };
      by_keel(), other.step(); // the data come to the device
      auto const t = bench::steps_in_turns(env_, space, job_.wanted.steps, by_keel, [&] { other.step(); });
      bench::print(t, env_, run_.device_name(), km::all_of(env_, fields_.run(is_same{}, other.on_host())));
    });
  }

  void integrate() {
    options const& o = job_.wanted;
    job_.folder.enter(); // where checkpoints are, too
    if (!fields_.restart<step>()) {
      fields_.run(initial_state{}, job_.what);
      fields_.reset_traffic();
      fields_.run(share_ghosts{});
    }
    progress bar(o.steps, env_.is_master());
    long n = first_ = fields_.steps();
    do {
      long const last = end_of_stretch(n, o.steps, o.output_every, first_);
      km::barrier(env_);
      Kokkos::Timer clock;
      while (n < last) {
        fields_.step(step{}, job_.what);
        bar.at(++n);
      }
      with_chosen_device(run_, [&]<class Tag>(Tag) { run_.execution_space<Tag>().fence(); });
      double const passed = km::max(env_, clock.seconds());
      if (is_timed(n, o.steps, first_)) seconds_ += passed;
      if (!o.output.empty() && is_output_due(n, o.steps, o.output_every)) {
        Kokkos::Timer output;
        fields_.run(movie{});
        double const took = km::max(env_, output.seconds());
        if (is_timed(n, o.steps, first_)) output_seconds_ += took;
      }
    } while (n < o.steps);
    auto const& moved = fields_.traffic();
    copies_ = {km::sum(env_, double(moved.bytes(kr::way::to_host) + moved.bytes(kr::way::to_device))),
               km::sum(env_, necessary())};
  }

  void conclude() {
    options const& o = job_.wanted;
    state const last{whole<eta>(), whole<u>(), whole<v>()};
    if (!o.dump.empty()) job_.folder.dump(o.dump, bytes_of(last));
    if (auto const lost = fields_.saves().failed; lost != 0)
      throw bench::refusal("ocean", keel::policy::counted(lost, "file") + " of output could not be written",
                           "the warnings say why", "Make room for them");
    double bandwidth = 0;
    with_chosen_device(run_, [&]<class Tag>(Tag) {
      triad const t(run_.execution_space<Tag>(), std::size_t(6 * here_.ni * long(here_.nj) * o.layers));
      bandwidth = km::sum(env_, t.bytes()) / t.seconds([&](double x) { return km::max(env_, x); });
    });
    if (!env_.is_master()) return;
    char name[40] = "";
    if (!o.output.empty()) std::snprintf(name, sizeof name, "eta.%06ld.vtkhdf", o.steps);
    verdict const error = judge(job_.what, double(o.steps) * job_.what.equations().dt, last);
    report{std::string(run_.device_name()),
           job_.what,
           o.steps,
           env_.size(),
           seconds_,
           output_seconds_,
           bandwidth,
           copies_,
           error,
           *name != 0 ? (std::filesystem::path(o.output) / name).string() : "",
           first_}
        .print();
  }

private:
  /// A variable of the whole grid on the master, nothing elsewhere.
  template <class X>
  std::vector<double> whole() {
    auto const all = kr::gather(fields_, X{}, env_.master_rank());
    std::vector<double> made(all.size());
    std::size_t const ni = all.extent(0), nj = all.extent(1), nk = all.size() / std::max(ni * nj, std::size_t(1));
    constexpr std::size_t together = row_padding; // neighbours in memory, where layers lie apart
    for (std::size_t first = 0; first < ni; first += together)
      for (std::size_t j = 0; j < nj; ++j)
        for (std::size_t k = 0; k < nk; ++k)
          for (std::size_t i = first; i < std::min(first + together, ni); ++i)
            if constexpr (decltype(all)::rank == 2) made[i * nj + j] = all(i, j);
            else made[(i * nj + j) * nk + k] = all(i, j, k);
    return made;
  }

  /// The least that this rank had to copy between memories.
  double necessary() {
    double bytes = 0;
    with_chosen_device(run_, [&]<class Tag>(Tag) {
      using memory = typename keel::device_traits<Tag>::execution_space::memory_space;
      options const& o = job_.wanted;
      if constexpr (!std::is_same_v<memory, Kokkos::HostSpace>)
        bytes = necessary_bytes({here_, job_.here.is_wall(1, kr::side::low), job_.here.is_wall(1, kr::side::high),
                                 o.layers, o.steps - first_, o.output_every, !o.output.empty()});
    });
    return bytes;
  }

  runtime& run_;
  km::environment const& env_;
  job const& job_;
  kr::fields<app, eta, u, v> fields_;
  place here_;
  double seconds_ = 0, output_seconds_ = 0;
  long first_ = 0; ///< steps that another run made
  copied copies_;
};

} // namespace

int main(int argc, char** argv) {
  return bench::start<app>("ocean", argc, argv, help_text, read_options, [](runtime& run, options const& o) {
    job j(run, o);
    introduce(run);
    simulation s(run, j);
    if (o.by_hand) return s.compare_by_hand();
    s.integrate();
    s.conclude();
  });
}
