// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/strip.hpp>
#include <keel/impl/layout/grid/grid_share.hpp>

namespace keel::residency::detail {

KEEL_INLINE index_sets boxes_of(shape const& s, region where) {
  if (s.on != nullptr) return s.on->sets_of(*s.part, where, s.has_ghosts);
  return boxes_of(s.part != nullptr ? *s.part : share{}, where, s.has_ghosts);
}

KEEL_INLINE strip strip_of(shape const& s, bounds const& box, std::int32_t const* elements, shape const* from,
                           origin_steps const& steps, origin_steps const& own) {
  shape const& other = from != nullptr ? *from : s;
  strip made;
  auto const is_of = [&](int bytes) { return s.element_bytes % bytes == 0 && s.alignment % bytes == 0; };
  made.word_bytes = std::int16_t(is_of(8) ? 8 : is_of(4) ? 4 : 1);
  made.elements = elements;
  std::int64_t const words = s.element_bytes / made.word_bytes;
  made.words = 1;
  auto const add = [&](std::int64_t count, std::int64_t stride, std::int64_t way, bool is_listed = false) {
    made.words *= count;
    int const last = made.rank - 1;
    if (is_listed) made.listed = std::int16_t(made.rank);
    else if (count == 1) return; // costs an index, and moves nothing
    else if (last >= 0 && last != made.listed && made.stride[last] * made.count[last] == stride &&
             made.from[last] * made.count[last] == way) {
      made.count[last] *= count;
      return;
    }
    made.count[made.rank] = count, made.stride[made.rank] = stride, made.from[made.rank++] = way;
  };
  add(words, 1, 1);
  auto const add_of_grid = [&](int k) {
    int const d = own.along[k], e = steps.along[k];
    made.first += first_of(box, own, d) * s.stride[d] * words;
    add(box.end[d] - box.begin[d], s.stride[d] * words * own.of[d], other.stride[e] * words * steps.of[e],
        elements != nullptr);
  };
  for (std::size_t k = 0; k < s.order.size(); ++k)
    if (dimension_run const& d = s.order[k]; d.of_grid >= 0) add_of_grid(d.of_grid);
    else add(d.count, d.stride * words, other.order[k].stride * words);
  bool const inner_first = s.rank == 0 || s.inner_stride == 1;
  bool const ascending = is_ascending(s);
  int const parts = own.part < 0 ? 1 : 2; // of the inner elements, in turns or one after the other
  std::int64_t const every = parts == 2 && !ascending ? 2 : 1;
  made.first += part_begin(s, own) * words;
  auto const inner = [&] {
    add(s.inner / parts, every * s.inner_stride * words, every * other.inner_stride * words * steps.inner);
  };
  if (s.order.empty()) {
    if (inner_first) inner();
    for (int k = 0; k < s.rank; ++k) add_of_grid(ascending ? k : s.rank - 1 - k);
    if (!inner_first) inner();
  }
  if (made.rank == 0) made.count[0] = made.stride[0] = made.from[0] = 1, made.rank = 1;
  return made;
}

} // namespace keel::residency::detail
