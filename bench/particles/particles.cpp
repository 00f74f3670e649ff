// SPDX-License-Identifier: MIT

/// @file
/// A box of atoms with the potential of Lennard and Jones, the default input of ExaMiniMD, on keel and on Kokkos kernels.
/// Atoms move from rank to rank. No call of MPI, no copy between memories and no choice of a device stands here.

#include "../start.hpp"
#include "model.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace particles;

struct app : keel::defaults {
  using layout = Kokkos::DefaultExecutionSpace::array_layout;
  using exchange = kr::on_device;
};
using runtime = keel::runtime<app>;

constexpr char help_text[] = R"(usage: particles [options]
  --cells N         cells of the fcc lattice along each axis, with four atoms each (40)
  --steps N         time steps (100)
  --newton on|off   whether a pair of atoms on two ranks is computed on one of them, and its force sent to the other (on)
  --help            this text
)";

struct options {
  int cells = 40, steps = 100;
  bool newton = true, help = false;
};

options read_options(std::span<char const* const> all) {
  options o;
  for (bench::arguments a("particles", all); a.next();) {
    if (a.name == "--cells") o.cells = a.number(6, 800);
    else if (a.name == "--steps") o.steps = a.number(0, 1000000000);
    else if (a.name == "--newton") {
      std::string_view const text = a.value();
      if (text != "on" && text != "off") throw a.unusable(text, "on or off");
      o.newton = text == "on";
    } else if (a.whole == "--help") o.help = true;
    else throw a.unknown();
  }
  return o;
}

class simulation {
public:
  simulation(runtime& run, options const& o)
      : run_(run), env_(run.environment()), wanted_(o), box_(o.cells, env_.size(), o.newton), bins_(box_, env_.rank()),
        near_(box_.ranks_near(env_.rank())), start_(atoms_at_start(env_, box_)),
        fields_(run, kr::partition<atoms>(env_, ids_of(start_)), kr::extra<bin_end>{bins_.size()},
                kr::extra<in_bins, border, neighbour_count>{0}, kr::extra<neighbours>{0, longest_row}) {
    bool const goes_on = fields_.restart<step, push>();
    if (!goes_on) fields_.run(begin{}, start_);
    fields_.run(number{}, owned_ids());
    if (goes_on) migrate(false); // a list made earlier has the same pairs within the cutoff
    find_ghosts();
    if (goes_on) return;
    fields_.run(forces{}, box_);
    fields_.run(energies{}, box_);
  }

  void integrate() {
    if (env_.is_master()) std::printf("#Timestep Temperature PotE ETot\n");
    first_ = int(fields_.steps());
    if (first_ == 0) row(0);
    fields_.reset_traffic();
    km::barrier(env_);
    Kokkos::Timer clock;
    for (int n = first_ + 1; n <= wanted_.steps; ++n) {
      if (n % steps_between_lists == 0) {
        fields_.run(drift{});
        migrate(true);
        find_ghosts();
        fields_.step(push{}, box_);
      } else {
        fields_.step(step{}, box_);
      }
      if (n % steps_between_rows == 0) row(n);
    }
    on_device([&]<class Tag>(Tag) { run_.execution_space<Tag>().fence(); });
    seconds_ = km::max(env_, clock.seconds());
  }

  void conclude() {
    auto const& moved = fields_.traffic();
    auto const bytes =
        km::sum(env_, std::array{double(moved.bytes(kr::way::to_neighbours)),
                                 double(moved.bytes(kr::way::to_host) + moved.bytes(kr::way::to_device))});
    auto const bits = km::sum(env_, fields_.run(digest{}));
    if (!env_.is_master()) return;
    int const steps = std::max(1, wanted_.steps - first_);
    std::printf("%-16s  particles on %d rank%s, device %s\n", "program", env_.size(), env_.size() == 1 ? "" : "s",
                std::string(run_.device_name()).c_str());
    std::printf("%-16s  %lld atoms, %d steps, newton %s\n", "case", static_cast<long long>(box_.atoms()), wanted_.steps,
                wanted_.newton ? "on" : "off");
    std::printf("%-16s  %.6f ms\n", "time per step", seconds_ / steps * 1e3);
    std::printf("%-16s  %.4g atoms a second\n", "steps", double(box_.atoms()) * steps / seconds_);
    std::printf("%-16s  %.6f MB a step between ranks\n", "bytes sent", bytes[0] / steps * 1e-6);
    std::printf("%-16s  %.6f MB a step between memories\n", "bytes moved", bytes[1] / steps * 1e-6);
    std::printf("%-16s  %016llx of positions\n", "digest", static_cast<unsigned long long>(bits));
  }

private:
  static std::vector<std::int64_t> ids_of(std::vector<atom> const& all) {
    std::vector<std::int64_t> ids;
    for (atom const& a : all) ids.push_back(a.id);
    return ids;
  }

  [[nodiscard]] std::span<std::int64_t const> owned_ids() const {
    auto const here = fields_.partition_of(atoms{});
    return here.ids().first(std::size_t(here.owned().end));
  }
  /// Calls f(tag) for the device that the user chose.
  void on_device(auto const& f) const { keel::with_device<app::devices>(run_.device_name(), f); }

  /// Sends each atom to the rank whose brick it is in. After a restart they stay outside of the box until they would be
  /// brought in, so that positions are rounded as in a run that was not broken.
  void migrate(bool brings_in) {
    fields_.run(leave{}, box_, brings_in);
    on_device([&]<class Tag>(Tag) { fields_.migrate(atoms{}, fields_.view<Tag>(destination{})); });
  }

  /// Gives ranks ghosts of all atoms that theirs may reach until the next time, and lists neighbours. Sometimes atoms
  /// that are near to each other are brought together in memory.
  void find_ghosts() {
    make_room();
    if (rebuilds_++ % rebuilds_between_sorts == 0) {
      fields_.run(sort{}, bins_);
      on_device([&]<class Tag>(Tag) { fields_.reorder(atoms{}, fields_.view<Tag>(in_bins{})); });
    }
    auto chosen = fields_.run(choose{}, box_, near_);
    std::int64_t count = 0;
    for (auto const& one : chosen) count += one.count;
    if (auto const most = km::max(env_, count); most > listed_) {
      listed_ = most + most / 8;
      fields_.resize(kr::extra<border>{listed_});
      chosen = fields_.run(choose{}, box_, near_);
    }
    on_device([&]<class Tag>(Tag) { fields_.renew_ghosts(atoms{}, chosen, fields_.view<Tag>(border{})); });
    make_room();
    fields_.run(kr::exchange<id, position>{});
    fields_.run(fill_bins{}, bins_);
    int const longest = km::max(env_, fields_.run(list_neighbours{}, box_, bins_));
    if (longest > longest_row)
      throw keel::error("particles", "an atom has " + std::to_string(longest) + " neighbours",
                        "there is room for " + std::to_string(longest_row), "Take shorter steps");
  }
  /// For lists of all atoms.
  void make_room() {
    auto const most = km::max(env_, fields_.size(atoms{}));
    if (most <= rows_) return;
    rows_ = most + most / 8;
    fields_.resize(kr::extra<in_bins, neighbour_count>{rows_}, kr::extra<neighbours>{rows_, longest_row});
  }

  /// What LAMMPS and ExaMiniMD print, energies for an atom.
  void row(int n) const {
    auto const [kinetic, potential] = fields_.value(energies{});
    auto const count = double(box_.atoms());
    if (env_.is_master())
      std::printf("%d %f %f %f\n", n, 2 * kinetic / (3 * count - 3), potential / count, (kinetic + potential) / count);
  }

  runtime& run_;
  km::environment const& env_;
  options wanted_;
  box box_;
  bins bins_;
  std::vector<int> near_;
  std::vector<atom> start_;
  std::int64_t rows_ = 0, listed_ = 0; ///< room for so many atoms, of which so many are ghosts of other ranks
  int rebuilds_ = 0;
  fields<app> fields_;
  double seconds_ = 0;
  int first_ = 0; ///< steps that the run made whose checkpoint this one goes on from
};

} // namespace

int main(int argc, char** argv) {
  return bench::start<app>("particles", argc, argv, help_text, read_options, [](runtime& run, options const& o) {
    simulation s(run, o);
    s.integrate();
    s.conclude();
  });
}
