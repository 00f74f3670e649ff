// SPDX-License-Identifier: MIT
#include <keel/impl/layout/elements.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <string>
#include <tuple>

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

KEEL_INLINE verdict worse::operator()(verdict const& a, verdict const& b) const {
  auto const key = [](verdict const& v) { return std::tuple(v.what, v.id, v.first, v.second); };
  return key(b) < key(a) ? b : a;
}

KEEL_INLINE void verdict::check(std::string_view mesh, search_for what_for) const {
  auto const id_of = [&] { return "id " + std::to_string(id) + " of " + std::string(mesh); };
  auto const on = [](std::int32_t rank) { return "rank " + std::to_string(rank); };
  bool const of_rows = what_for == search_for::rows;
  auto const fail = [&](std::string const& wrong, char const* why, char const* hint) {
    throw error(of_rows ? "residency::gather_rows" : "residency::partition", wrong, why, hint);
  };
  switch (what) {
  case mistake::none: return;
  case mistake::lacks_memory:
    throw out_of_memory_error("residency::partition",
                              on(first) + " does not find the owners of its " + std::string(mesh), 0);
  case mistake::too_many:
    return fail(on(first) + " has " + std::to_string(id) + " " + std::string(mesh), "local indices have 32 bits",
                "Take more ranks");
  case mistake::other_length:
    return fail(on(first) + " has " + std::to_string(second) + ' ' + std::string(mesh) + ", is_ghost says it of " +
                    std::to_string(id),
                "each element is a ghost or is not", "Give it as many");
  case mistake::owned_twice:
    if (of_rows)
      return fail(id_of() + " has two rows, on " + on(first) + " and " + on(second), "an element has one",
                  "Give it once");
    return fail(first == second ? on(first) + " owns " + id_of() + " twice"
                                : on(first) + " and " + on(second) + " both own " + id_of(),
                "an element has one owner", "Leave it in one list of owned ids, once");
  case mistake::named_twice:
    return fail(on(first) + " has the ghost with " + id_of() + " twice", "it lies in one layer",
                "Leave it in the first layer that it belongs to");
  case mistake::no_owner:
    if (of_rows)
      return fail("no rank has a row of " + id_of() + ", which " + on(first) + " needs", "each element gets one",
                  "Give it on some rank");
    return fail("the ghost with " + id_of() + " on " + on(first) + " has no owner", "it is in no list of owned ids",
                "Let a rank own it, or leave it out");
  }
}

} // namespace keel::residency::detail
