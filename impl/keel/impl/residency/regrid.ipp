// SPDX-License-Identifier: MIT
#include <keel/impl/residency/regrid.hpp>
#include <keel/impl/layout/grid/grid_cut.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/layout/arguments.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/remap.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keel::residency::detail {

// Where `rank` is along dimension `d` of a share's cut.
inline std::int64_t place_along(share const& s, int d, int rank) { return rank / s.step[d] % s.processes[d]; }

// What this rank owned and owns of a variable that lies along these dimensions, on the cuts `was` and `is`. Ranks that
// differ in others, on the former cut of the grid, `cells`, have the same: each gets it from that which does not.
inline element_moves moves_between(share const& was, share const& is, share const& cells, share const& next_cells,
                                   std::span<int const> dimensions, indices const& shift, agreement const& ranks) {
  std::vector<axis> from, to;
  std::vector<bool> gives[max_grid_rank], takes[max_grid_rank]; // which places along a dimension have something
  indices shifts, before, now;
  for (int k = 0; int const d : dimensions) {
    axis const &a = from.emplace_back(was, k), &b = to.emplace_back(is, k);
    shifts[k] = shift[d], before[k] = was.position[k], now[k] = is.position[k];
    for (std::int64_t at = 0; at < a.parts(); ++at) gives[k].push_back(!b.shared(now[k], a, at, 0, shifts[k]).empty());
    for (std::int64_t at = 0; at < b.parts(); ++at)
      takes[k].push_back(!b.shared(at, a, before[k], 0, shifts[k]).empty());
    ++k;
  }
  element_moves made;
  for (int other = 0; other < ranks.size(); ++other) {
    int const rank = other == ranks.rank() ? element_moves::here : other;
    bool is_alike = true, is_source = true, is_target = true;
    for (int d = 0; d < cells.rank; ++d)
      is_alike = is_alike && (std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end() ||
                              place_along(cells, d, other) == std::max<std::int64_t>(cells.position[d], 0));
    if (!is_alike) continue;
    is_source = has_place(cells.processes, cells.rank, other);
    is_target = has_place(next_cells.processes, next_cells.rank, other);
    indices source, target;
    for (int k = 0; k < int(dimensions.size()); ++k) {
      source[k] = place_along(was, k, other), target[k] = place_along(is, k, other);
      is_source = is_source && gives[k][std::size_t(source[k])],
      is_target = is_target && takes[k][std::size_t(target[k])];
    }
    if (is_source)
      for_each_shared(to, now, from, source, 0, shifts, {},
                      [&](bounds const& box, indices const&) { made.come(rank, box); });
    if (is_target)
      for_each_shared(to, target, from, before, 0, shifts, {}, [&](bounds const& box, indices const& begin) {
        made.leave(rank, moved_to(begin, box, int(dimensions.size())));
      });
  }
  return made;
}

// Whether these are cut alike, so that each rank has the same of both.
inline bool are_alike(share const& a, share const& b) {
  for (std::size_t d = 0; d < a.cuts.size(); ++d)
    if (!a.cuts[d] != !b.cuts[d] || (a.cuts[d] && *a.cuts[d] != *b.cuts[d])) return false;
  return a.global_extents == b.global_extents && a.width == b.width && a.wraps == b.wraps && a.folds == b.folds &&
         a.processes == b.processes;
}

// Throws unless these can be components of the fields.
inline void check_patches(fields_state const& f, std::span<residency::patch const> patches) {
  auto const refuse = [](std::string const& wrong, std::string const& why, std::string_view hint) {
    throw error("residency::fields", wrong, why, hint);
  };
  if (patches.empty()) refuse("there are no patches", "fields have at least one component", "Give one");
  if (f.arrays_.has_blocks()) refuse("the grid is in blocks", "each block is a component", "Leave blocks out");
  int const rank = f.arrays_.local(component{}).rank;
  for (residency::patch const& p : patches) {
    std::string const which = "patch " + std::to_string(&p - patches.data());
    if (p.whole.rank() != rank)
      refuse(which + " is of " + policy::counted(p.whole.rank(), "dimension"), "the grid has " + std::to_string(rank),
             "Give it as many");
    if (p.whole.blocks() > 1) refuse(which + " is in blocks", "each block is a component", "Leave blocks out");
    if (p.from < -1 || p.from >= f.arrays_.components())
      refuse(which + " is from component " + std::to_string(p.from),
             "there are " + std::to_string(f.arrays_.components()), "Take one of them, or -1 for a new one");
  }
}

// Grids that are cut anew, and how what is on them moves.
class regridding {
public:
  regridding(fields_state& f, std::span<residency::patch const> patches, agreement const& ranks)
      : f_(f), patches_(patches), ranks_(ranks), map_(f, "regrid") {
    check_patches(f, patches);
    cut();
    for (std::size_t c = 0; c < patches.size(); ++c) keep_arrays(c);
    for (int v = 0; v < variables(); ++v)
      for (std::size_t c = 0; c < patches.size(); ++c)
        if (kept(v)[c] < 0) fill(v, c);
  }
  void run() {
    auto const lay_out = [&] {
      map_.next.components = int(patches_.size());
      map_.next.states =
          f_.book_.ledger().renumbered(int(patches_.size()), [&](int v, int c) { return kept(v)[std::size_t(c)]; });
      map_.install();
      for (int v = 0; v < variables(); ++v) {
        variable_record next = f_.arrays_.variables()[std::size_t(v)];
        next.arrays = next.about->levels * int(patches_.size());
        (void)map_.replace(v, std::move(next), false, kept(v));
      }
    };
    map_.run(thunk::of([] {}), thunk::of(lay_out));
  }

private:
  [[nodiscard]] int variables() const { return int(f_.arrays_.variables().size()); }
  [[nodiscard]] std::vector<int> const& kept(int variable) const {
    auto const lattice = std::size_t(f_.arrays_.variables()[std::size_t(variable)].lattice);
    bool const lies_anew = map_.next.lattices[lattice] != f_.arrays_.lattices()[lattice];
    return lies_anew && !is_whole(variable) ? on_grid_ : elsewhere_;
  }
  /// Whether every rank has all of it.
  [[nodiscard]] bool is_whole(int variable) const { return f_.arrays_.provider().shape_of(variable).rank == 0; }
  void cut() {
    std::vector<grid> further;
    for (residency::patch const& p : patches_.subspan(1)) further.push_back(p.whole);
    map_.next.shares =
        std::make_shared<share_list const>(shares_of(patches_[0].whole, further, ranks_.size(), f_.arrays_.rank()));
    for (variable_record const& v : f_.arrays_.variables())
      if (auto& l = map_.next.lattices[std::size_t(v.lattice)]; l == f_.arrays_.lattices()[std::size_t(v.lattice)])
        if (auto const anew = l->laid_on(map_.next.shares, v.about->name)) l = anew;
  }
  // Arrays stay with the first component that is made of theirs, on a grid if it is cut alike.
  void keep_arrays(std::size_t c) {
    residency::patch const& p = patches_[c];
    auto const is_first = [&](std::vector<int> const& all) {
      return p.from >= 0 && std::find(all.begin(), all.end(), p.from) == all.end();
    };
    bool stays = is_first(on_grid_) && are_alike((*map_.next.shares)[c], f_.arrays_.local(component{p.from}));
    for (int d = 0; d < p.whole.rank(); ++d) stays = stays && p.shift[d] == 0;
    bool const stays_elsewhere = is_first(elsewhere_);
    on_grid_.push_back(stays ? p.from : -1), elsewhere_.push_back(stays_elsewhere ? p.from : -1);
  }
  // What a new component of a variable gets.
  void fill(int variable, std::size_t c) {
    residency::patch const& p = patches_[c];
    if (p.from < 0) return map_.fill(variable, int(c), p.from, nullptr);
    int const lattice = f_.arrays_.variables()[std::size_t(variable)].lattice;
    auto const [at, is_new] = moves_.try_emplace({is_whole(variable) ? -1 : lattice, c});
    element_moves& made = at->second;
    map_.fill(variable, int(c), p.from, &made);
    if (!is_new) return;
    geometry const &was = *f_.arrays_.lattices()[std::size_t(lattice)], &is = *map_.next.lattices[std::size_t(lattice)];
    if (&kept(variable) == &elsewhere_) {
      bounds const all = is_whole(variable) ? bounds{} : was.shares.front().owned();
      made.leave(element_moves::here, all), made.come(element_moves::here, all);
      return;
    }
    share const& cells = f_.arrays_.local(component{p.from});
    std::vector<int> dimensions;
    for (int d = 0; d < cells.rank; ++d)
      if (was.on.along == 0 || (was.on.along >> d & 1) != 0) dimensions.push_back(d);
    made = moves_between(was.local({p.from}), is.shares[c], cells, (*map_.next.shares)[c], dimensions, p.shift, ranks_);
  }

  fields_state& f_;
  std::span<residency::patch const> patches_;
  agreement const& ranks_;
  remap map_;
  std::vector<int> on_grid_, elsewhere_; // by component, that whose arrays variables keep; negative: they get new ones
  std::map<std::pair<int, std::size_t>, element_moves> moves_; // by lattice and component; -1: of what is on no lattice
};

KEEL_INLINE void regrid(fields_state& f, std::span<residency::patch const> patches) {
  constexpr std::string_view who = "regrid";
  agreement const& ranks = ranks_for(f, who);
  std::optional<regridding> made;
  ranks.all_or_none({"residency::fields", who, "is refused", "Give other patches"},
                    [&] { made.emplace(f, patches, ranks); });
  argument given{"patches"};
  for (residency::patch const& p : patches) {
    grid_arguments whole;
    whole.add(p.whole);
    for (argument const& one : whole.all) given.add(std::int64_t(one.digest));
    given.add(p.from);
    for (int d = 0; d < p.whole.rank(); ++d) given.add(p.shift[d]);
  }
  require_alike(ranks, "residency::fields", "regrid is not done", {&given, 1});
  made->run();
  if (auto const cut = f.arrays_.cut(&share::processes); !cut.empty()) f.book_.observer().knob("ranks_in", cut, who);
}

} // namespace keel::residency::detail
