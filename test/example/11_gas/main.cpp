// SPDX-License-Identifier: MIT
// A blast in a box: 11_gas [--cells=N] [PICTURE]. Prints mass and energy, which a box with solid walls keeps, and the
// density of the densest cell; draws the density in a PGM file, if one is named. The numbers are equal bit by bit on
// every number of ranks and on every device.
#include "physics.hpp"

#include <keel/keel.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace km = keel::machine;
namespace kr = keel::residency;

namespace {

using environment = keel::runtime<gas::app>::environment_type;

/// What a line of the table shows, and a row of this rank's cells for the picture.
struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<gas::cells>>> {
  template <class V>
  static void run(V v, environment const& ranks, int steps, double time) {
    auto const q = v(gas::cells{});
    auto const own = v.owned();
    std::vector<double> mass, energy;
    double densest = 0;
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j) {
        mass.push_back(q(i, j, 0));
        energy.push_back(q(i, j, 3));
        densest = std::max(densest, q(i, j, 0));
      }
    double const cells = double(v.global_extents()[0] * v.global_extents()[1]);
    double const all_mass = km::sum(ranks, mass, km::ordered) / cells; // collective, like the two below
    double const all_energy = km::sum(ranks, energy, km::ordered) / cells;
    densest = km::max(ranks, densest);
    if (ranks.is_master()) std::printf("%5d  %.4f  %.12f  %.12f  %.6f\n", steps, time, all_mass, all_energy, densest);
  }
};

/// The density as grey, each rank's cells sent to the master, which writes them.
struct draw : kr::routine<"draw", kr::on_host, kr::reads<kr::owned<gas::cells>>> {
  template <class V>
  static void run(V v, environment const& ranks, std::string const& path) {
    auto const q = v(gas::cells{});
    auto const own = v.owned();
    auto const first = v.global_begin(), all = v.global_extents();
    std::vector<double> mine{double(first[0]), double(first[1]), double(own.end[0] - own.begin[0]),
                             double(own.end[1] - own.begin[1])};
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j) mine.push_back(q(i, j, 0));
    std::vector<double> const shares = km::gather(ranks, mine, 0); // one after the other
    if (!ranks.is_master()) return;
    std::vector<unsigned char> picture(std::size_t(all[0] * all[1]));
    for (auto share = shares.begin(); share != shares.end();) {
      long const row = long(share[0]), column = long(share[1]), rows = long(share[2]), columns = long(share[3]);
      share += 4;
      for (long i = row; i < row + rows; ++i)
        for (long j = column; j < column + columns; ++j)
          picture[std::size_t(i * all[1] + j)] = static_cast<unsigned char>(std::clamp(*share++ * 100, 0.0, 255.0));
    }
    std::ofstream file(path, std::ios::binary);
    file << "P5 " << all[1] << ' ' << all[0] << " 255\n";
    file.write(reinterpret_cast<char const*>(picture.data()), std::streamsize(picture.size()));
    if (!file.flush())
      throw keel::error("gas", path + " cannot be written", "the system refuses it", "Name another file");
  }
};

/// The number in `--cells=N`.
int cells_of(std::string_view word) {
  std::string const text(word.substr(word.find('=') + 1));
  char* end = nullptr;
  long const n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || n < 8 || n > 10000)
    throw keel::error("gas", std::string(word) + " is refused", "the box has 8 to 10000 cells a side",
                      "Write --cells=200");
  return int(n);
}

} // namespace

int main(int argc, char** argv) try {
  keel::runtime<gas::app> run{argc, argv}; // takes keel's options out of the command line
  if (run.help_requested()) return 0;
  int n = 64;
  std::string picture;
  for (int i = 1; i < argc; ++i) {
    std::string_view const word = argv[i];
    if (word.starts_with("--cells=")) n = cells_of(word);
    else picture = word;
  }
  environment const& ranks = run.environment();
  kr::fields<gas::app, gas::cells> f{run, kr::grid{{n, n}, kr::ghost_width{2}}, kr::extra<gas::cells>{4}};
  f.run(gas::ignite{});
  f.run(kr::exchange<gas::cells>{});
  f.run(gas::reflect{});

  if (ranks.is_master()) std::printf("steps  time    mass            energy          densest\n");
  gas::step_size size{0, 1.0 / n, 1};
  double const end = 0.1;
  int steps = 0;
  double time = 0;
  while (true) {
    if (steps % 20 == 0 || time >= end) f.run(output{}, ranks, steps, time);
    if (time >= end) break;
    size.dt = std::min(km::min(ranks, f.run(gas::measure{}, size)), end - time);
    f.step(gas::step{}, size);
    time += size.dt;
    ++steps;
  }
  if (!picture.empty()) f.run(draw{}, ranks, picture);
} catch (std::exception const& e) {
  return keel::report(e);
}
