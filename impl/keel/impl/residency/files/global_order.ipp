// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/global_order.hpp>
#include <keel/impl/residency/records.hpp>

#include <algorithm>
#include <utility>

namespace keel::residency::detail {

/// A dimension of an array: of the grid or of a mesh, or so many elements beyond it.
struct array_dimension {
  int of_grid;
  std::int64_t count, stride;
};

// The slowest first.
inline std::vector<array_dimension> dimensions_of(whole_variable const& w) {
  shape const& lies = w.of.provider().shape_of(w.variable, w.component);
  std::vector<array_dimension> made;
  if (!lies.order.empty()) {
    for (dimension_run const& d : lies.order) made.push_back({d.of_grid, d.count, d.stride});
    std::reverse(made.begin(), made.end());
    return made;
  }
  variable_record const& v = w.of.variables()[std::size_t(w.variable)];
  auto const& dynamic = v.extents[v.extents.size() == 1 ? 0 : std::size_t(w.component)];
  for (int d = 0; d < lies.rank; ++d) made.push_back({d, 0, lies.stride[d]});
  std::int64_t stride = lies.inner_stride;
  std::vector<array_dimension> inner;
  for (int k = 0; k < v.kind->rank - lies.rank; ++k) { // from the fastest on
    int const d = v.kind->is_left ? lies.rank + k : v.kind->rank - 1 - k;
    std::int64_t const count = d < v.kind->dynamic ? std::int64_t(dynamic[std::size_t(d)]) : v.kind->fixed[d];
    inner.push_back({-1, count, stride});
    stride *= count;
  }
  if (v.kind->is_left) {
    inner.insert(inner.begin(), made.begin(), made.end());
    made = std::move(inner);
    std::reverse(made.begin(), made.end());
  } else made.insert(made.end(), inner.rbegin(), inner.rend());
  return made;
}

// How many elements a dimension of the whole has.
inline std::int64_t extent_of(whole_variable const& w, share const& part, int d) {
  if (!part.ends.empty()) return w.mesh.total;
  bool const wraps = part.wraps[std::size_t(d)];
  return part.global_extents[d] + (w.has_walls && !wraps ? 2 * part.width[d] : 0);
}

KEEL_INLINE std::vector<std::int64_t> whole_variable::extents() const {
  shape const& lies = of.provider().shape_of(variable, component);
  std::vector<std::int64_t> made;
  for (array_dimension const& d : dimensions_of(*this))
    made.push_back(d.of_grid < 0 ? d.count : extent_of(*this, *lies.part, d.of_grid));
  return made;
}

KEEL_INLINE std::vector<int> whole_variable::order() const {
  std::vector<int> made;
  for (array_dimension const& d : dimensions_of(*this)) made.push_back(d.of_grid);
  return made;
}

// Local boxes of the walls without the columns that lie beside cells of others.
inline std::vector<bounds> own_walls(share const& s) {
  std::vector<bounds> made;
  bounds const owned = s.owned();
  bounds rest = owned;
  for (int d = 0; d < s.rank; ++d) {
    if (s.is_wall(d, side::low)) rest.begin[d] = 0;
    if (s.is_wall(d, side::high)) rest.end[d] = s.extents[d];
  }
  for (int d = 0; d < s.rank; ++d) {
    bounds low = rest, high = rest;
    low.end[d] = rest.begin[d] = owned.begin[d], high.begin[d] = rest.end[d] = owned.end[d];
    for (bounds const* one : {&low, &high})
      if (one->size(s.rank) > 0) made.push_back(*one);
  }
  return made;
}

KEEL_INLINE std::vector<ordered_box> boxes_of_ids(mesh_share const& here, mesh_place const& place) {
  std::vector<ordered_box> made;
  std::int64_t first = place.first;
  for_each_owned_run(here, [&](std::int64_t begin, std::int64_t count) {
    ordered_box& box = made.emplace_back();
    box.add({count, 1, first, place.total});
    box.at = begin, first += count;
  });
  return made;
}

KEEL_INLINE std::vector<ordered_box> whole_variable::boxes(region where, bool once) const {
  shape const& lies = of.provider().shape_of(variable, component);
  std::vector<array_dimension> const dimensions = dimensions_of(*this);
  std::vector<ordered_box> made;
  if (lies.part == nullptr) { // each rank has all of it, and each block
    if (once && (of.rank() != 0 || (of.has_blocks() && component != 0) || !overlap(where, region::owned))) return made;
    ordered_box all;
    for (array_dimension const& d : dimensions) all.add({d.count, d.stride, 0, d.count});
    return {all};
  }
  share const& s = *lies.part;
  if (lies.mesh != nullptr) {
    std::int64_t before = mesh.first;
    auto const add = [&](std::int64_t begin, std::int64_t count) {
      ordered_box box;
      for (array_dimension const& d : dimensions) {
        if (d.of_grid < 0) box.add({d.count, d.stride, 0, d.count});
        else box.add({count, d.stride, before, mesh.total}), box.at = begin * d.stride;
      }
      made.push_back(box);
      before += count;
    };
    if (overlap(where, region::owned)) for_each_owned_run(*lies.mesh, add);
    return made;
  }
  if (!s.has_cells) return made;
  if (once) { // ranks that differ in dimensions that the variable lacks have the same
    share const& cells = of.local(residency::component{component});
    unsigned const along = of.variables()[std::size_t(variable)].about->on.along;
    for (int d = 0; d < cells.rank; ++d)
      if (along != 0 && (along >> d & 1) == 0 && cells.place(d) != 0) return made;
  }
  std::vector<bounds> local;
  if (overlap(where, region::owned)) local.push_back(s.owned());
  if (overlap(where, region::walls)) {
    if (once)
      for (bounds const& one : own_walls(s)) local.push_back(one);
    else
      for (index_set const& one : boxes_of(lies, region::walls)) local.push_back(one);
  }
  bounds const owned = s.owned();
  for (bounds const& part : local) {
    struct stretch_of_whole {
      std::int64_t begin, count, first;
    };
    std::vector<stretch_of_whole> along[max_grid_rank]; // several where a periodic dimension begins anew
    std::size_t many = 1;
    for (int d = 0; d < s.rank; ++d) {
      for (std::int64_t i = part.begin[d]; i < part.end[d];) {
        std::int64_t const global = s.global_begin[d] + i - owned.begin[d], n = s.global_extents[d];
        bool const wraps = s.wraps[std::size_t(d)];
        std::int64_t const first = wraps ? (global % n + n) % n : global + (has_walls ? s.width[d] : 0);
        std::int64_t const count = std::min(part.end[d] - i, wraps ? n - first : part.end[d] - i);
        along[d].push_back({i, count, first});
        i += count;
      }
      many *= along[d].size();
    }
    for (std::size_t n = 0; n < many; ++n) {
      ordered_box box;
      std::size_t rest = n;
      stretch_of_whole of_dimension[max_grid_rank];
      for (int d = 0; d < s.rank; ++d) {
        of_dimension[d] = along[d][rest % along[d].size()], rest /= along[d].size();
        box.at += of_dimension[d].begin * lies.stride[d];
      }
      for (array_dimension const& d : dimensions)
        if (d.of_grid < 0) box.add({d.count, d.stride, 0, d.count});
        else
          box.add(
              {of_dimension[d.of_grid].count, d.stride, of_dimension[d.of_grid].first, extent_of(*this, s, d.of_grid)});
      made.push_back(box);
    }
  }
  return made;
}

} // namespace keel::residency::detail
