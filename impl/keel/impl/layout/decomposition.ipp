// SPDX-License-Identifier: MIT
#include <keel/impl/layout/decomposition.hpp>
#include <keel/impl/layout/axis.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

namespace keel::residency::detail {

/// Places along a dimension of shares that have elements in common with the one at `at`, in ascending order.
inline std::vector<std::int64_t> places_near(axis const& a, std::int64_t at, int layers) {
  std::vector<std::int64_t> near;
  for (std::int64_t other = 0; other < a.parts(); ++other)
    if (other == at || !a.shared(at, a, other, layers).empty() || !a.shared(other, a, at, layers).empty())
      near.push_back(other);
  return near;
}

KEEL_INLINE decomposition decomposition_of(std::span<share const> shares, int components, int rank, int layers) {
  decomposition made;
  for (int c = 0; c < components; ++c) {
    share const& s = shares[shares.size() == 1 ? 0 : std::size_t(c)];
    if (!s.has_cells) continue;
    std::vector<axis> axes;
    std::vector<std::int64_t> near[max_grid_rank];
    std::size_t count = 1;
    indices here;
    for (int d = 0; d < s.rank; ++d) {
      here[d] = s.place(d);
      near[d] = places_near(axes.emplace_back(s, d), here[d], layers);
      count *= near[d].size();
    }
    for (std::size_t n = 0; n < count; ++n) {
      indices there;
      int other = rank, peer = c; // its rank and component
      std::size_t rest = n;
      for (int d = 0; d < s.rank; ++d) {
        there[d] = near[d][rest % near[d].size()];
        rest /= near[d].size();
        other += int((there[d] / s.blocks[d] - s.position[d]) * s.step[d]);
        peer += int((there[d] % s.blocks[d] - s.block[d]) * s.block_step[d]);
      }
      if (other == rank) {
        for_each_shared(axes, here, axes, there, layers, {}, [&](bounds const& box, indices const& begin) {
          made.own.push_back({{c, box, peer}, {peer, moved_to(begin, box, s.rank), c}});
        });
        continue;
      }
      auto at =
          std::find_if(made.partners.begin(), made.partners.end(), [&](partner const& p) { return p.rank >= other; });
      if (at == made.partners.end() || at->rank != other) at = made.partners.insert(at, {other, {}, {}});
      for_each_shared(axes, here, axes, there, layers, {},
                      [&](bounds const& box, indices const&) { at->ghosts.push_back({c, box, peer}); });
      for_each_shared(axes, there, axes, here, layers, {}, [&](bounds const& box, indices const& begin) {
        at->rims.push_back({c, moved_to(begin, box, s.rank), peer});
      });
    }
  }
  for (partner& p : made.partners) {
    std::stable_sort(p.ghosts.begin(), p.ghosts.end(), [](segment const& a, segment const& b) {
      return std::tie(a.component, a.other) < std::tie(b.component, b.other);
    });
    std::stable_sort(p.rims.begin(), p.rims.end(), [](segment const& a, segment const& b) {
      return std::tie(a.other, a.component) < std::tie(b.other, b.component);
    });
  }
  return made;
}

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
