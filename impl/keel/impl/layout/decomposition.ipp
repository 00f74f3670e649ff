// SPDX-License-Identifier: MIT
#include <keel/impl/layout/decomposition.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace keel::residency::detail {

// Boxes, whose dimensions that the grid lacks end at 0, or lists.
[[nodiscard]] inline bool overlap(segment const& a, segment const& b) {
  if (a.component != b.component) return false;
  if (a.box.is_listed()) {
    std::vector<bool> has;
    for (std::int32_t const e : a.box.listed()) {
      has.resize(std::max(has.size(), std::size_t(e) + 1));
      has[std::size_t(e)] = true;
    }
    auto const others = b.box.listed();
    return std::any_of(others.begin(), others.end(),
                       [&](auto e) { return std::size_t(e) < has.size() && has[std::size_t(e)]; });
  }
  for (int d = 0; d < max_grid_rank; ++d)
    if (a.box.end[d] != 0 && (a.box.end[d] <= b.box.begin[d] || b.box.end[d] <= a.box.begin[d])) return false;
  return true;
}

KEEL_INLINE std::vector<int> turns_of(decomposition const& cut) {
  std::vector<segment> all;
  for (partner const& p : cut.partners) all.insert(all.end(), p.rims.begin(), p.rims.end());
  for (own_copy const& o : cut.own) all.push_back(o.origins);
  std::vector<int> turns;
  for (segment const& one : all) {
    int turn = 0;
    for (std::size_t i = 0; i < turns.size();)
      if (turns[i] == turn && overlap(all[i], one)) ++turn, i = 0;
      else ++i;
    turns.push_back(turn);
  }
  return turns;
}

} // namespace keel::residency::detail
