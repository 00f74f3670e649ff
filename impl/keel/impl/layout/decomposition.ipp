// SPDX-License-Identifier: MIT
#include <keel/impl/layout/decomposition.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace keel::residency::detail {

// Boxes, whose dimensions that the grid lacks end at 0.
[[nodiscard]] inline bool overlap(segment const& a, segment const& b) {
  if (a.component != b.component) return false;
  for (int d = 0; d < max_grid_rank; ++d)
    if (a.box.end[d] != 0 && (a.box.end[d] <= b.box.begin[d] || b.box.end[d] <= a.box.begin[d])) return false;
  return true;
}

KEEL_INLINE std::vector<int> turns_of(decomposition const& cut) {
  std::vector<segment> all;
  for (partner const& p : cut.partners) all.insert(all.end(), p.rims.begin(), p.rims.end());
  for (own_copy const& o : cut.own) all.push_back(o.origins);
  std::vector<int> turns;
  std::map<std::pair<int, int>, std::vector<bool>> listed; // the elements of a component and turn
  for (segment const& one : all) {
    int turn = 0;
    if (auto const list = one.box.listed(); !list.empty()) {
      std::size_t const end = std::size_t(*std::max_element(list.begin(), list.end())) + 1;
      auto const is_taken = [&](std::vector<bool>& has) {
        has.resize(std::max(has.size(), end));
        return std::any_of(list.begin(), list.end(), [&](auto e) { return has[std::size_t(e)]; });
      };
      while (is_taken(listed[{one.component, turn}])) ++turn;
      std::vector<bool>& taken = listed[{one.component, turn}];
      for (std::int32_t const e : list) taken[std::size_t(e)] = true;
    } else
      for (std::size_t i = 0; i < turns.size();)
        if (turns[i] == turn && overlap(all[i], one)) ++turn, i = 0;
        else ++i;
    turns.push_back(turn);
  }
  return turns;
}

} // namespace keel::residency::detail
