// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/global_order.hpp>
#include <keel/impl/residency/records.hpp>

#include <algorithm>

namespace keel::residency::detail {

KEEL_INLINE std::vector<dimension_run> whole_variable::dimensions() const {
  shape const& lies = of.provider().shape_of(variable, component);
  std::vector<dimension_run> made(lies.order.begin(), lies.order.end());
  variable_record const& v = of.variables()[std::size_t(variable)];
  std::int64_t stride = lies.inner_stride;
  for (int k = 0; k < v.kind->rank && lies.order.empty(); ++k) { // from the fastest on
    int const d = v.kind->is_left ? k : v.kind->rank - 1 - k;
    if (d < lies.rank) {
      made.push_back({d, 0, lies.stride[d]});
      continue;
    }
    auto const& dynamic = v.extents[v.extents.size() == 1 ? 0 : std::size_t(component)];
    std::int64_t const count = d < v.kind->dynamic ? std::int64_t(dynamic[std::size_t(d)]) : v.kind->fixed[d];
    made.push_back({-1, count, stride});
    stride *= count;
  }
  std::reverse(made.begin(), made.end());
  indices const extents = of.lattice_of(variable)->whole_extents({component}, has_walls);
  for (dimension_run& d : made)
    if (d.of_grid >= 0) d.count = extents[d.of_grid];
  return made;
}

KEEL_INLINE std::vector<ordered_box> boxes_of_ids(elements const& here) {
  std::vector<ordered_box> made;
  std::int64_t first = here.numbers.first;
  here.for_each_owned_run([&](std::int64_t begin, std::int64_t count) {
    ordered_box& box = made.emplace_back();
    box.add({count, 1, first, here.numbers.total});
    box.at = begin, first += count;
  });
  return made;
}

KEEL_INLINE std::vector<ordered_box> whole_variable::boxes(region where, bool once) const {
  shape const& lies = of.provider().shape_of(variable, component);
  std::vector<dimension_run> const all = dimensions();
  std::vector<ordered_box> made;
  if (lies.part == nullptr) { // each rank has all of it, and each block
    if (once && (of.rank() != 0 || (of.has_blocks() && component != 0) || !overlap(where, region::owned))) return made;
    ordered_box& box = made.emplace_back();
    for (dimension_run const& d : all) box.add({d.count, d.stride, 0, d.count});
    return made;
  }
  for (placed_box const& one : lies.on->places({component}, has_walls, where, once)) {
    ordered_box& box = made.emplace_back();
    for (dimension_run const& d : all) {
      placed_box::stretch const along = d.of_grid < 0 ? placed_box::stretch{0, d.count, 0} : one.along[d.of_grid];
      box.add({along.count, d.stride, along.first, d.count});
      box.at += along.begin * d.stride;
    }
  }
  return made;
}

} // namespace keel::residency::detail
