// SPDX-License-Identifier: MIT

/// @file
/// A gas on a staggered grid, on keel: shock tube and blast, beside their exact answers and beside the same kernels by
/// hand.

#include "../medians.hpp"
#include "../start.hpp"
#include "by_hand.hpp"
#include "model.hpp"
#include "necessary.hpp"
#include "options.hpp"

#include <keel/residency/gather.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace ministag;
using bench::row;
using runtime = keel::runtime<app>;

double median(std::vector<double> times) {
  if (times.size() > 1) times.erase(times.begin()); // in the first step data come to the device
  return times.empty() ? 0 : bench::median(times);  // none of a run that goes on from the last step
}

class simulation {
public:
  simulation(runtime& run, options const& o)
      : run_(run), options_(o), what_(o.which, o.nx, o.ny),
        fields_(run, kr::grid{{o.nx, o.ny}, kr::ghost_width{most_ghosts}, kr::blocks{o.blocks}}) {}

  void integrate() {
    fields_.run(fill{}, what_);
    fields_.run(balance{}), before_ = fields_.value(totals{});
    if (fields_.restart<step>()) time_ = fields_.run(get_time{}, kr::component{0}), steps_ = long(fields_.steps());
    fields_.reset_traffic();
    keel::with_device<app::devices>(run_.device_name(), [&]<class Tag>(Tag) {
      auto const space = run_.execution_space<Tag>();
      using space_type = std::remove_cvref_t<decltype(space)>;
      if (options_.by_rows) step_beside<by_hand::gas<space_type, by_hand::rows_of>>(space);
      else step_beside<by_hand::gas<space_type, by_hand::cells_of>>(space);
    });
    fields_.run(balance{}), after_ = fields_.value(totals{});
  }

  void report() {
    auto const& ranks = run_.environment();
    std::vector<piece> pieces;
    for (int b = 0; b < fields_.components(); ++b) {
      auto const& s = fields_.local(kr::component{b});
      auto const own = s.owned();
      pieces.push_back(
          {{s.global_begin[0], s.global_begin[1]}, {own.end[0] - own.begin[0], own.end[1] - own.begin[1]}});
    }
    pieces = km::gather(ranks, pieces, ranks.master_rank());
    if (!ranks.is_master()) return;
    if (!options_.dump.empty()) {
      std::ofstream file(options_.dump, std::ios::binary);
      for (auto const* x : {&last_.density, &last_.energy, &last_.v1, &last_.v2})
        file.write(reinterpret_cast<char const*>(x->data()), std::streamsize(x->size() * sizeof(double)));
      if (!file.flush())
        throw keel::error("ministag", "--dump " + options_.dump + " cannot be written", "the file or its folder",
                          "Name another");
    }
    bool const is_sod = what_.which() == problem::sod;
    double const least =
        double(steps_) * double(least_bytes(pieces, std::size_t(options_.blocks), options_.nx, options_.ny));
    row("program", "ministag on %d rank%s of %d block%s, device %s", ranks.size(), ranks.size() == 1 ? "" : "s",
        options_.blocks, options_.blocks == 1 ? "" : "s", std::string(run_.device_name()).c_str());
    row("problem", "%s, %ldx%ld cells, %ld steps to time %.6g", is_sod ? "sod" : "blast", options_.nx, options_.ny,
        steps_, time_);
    row("time per step", "%.6f ms (median)", 1e3 * median(times_));
    row("error", is_sod ? "%.6f in the density (L1)" : "%.6f of the radius of the shock", what_.error(time_, last_));
    row("mass", "%.1e changed, relative", std::abs(after_[0] / before_[0] - 1));
    row("energy", "%.1e changed, relative", std::abs(after_[1] / before_[1] - 1));
    row("bytes sent", "%.0f between ranks", sent_);
    row("least", "%.0f", least);
    if (options_.by_hand) {
      double const plain = median(by_hand_times_);
      row("by hand", "%.6f ms (median), the same bits", 1e3 * plain);
      row("ratio", "%.4f of the time by hand", median(times_) / plain);
    }
  }

private:
  template <class Gas, class Space>
  void step_beside(Space const& space) {
    double const end = options_.time > 0 ? options_.time : what_.end();
    std::optional<Gas> plain;
    if (options_.by_hand) plain.emplace(space, what_);
    for (; time_ < end && steps_ < options_.steps; ++steps_) {
      times_.push_back(seconds(space, [&] { fields_.step(step{}, end, &std::as_const(what_), steps_); }));
      if (plain) by_hand_times_.push_back(seconds(space, [&] { plain->step(end - time_, steps_); }));
      time_ = fields_.run(get_time{}, kr::component{0});
    }
    sent_ = km::sum(run_.environment(), double(fields_.traffic().bytes(kr::way::to_neighbours)));
    last_ = {whole<density>(), whole<energy>(), whole<v1>(), whole<v2>()};
    if (plain && plain->whole() != last_)
      throw keel::error("ministag", "the state is not that of the kernels by hand", "the bits have to be the same",
                        "Look for a race or a stale ghost");
  }

  template <class Space, class F>
  double seconds(Space const& space, F const& f) const {
    Kokkos::Timer const clock;
    f();
    space.fence();
    return clock.seconds();
  }

  /// A variable of the whole grid on the master, nothing elsewhere.
  template <class X>
  std::vector<double> whole() {
    auto const all = kr::gather(fields_, X{}, run_.environment().master_rank());
    std::vector<double> made;
    for (std::size_t i = 0; i < all.extent(0); ++i)
      for (std::size_t j = 0; j < all.extent(1); ++j) made.push_back(all(i, j));
    return made;
  }

  runtime& run_;
  options options_;
  setup what_;
  kr::fields<app, density, energy, v1, v2, dx, dy, elapsed, q1, q2, mass, heat, along, across, fastest, dt> fields_;
  state last_;
  std::array<double, 2> before_{}, after_{};
  std::vector<double> times_, by_hand_times_;
  double time_ = 0, sent_ = 0;
  long steps_ = 0;
};

} // namespace

int main(int argc, char** argv) {
  return bench::start<app>("ministag", argc, argv, help_text, read_options, [](runtime& run, options const& o) {
    if (o.by_hand && (run.environment().size() > 1 || o.blocks > 1))
      throw bench::refusal("ministag", "--by-hand is for one rank and one block", "what is by hand has no messages",
                           "Start one rank, without --blocks");
    simulation s(run, o);
    s.integrate();
    s.report();
  });
}
