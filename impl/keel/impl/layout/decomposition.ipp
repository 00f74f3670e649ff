// SPDX-License-Identifier: MIT
#include <keel/impl/layout/decomposition.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace keel::residency::detail {

// Dimensions that the grid lacks end at 0.
[[nodiscard]] inline bool overlap(segment const& a, segment const& b) {
  if (a.component != b.component) return false;
  for (int d = 0; d < max_grid_rank; ++d)
    if (a.box.end[d] != 0 && (a.box.end[d] <= b.box.begin[d] || b.box.end[d] <= a.box.begin[d])) return false;
  return true;
}

KEEL_INLINE std::vector<int> turns_of_lists(std::span<segment const> all) {
  std::map<std::pair<int, int>, std::vector<bool>> taken; // elements, by component and turn
  std::vector<int> turns;
  for (segment const& one : all) {
    std::span const numbers(one.box.numbers(), std::size_t(one.box.size(1)));
    int turn = 0;
    auto const meets = [&] {
      std::vector<bool> const& before = taken[{one.component, turn}];
      return std::any_of(numbers.begin(), numbers.end(),
                         [&](std::int32_t e) { return std::size_t(e) < before.size() && before[std::size_t(e)]; });
    };
    while (meets()) ++turn;
    std::vector<bool>& mine = taken[{one.component, turn}];
    for (std::int32_t const e : numbers) {
      if (mine.size() <= std::size_t(e)) mine.resize(std::size_t(e) + 1);
      mine[std::size_t(e)] = true;
    }
    turns.push_back(turn);
  }
  return turns;
}

KEEL_INLINE std::vector<int> turns_of(decomposition const& cut) {
  std::vector<segment> all;
  for (partner const& p : cut.partners) all.insert(all.end(), p.rims.begin(), p.rims.end());
  for (own_copy const& o : cut.own) all.push_back(o.origins);
  if (!all.empty() && all[0].box.is_listed()) return turns_of_lists(all);
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
