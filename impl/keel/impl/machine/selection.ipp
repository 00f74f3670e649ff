// SPDX-License-Identifier: MIT
#include <keel/machine/selection.hpp>

#include <algorithm>

namespace keel::machine {

namespace detail {
/// ", which has 8 ranks", if that is known.
inline std::string which_has(int extent) {
  return extent == unknown ? "" : ", which has " + policy::counted(extent, "rank");
}
} // namespace detail

KEEL_INLINE void master::check(int size) const {
  if (rank >= 0 && rank < size) return;
  throw error("machine::master", "rank " + std::to_string(rank) + " is no rank of the new environment",
              "it has " + std::to_string(size) + ", counted from 0",
              "Name the master by its rank in the new environment, not in the parent");
}

KEEL_INLINE void strided::check(int extent) const {
  auto const last = begin + (static_cast<long long>(size) - 1) * stride;
  auto const beyond = [&](long long rank) { return rank < 0 || (extent != unknown && rank >= extent); };
  std::string const why = size < 1                        ? "it selects no rank"
                          : stride == 0                   ? "a stride of 0 selects one rank again and again"
                          : beyond(begin) || beyond(last) ? "it leaves the parent" + detail::which_has(extent)
                                                          : "";
  if (why.empty()) return;
  throw error("machine::strided",
              "size " + std::to_string(size) + ", begin " + std::to_string(begin) + ", stride " +
                  std::to_string(stride) + " is refused",
              why, "Keep begin and begin + (size - 1) * stride inside the parent");
}

KEEL_INLINE void first::check(int extent) const {
  if (size >= 1 && (extent == unknown || size <= extent)) return;
  throw error("machine::first", policy::counted(size, "rank is", "ranks are") + " refused",
              size < 1 ? "it selects no rank" : "it leaves the parent" + detail::which_has(extent),
              "Ask for at least one and at most all");
}

KEEL_INLINE chosen::chosen(std::initializer_list<int> ranks) : ranks_(ranks) {}

KEEL_INLINE std::span<int const> chosen::ranks() const noexcept { return ranks_; }

KEEL_INLINE int chosen::find(int parent_rank) const noexcept {
  auto const at = std::find(ranks_.begin(), ranks_.end(), parent_rank);
  return at == ranks_.end() ? -1 : int(at - ranks_.begin());
}

KEEL_INLINE void chosen::check(int extent) const {
  auto const refuse = [&](std::string const& why) {
    throw error("machine::chosen",
                "the list of " + policy::counted(std::int64_t(ranks_.size()), "rank") + " is refused", why,
                "Name each rank of the parent at most once");
  };
  if (ranks_.empty()) refuse("it is empty");
  auto sorted = ranks_;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() < 0) refuse("rank " + std::to_string(sorted.front()) + " is negative");
  if (extent != unknown && sorted.back() >= extent)
    refuse("rank " + std::to_string(sorted.back()) + " is not in the parent" + detail::which_has(extent));
  if (auto const twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    refuse("rank " + std::to_string(*twice) + " stands in it twice");
}

} // namespace keel::machine
