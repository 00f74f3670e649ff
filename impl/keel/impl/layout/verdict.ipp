// SPDX-License-Identifier: MIT
#include <keel/impl/layout/verdict.hpp>
#include <keel/policy/error.hpp>

#include <string>
#include <tuple>

namespace keel::residency::detail {

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
