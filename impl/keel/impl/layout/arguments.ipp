// SPDX-License-Identifier: MIT
#include <keel/impl/layout/arguments.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace keel::residency::detail {

KEEL_INLINE void require_alike(machine::agreement const& ranks, std::string_view place, std::string_view wrong,
                               std::span<argument const> all) {
  constexpr std::size_t most = 8; // without memory, which a rank may lack
  for (; !all.empty(); all = all.subspan(std::min(all.size(), most))) {
    std::array<std::int64_t, 2 * most> both{};
    for (std::size_t n = 0; n < std::min(all.size(), most); ++n)
      both[2 * n] = std::int64_t(all[n].digest), both[2 * n + 1] = ~both[2 * n];
    ranks.min(both);
    for (std::size_t n = 0; n < std::min(all.size(), most); ++n)
      if (both[2 * n] != ~both[2 * n + 1])
        throw error(place, wrong, "the " + std::string(all[n].what) + " differ between ranks",
                    "Give the same on every rank");
  }
}

KEEL_INLINE void argument::add(lattice const& on) {
  for (char const c : on.mesh) add(c);
  for (auto const w : on.width) add(w);
  add(on.longer), add(on.along), add(on.changes_sign), add(on.turns), add(on.turns_faces);
}

KEEL_INLINE void grid_arguments::add(grid const& g) {
  for (argument& one : all) one.add(g.rank());
  for (int d = 0; d < g.rank(); ++d) {
    all[0].add(g.extents()[d]), all[1].add(g.width(d)), all[2].add(g.is_periodic(d) ? 1 : 0);
    all[3].add(g.ranks_wanted(d));
    if (g.cuts_in(d))
      for (std::int64_t const at : *g.cuts_in(d)) all[3].add(at);
  }
  all[4].add(g.blocks());
  all[5].add(g.folds().at), all[5].add(g.folds().along), all[5].add(g.folds().longer);
  all[5].add(g.folds().is_cube), all[5].add(g.folds().corners_along);
}

} // namespace keel::residency::detail
