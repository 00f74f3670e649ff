// SPDX-License-Identifier: MIT
#include <keel/impl/residency/walls.hpp>
#include <keel/exchange/kokkos_provider.hpp>
#include <keel/impl/residency/records.hpp>

#include <algorithm>
#include <string>

namespace keel::residency::detail {

/// What the ghosts beyond one side of an array get.
struct wall_side {
  wall_values what = wall_values::none;
  bool is_negative = false;
  int layers = 0;
  void const* value = nullptr; ///< an element, of constants, in the memory of the array
};

/// One array, and what its walls get.
struct walled_array {
  shape const& lies;
  void *data, *past; ///< `past`: the level one further back, if a side needs it
  wall_side sides[max_grid_rank][2];

  /// Adds what fills its walls. All ghosts of a box lie beyond the same walls, or beyond none, in each dimension; so
  /// there are as many as 3 to the power of dimensions, without that of the owned cells and the halo.
  void add_to(std::vector<job>& moves) const {
    int zones = 1;
    for (int d = 0; d < lies.rank; ++d) zones *= 3;
    for (int zone = 0; zone < zones; ++zone) {
      int beyond[max_grid_rank]{};
      for (int d = 0, rest = zone; d < lies.rank; ++d, rest /= 3) beyond[d] = rest % 3 - 1;
      add_zone(moves, beyond);
    }
  }

private:
  /// The side that the ghosts of a zone lie beyond, if it has a condition.
  [[nodiscard]] wall_side const* side_of(int d, int beyond) const {
    if (beyond == 0) return nullptr;
    wall_side const& s = sides[d][beyond < 0 ? 0 : 1];
    return s.what != wall_values::none ? &s : nullptr;
  }
  // `beyond`: -1, 0 or 1 for each dimension: beyond the low wall, none, the high one.
  void add_zone(std::vector<job>& moves, int const (&beyond)[max_grid_rank]) const {
    share const& part = *lies.part;
    int layers = 0;
    for (int d = 0; d < lies.rank; ++d)
      if (wall_side const* const s = side_of(d, beyond[d])) layers = std::max(layers, s->layers);
    if (layers == 0) return;
    bounds const owned = part.owned(), inside = part.inside(), outer = part.within(layers);
    bounds box;
    for (int d = 0; d < lies.rank; ++d) {
      if (beyond[d] != 0 && !part.is_wall(d, beyond[d] < 0 ? side::low : side::high)) return;
      wall_side const* const s = side_of(d, beyond[d]);
      std::int64_t const own = s != nullptr ? s->layers : layers;
      box.begin[d] = beyond[d] < 0   ? std::max(owned.begin[d] - own, outer.begin[d])
                     : beyond[d] > 0 ? owned.end[d]
                                     : std::max(inside.begin[d], outer.begin[d]);
      box.end[d] = beyond[d] < 0   ? owned.begin[d]
                   : beyond[d] > 0 ? std::min(owned.end[d] + own, outer.end[d])
                                   : std::min(inside.end[d], outer.end[d]);
    }
    if (box.size(lies.rank) == 0) return;
    // From the last dimension to the first, as though each was filled after those before it.
    indices from = box.begin;
    origin_steps steps;
    void const* source = data;
    bool is_negative = false, is_found = false;
    for (int d = lies.rank; d-- > 0 && !is_found;) {
      wall_side const* const s = side_of(d, beyond[d]);
      if (s == nullptr) continue;
      bool const is_low = beyond[d] < 0;
      std::int64_t const last = is_low ? owned.begin[d] : owned.end[d] - 1; // the owned layer nearest to the wall
      is_negative = is_negative != s->is_negative;
      if (s->what == wall_values::continued) from[d] = last, steps.of[d] = 0;
      if (s->what == wall_values::mirrored)
        from[d] = 2 * last + (part.longer[d] != 0 ? 0 : is_low ? -1 : 1) - from[d], steps.of[d] = -1;
      if (s->what == wall_values::past) source = past, is_found = true;
      if (s->what == wall_values::constant) {
        source = s->value, is_found = true, from = {}, steps = {{0, 0, 0, 0}, 0};
      }
    }
    std::int64_t elements = 0;
    for (int d = 0; d < lies.rank; ++d) elements += from[d] * lies.stride[d];
    moves.push_back(job_of(is_negative ? motion::negate : motion::extend, lies, data,
                           static_cast<std::byte*>(const_cast<void*>(source)) + elements * lies.element_bytes, box,
                           nullptr, nullptr, steps));
  }
};

KEEL_INLINE void check_condition(arrays const& on, wall_condition const& one, int variable) {
  std::string const name(on.variables()[std::size_t(variable)].about->name);
  int const rank = on.shares_of(variable).front().rank, dimensions = on.shares()->front().rank;
  if (one.signs > 1 && one.signs != rank)
    throw error("residency::mirror", "variable " + name + " gets " + policy::counted(one.signs, "sign"),
                "it has " + policy::counted(rank, "dimension") + " of the grid", "Give one for each, or one for all");
  int const folded = on.shares()->front().folds.at;
  if (folded >= 0 && one.sides != wall_condition::all_sides && (one.sides >> (2 * folded + 1) & 1U) != 0)
    throw error("residency::on_side",
                "a condition for variable " + name + " is for the upper side of dimension " + std::to_string(folded),
                "the grid is folded there, and has no wall", "Name the lower side");
  for (int d = dimensions; d < max_grid_rank; ++d)
    if (one.sides != wall_condition::all_sides && (one.sides >> (2 * d) & 3U) != 0)
      throw error("residency::on_side", "a condition for variable " + name + " names dimension " + std::to_string(d),
                  "the grid has " + policy::counted(dimensions, "dimension") + ", counted from 0",
                  "Name one that it has");
}

// The constant in memory `m`, where it is sent once.
KEEL_INLINE void const* wall_filler::constant_in(memory m, void const* value, std::int64_t bytes) {
  if (m == host) return value;
  for (auto const& [known, there] : constants_)
    if (known == value) return there.get();
  constants_.emplace_back(value, arrays_.provider().queue_of(m).send("keel: walls", value, std::size_t(bytes)));
  return constants_.back().second.get();
}

KEEL_INLINE void wall_filler::fill(std::span<schedule_node const> entries, std::span<request const> asked, memory m,
                                   component_range range) {
  if (m == host) arrays_.settle_host();
  packing_.connect(arrays_.provider().queue_of(m));
  moves_.clear();
  for (request const& r : asked)
    for (int c = range.begin; c < range.of(arrays_.components()).end && r.writes != region::none; ++c) {
      variable_info const& about = *arrays_.variables()[std::size_t(r.variable)].about;
      shape const& lies = arrays_.provider().shape_of(r.variable, c);
      walled_array all{lies, arrays_.provider().array(r.variable, r.level, c, m), nullptr, {}};
      int dimension[max_grid_rank]{}; // of the grid
      for (int d = 0, k = 0; d < max_grid_rank && k < lies.rank; ++d)
        if (about.on.along == 0 || (about.on.along >> d & 1) != 0) dimension[k++] = d;
      for (schedule_node const& n : entries)
        for (wall_condition const* at = n.about->conditions; at->variable != nullptr; ++at) {
          wall_condition const& one = *at;
          if (*one.variable != about || one.level != r.level || one.what == wall_values::none) continue;
          if (one.what == wall_values::past) all.past = arrays_.provider().array(r.variable, r.level + 1, c, m);
          for (int k = 0; k < lies.rank; ++k)
            for (int end = 0; end < 2; ++end)
              if ((one.sides >> (2 * dimension[k] + end) & 1U) != 0)
                all.sides[k][end] = {one.what, (one.negative >> (one.signs > 1 ? k : 0) & 1U) != 0, one.layers,
                                     one.value != nullptr ? constant_in(m, one.value, lies.element_bytes) : nullptr};
        }
      all.add_to(moves_);
    }
  if (!moves_.empty()) packing_.move(moves_);
}

} // namespace keel::residency::detail
