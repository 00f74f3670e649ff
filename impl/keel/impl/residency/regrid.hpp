// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The bodies of regridding.hpp.

#include <keel/impl/layout/axis.hpp>
#include <keel/impl/layout/id_table.hpp>
#include <keel/impl/residency/regridding.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace keel::residency::detail {

// What a rank has of a variable on one cut of a grid, whose cells it has `cells` of.
struct place_on_cut {
  share const& cells;
  share const& own;
};

// Calls f(place) for each combination of places along the dimensions.
inline void for_each_place(std::span<std::vector<std::int64_t> const> along, auto const& f) {
  std::size_t count = 1;
  for (auto const& each : along) count *= each.size();
  for (std::size_t n = 0; n < count; ++n) {
    indices place;
    std::size_t rest = n;
    for (int d = 0; auto const& each : along) place[d++] = each[rest % each.size()], rest /= each.size();
    f(place);
  }
}

// What `rank` owned and owns of a variable that lies along these dimensions. Ranks that differ in others have the same:
// each gets it from that which does not differ from it in these, on the former cut.
inline element_moves moves_between(place_on_cut const& was, place_on_cut const& is, std::span<int const> dimensions,
                                   indices const& shift, int rank) {
  std::vector<axis> from, to;
  std::vector<std::int64_t> sources[max_grid_rank], targets[max_grid_rank];
  indices shifts, before, now;
  for (int k = 0; int const d : dimensions) {
    axis const &a = from.emplace_back(was.own, k), &b = to.emplace_back(is.own, k);
    shifts[k] = shift[d], before[k] = was.own.position[k], now[k] = is.own.position[k];
    for (std::int64_t at = 0; at < a.parts(); ++at)
      if (!b.shared(now[k], a, at, 0, shifts[k]).empty()) sources[k].push_back(at);
    for (std::int64_t at = 0; at < b.parts(); ++at)
      if (!b.shared(at, a, before[k], 0, shifts[k]).empty()) targets[k].push_back(at);
    ++k;
  }
  std::size_t const count = dimensions.size();
  struct boxes {
    std::vector<bounds> leave, come;
  };
  std::map<int, boxes> all; // in ascending order of ranks
  for_each_place({sources, count}, [&](indices const& there) {
    std::int64_t source = rank;
    for (int k = 0; k < int(count); ++k) source += (there[k] - before[k]) * was.own.step[k];
    for_each_shared(to, now, from, there, 0, shifts,
                    [&](bounds const& box, indices const&) { all[int(source)].come.push_back(box); });
  });
  // Of the ranks at a place all that differ in other dimensions.
  std::vector<std::int64_t> others[max_grid_rank];
  int const cell_rank = is.cells.rank;
  for (int d = 0; d < cell_rank; ++d) {
    auto const k = std::find(dimensions.begin(), dimensions.end(), d) - dimensions.begin();
    if (k < std::ptrdiff_t(count)) others[d] = targets[k];
    else
      for (std::int64_t at = 0; at < is.cells.processes[d]; ++at) others[d].push_back(at);
  }
  for_each_place({others, std::size_t(cell_rank)}, [&](indices const& place) {
    std::int64_t target = 0;
    indices there;
    for (int d = 0; d < cell_rank; ++d) target += place[d] * is.cells.step[d];
    for (int k = 0; int const d : dimensions) there[k++] = place[d];
    for (int d = 0; d < cell_rank; ++d)
      if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end() &&
          target / was.cells.step[d] % was.cells.processes[d] != was.cells.position[d])
        return;
    for_each_shared(to, there, from, before, 0, shifts, [&](bounds const& box, indices const& begin) {
      all[int(target)].leave.push_back(moved_to(begin, box, int(count)));
    });
  });
  element_moves made;
  for (auto const& [other, each] : all) made.add(other, std::span(each.leave), std::span(each.come));
  return made;
}

// Whether these are cut alike, so that each rank has the same of both.
inline bool are_alike(share const& a, share const& b) {
  return a.global_extents == b.global_extents && a.width == b.width && a.wraps == b.wraps && a.processes == b.processes;
}

KEEL_INLINE grid_renewal::grid_renewal(fields_state& of, std::span<residency::patch const> patches)
    : renewal(of, "regrid"), patches_(patches), components_(int(patches.size())) {
  auto const refuse = [](std::string const& wrong, std::string const& why, std::string_view hint) {
    throw error("residency::fields", wrong, why, hint);
  };
  if (patches.empty()) refuse("there are no patches", "fields have at least one component", "Give one");
  if (of.arrays_.has_blocks()) refuse("the grid is in blocks", "each block is a component", "Leave blocks out");
  int const rank = of.arrays_.shares()->front().rank;
  std::vector<grid> further;
  for (residency::patch const& p : patches) {
    std::string const which = "patch " + std::to_string(&p - patches.data());
    if (p.whole.rank() != rank)
      refuse(which + " is of " + policy::counted(p.whole.rank(), "dimension"), "the grid has " + std::to_string(rank),
             "Give it as many");
    if (p.whole.blocks() > 1) refuse(which + " is in blocks", "each block is a component", "Leave blocks out");
    if (p.from < -1 || p.from >= of.arrays_.components())
      refuse(which + " is from component " + std::to_string(p.from),
             "there are " + std::to_string(of.arrays_.components()), "Take one of them, or -1 for a new one");
    if (&p != patches.data()) further.push_back(p.whole);
  }
  auto const size = int(patches.size());
  int const ranks = of.ranks_->size();
  shares_ = std::make_shared<share_list const>(shares_of(patches[0].whole, further, ranks, of.arrays_.rank()));
  lattices_.resize(of.arrays_.lattices().size());
  for (variable_record const& v : of.arrays_.variables())
    if (auto& mine = lattices_[std::size_t(v.lattice)]; mine.shares == nullptr)
      mine = of.arrays_.lay(*v.about, shares_);
  for (int c = 0; c < size; ++c) {
    residency::patch const& p = patches[std::size_t(c)];
    auto const is_first = [&](std::vector<int> const& kept) {
      return p.from >= 0 && std::find(kept.begin(), kept.end(), p.from) == kept.end();
    };
    bool stays = is_first(kept_on_grid_) && are_alike((*shares_)[std::size_t(c)], of.arrays_.local(component{p.from}));
    for (int d = 0; d < rank; ++d) stays = stays && p.shift[d] == 0;
    kept_on_grid_.push_back(stays ? p.from : -1);
    kept_elsewhere_.push_back(is_first(kept_elsewhere_) ? p.from : -1);
  }
  moves_of_.resize((lattices_.size() + 1) * patches.size());
  for (int v = 0; v < int(of.arrays_.variables().size()); ++v)
    for (int c = 0; c < size; ++c)
      if (int const from = patches[std::size_t(c)].from; kept(v)[std::size_t(c)] < 0)
        add(v, c, from, from < 0 ? nullptr : moves(v, c));
}

KEEL_INLINE grid_renewal::~grid_renewal() {
  if (is_prepared_) swap();
}

KEEL_INLINE std::vector<int> const& grid_renewal::kept(int variable) const {
  variable_info const& about = *fields_.arrays_.variables()[std::size_t(variable)].about;
  return about.lies_on_grid && about.on.mesh.empty() ? kept_on_grid_ : kept_elsewhere_;
}

KEEL_INLINE element_moves const* grid_renewal::moves(int variable, int component) {
  variable_record const& v = fields_.arrays_.variables()[std::size_t(variable)];
  auto const n = std::size_t(component);
  residency::patch const& p = patches_[n];
  bool const is_whole = fields_.arrays_.provider().shape_of(variable).rank == 0;
  element_moves const*& known = moves_of_[(is_whole ? lattices_.size() : std::size_t(v.lattice)) * patches_.size() + n];
  if (known != nullptr) return known;
  lattice_record const &was = fields_.arrays_.lattices()[std::size_t(v.lattice)],
                       &is = lattices_[std::size_t(v.lattice)];
  element_moves& made = moves_.emplace_back();
  if (is_whole || was.mesh != nullptr) {
    bounds const all[] = {is_whole ? bounds{} : was.shares->front().owned()};
    made.add(fields_.arrays_.rank(), std::span(all), std::span(all));
  } else {
    share const& cells = fields_.arrays_.local(residency::component{p.from});
    std::vector<int> dimensions;
    for (int d = 0; d < cells.rank; ++d)
      if (was.on.along == 0 || (was.on.along >> d & 1) != 0) dimensions.push_back(d);
    made = moves_between({cells, fields_.arrays_.share_in(*was.shares, {p.from})}, {(*shares_)[n], (*is.shares)[n]},
                         dimensions, p.shift, fields_.arrays_.rank());
  }
  return known = &made;
}

KEEL_INLINE argument grid_renewal::digest() const {
  argument all{"patches"};
  for (residency::patch const& p : patches_) {
    grid_arguments whole;
    whole.add(p.whole);
    for (argument const& one : whole.all) all.add(std::int64_t(one.digest));
    all.add(p.from);
    for (int d = 0; d < p.whole.rank(); ++d) all.add(p.shift[d]);
  }
  return all;
}

KEEL_INLINE void grid_renewal::swap() {
  fields_.arrays_.swap(shares_, lattices_, components_);
  fields_.book_.ledger().swap(states_);
}

KEEL_INLINE void grid_renewal::prepare() {
  fields_state& f = fields_;
  gather();
  states_ = f.book_.ledger().renumbered(int(patches_.size()), [&](int v, int c) { return kept(v)[std::size_t(c)]; });
  swap();
  is_prepared_ = true;
  for (int v = 0; v < int(f.arrays_.variables().size()); ++v) {
    variable_record next = f.arrays_.variables()[std::size_t(v)];
    next.arrays = next.about->levels * int(patches_.size());
    (void)former_.replace(v, std::move(next), false, kept(v));
  }
  lay_out();
  for_each_moved([&](moved_array const& a, void const* zeros, std::size_t bytes) {
    std::int64_t elements = 0;
    for (bounds const& box : a.moves->coming_boxes) elements += box.size(a.to_lies->rank);
    if (a.where == host || elements == (a.to_lies->rank == 0 ? 1 : a.to_lies->part->owned().size(a.to_lies->rank)))
      return;
    f.arrays_.provider().queue_of(a.where).to_device(a.to, zeros, bytes);
    f.arrays_.provider().queue_of(a.where).fence();
  });
}

KEEL_INLINE void grid_renewal::commit() {
  any_observer& observer = fields_.book_.observer();
  for (int v = 0; v < int(fields_.arrays_.variables().size()); ++v) observer.renumber(v, kept(v));
  renewal::commit();
  is_prepared_ = false;
  if (auto const cut = fields_.arrays_.cut(&share::processes); !cut.empty()) observer.knob("ranks_in", cut, "regrid");
}

} // namespace keel::residency::detail
