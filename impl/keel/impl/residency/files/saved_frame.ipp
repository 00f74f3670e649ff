// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/saved_frame.hpp>
#include <keel/impl/residency/records.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace keel::residency::detail {

KEEL_INLINE seen_elements seen_of(arrays const& on, int variable, int component) {
  share const& s = on.local({component}, variable);
  seen_elements made;
  for (int n = 0; n < s.rank; ++n) {
    int const d = on.variables()[std::size_t(variable)].kind->is_left ? s.rank - 1 - n : n;
    made.counts.push_back(s.global_extents[d]);
    made.are_cells = made.are_cells && s.longer[d] == 0;
  }
  if (made.counts.size() > 3) made.counts[1] *= made.counts[0], made.counts.erase(made.counts.begin());
  auto const rank = std::size_t(s.rank);
  for (std::size_t n = 0; n < rank && n < 3 && !made.are_cells; ++n) { // from the fastest on
    int const d = on.variables()[std::size_t(variable)].kind->is_left ? int(n) : s.rank - 1 - int(n);
    made.origin[n] = s.longer[d] == 0 ? 0.5 : 0;
  }
  // VTK leaves out dimensions with one point from the last on.
  while (!made.are_cells && made.counts.size() > 1 && made.counts[0] == 1) made.counts.erase(made.counts.begin());
  return made;
}

inline std::string centring_of(lattice const& on) {
  std::string made;
  for (int d = 0; d < max_grid_rank; ++d) {
    if (on.longer == 1U << d) made = ".face" + std::to_string(d);
    if (on.longer == (vertex::longer & ~(1U << d))) made = ".edge" + std::to_string(d);
  }
  if (on.longer == 0) made = ".cell";
  if (on.longer == vertex::longer) made = ".vertex";
  for (int d = 0; d < max_grid_rank && on.along != 0; ++d)
    if ((on.along >> d & 1) != 0) made += ".along" + std::to_string(d);
  return made;
}

KEEL_INLINE std::vector<saved_frame> frames_of(arrays const& on, std::span<request const> what, component_range range) {
  std::vector<saved_frame> made;
  range = range.of(on.has_blocks() ? 1 : on.components());
  for (int c = range.begin; c < range.end; ++c) {
    std::size_t const first = made.size();
    for (bool const is_off_grid : {false, true})
      for (request const& r : what) {
        variable_info const& about = *on.variables()[std::size_t(r.variable)].about;
        if (is_off_grid == about.lies_on_grid) continue;
        if (is_off_grid) {
          made[first].arrays.push_back({r, "FieldData"});
          continue;
        }
        saved_frame one;
        one.component = c, one.mesh = about.on.mesh;
        if (made.size() != first) one.suffix = "." + std::string(one.mesh);
        std::string group = "PointData";
        if (one.mesh.empty()) {
          seen_elements const seen = seen_of(on, r.variable, c);
          one.points = seen.counts, one.origin = seen.origin;
          if (seen.are_cells) group = "CellData";
          for (std::int64_t& n : one.points) n += seen.are_cells ? 1 : 0;
          if (made.size() != first) one.suffix = centring_of(about.on);
        }
        auto at = std::find_if(made.begin() + std::ptrdiff_t(first), made.end(),
                               [&](saved_frame const& other) { return other.lies_as(one); });
        if (at == made.end()) {
          if (c > 0) one.suffix += "." + std::to_string(c);
          at = made.insert(at, std::move(one));
        }
        at->arrays.push_back({r, std::move(group)});
      }
  }
  return made;
}

KEEL_INLINE std::string name_of(arrays const& on, request const& r) {
  std::string const name(on.variables()[std::size_t(r.variable)].about->name);
  return r.level == 0 ? name : name + "[" + std::to_string(r.level) + "]";
}

// The box with the dimensions of the grid or of the mesh first, and as an index has them beyond it.
inline ordered_box as_seen(ordered_box const& box, std::vector<dimension_run> const& order, bool is_left) {
  std::vector<std::size_t> places(order.size());
  std::iota(places.begin(), places.end(), std::size_t(0));
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    int const m = order[a].of_grid, n = order[b].of_grid;
    if (m < 0 && n < 0) return is_left && a > b;
    if (m < 0 || n < 0) return n < 0 && m >= 0;
    return is_left ? m > n : m < n;
  });
  ordered_box made;
  made.at = box.at;
  for (std::size_t const n : places) made.add(box.dimensions[n]);
  return made;
}

KEEL_INLINE seen_array::seen_array(arrays const& on, request const& r, int component)
    : level{r.variable, r.level, component, region::owned}, whole(whole_of(on, level)),
      as(dataset_of(on, level, whole)), numbers(on.variables()[std::size_t(r.variable)].kind->numbers_of_each) {
  auto const order = whole.dimensions();
  for (dimension_run const& d : order) numbers *= d.of_grid < 0 ? d.count : 1;
  for (ordered_box const& box : whole.boxes(region::owned, true))
    boxes.push_back(as_seen(box, order, on.variables()[std::size_t(r.variable)].kind->is_left));
}

KEEL_INLINE std::byte const* seen_array::data() const {
  return static_cast<std::byte const*>(whole.of.provider().array(level.variable, level.level, level.component, host));
}

KEEL_INLINE int seen_array::element_bytes() const {
  return int(whole.of.provider().shape_of(level.variable, level.component).element_bytes);
}

} // namespace keel::residency::detail
