// SPDX-License-Identifier: MIT
#include <keel/impl/schedule/scratch.hpp>

#include <memory>

namespace keel::residency::detail {

KEEL_INLINE scratches::scratches(schedule_nodes const& table, memory const* where) {
  std::vector<std::unique_ptr<bool[]>> in_use;
  for (std::size_t i = 0; i < table.size; ++i)
    for (request const& r : table.asked(i)) {
      if (!table.is_scratch(r) || has(r.variable)) continue;
      bool* const one = in_use.emplace_back(std::make_unique<bool[]>(table.size)).get();
      scratch_walk<> const find(table, where, r.variable, one);
      for (std::size_t other = 0; other < variables.size(); ++other)
        for (std::size_t k = 0; k < table.size; ++k)
          if (one[k] && in_use[other][k]) {
            meeting.emplace_back(variables[other], r.variable);
            break;
          }
      variables.push_back(r.variable);
    }
  share();
}

KEEL_INLINE bool scratches::add(scratches const& more) {
  auto const before = pools;
  for (int v : more.variables)
    if (!has(v)) variables.push_back(v);
  meeting.insert(meeting.end(), more.meeting.begin(), more.meeting.end());
  share();
  return pools != before;
}

KEEL_INLINE std::size_t scratches::pool_of(int variable) const {
  std::size_t b = 0;
  while (b < pools.size() && std::find(pools[b].begin(), pools[b].end(), variable) == pools[b].end()) ++b;
  return b;
}

KEEL_INLINE bool scratches::has(int variable) const {
  return std::find(variables.begin(), variables.end(), variable) != variables.end();
}

// Each into the first pool where it fits.
KEEL_INLINE void scratches::share() {
  pools.clear();
  for (int v : variables) {
    auto const fits = [&](std::vector<int> const& pool) {
      return std::none_of(meeting.begin(), meeting.end(), [&](auto const& both) {
        int const other = both.first == v ? both.second : both.second == v ? both.first : v;
        return other != v && std::find(pool.begin(), pool.end(), other) != pool.end();
      });
    };
    auto const at = std::find_if(pools.begin(), pools.end(), fits);
    (at != pools.end() ? *at : pools.emplace_back()).push_back(v);
  }
}

} // namespace keel::residency::detail
