// SPDX-License-Identifier: MIT
#include <keel/impl/layout/elements.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <string>

namespace keel::residency::detail {

KEEL_INLINE std::int32_t id_places::find(std::span<std::int64_t const> ids, std::span<std::int32_t const> order,
                                         std::int64_t id) const {
  id_table& numbers = table_->numbers;
  auto const slot_of = [&](std::int64_t wanted) {
    return numbers.slot_of(wanted, [&](std::int32_t n) { return ids[std::size_t(n)] == wanted; });
  };
  std::call_once(table_->is_made, [&] {
    auto const [least, most] = std::minmax_element(ids.begin(), ids.end());
    bool const are_close = !ids.empty() && id_table::are_close(*least, *most, ids.size());
    numbers = are_close ? id_table(*least, *most) : id_table(ids.size());
    for (std::size_t i = ids.size(); i-- != 0;) {
      std::int32_t const at = order.empty() ? std::int32_t(i) : order[i];
      numbers[slot_of(ids[std::size_t(at)])] = at;
    }
  });
  return numbers[slot_of(id)];
}

KEEL_INLINE std::vector<std::int64_t> elements::owned_ids() const {
  std::vector<std::int64_t> made(ids.begin(), ids.begin() + std::ptrdiff_t(owned));
  for (std::size_t n = 0; n != order.size() && n != made.size(); ++n) made[n] = ids[std::size_t(order[n])];
  return made;
}
KEEL_INLINE void elements::require_ranges(std::string_view mesh) const {
  if (is_scattered)
    throw error("residency::partition", "owned elements and ghosts of " + std::string(mesh) + " are no ranges",
                "is_ghost says that ghosts lie among the others", "Go over all, and look at the mask");
}
KEEL_INLINE element_range elements::owned_range(std::string_view mesh) const {
  require_ranges(mesh);
  return {0, owned};
}
KEEL_INLINE element_range elements::ghost_range(std::string_view mesh) const {
  require_ranges(mesh);
  return {owned, std::int64_t(ids.size())};
}
KEEL_INLINE element_range elements::layer(int n, std::string_view mesh) const {
  require_ranges(mesh);
  if (n < 1 || n > int(ends.size()))
    throw error("residency::partition", "layer " + std::to_string(n) + " of " + std::string(mesh) + " is not there",
                "there are " + std::to_string(ends.size()), "Count from 1");
  auto const at = std::size_t(n);
  return {n == 1 ? owned : ends[at - 2], ends[at - 1]};
}

} // namespace keel::residency::detail
