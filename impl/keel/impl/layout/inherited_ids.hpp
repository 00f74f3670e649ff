// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the next part of a mesh has of the former one, when elements change their ranks.

#include <keel/impl/layout/elements.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// What stays of a mesh when its elements are owned by the ranks that own them, and no program has it.
[[nodiscard]] inline std::shared_ptr<elements> with_same_owners(elements const& old) {
  auto part = std::make_shared<elements>();
  part->rank = old.rank, part->ranks = old.ranks, part->owned = old.owned, part->among = old.among;
  part->is_shown = false;
  return part;
}

/// The owned ids of a mesh's former part, which the next part begins with: taken from it and given back unless they are
/// kept, because to copy millions takes longer than all else; or copied if a program has that part.
class inherited_ids {
public:
  inherited_ids(elements const& from, elements& to) : from_(const_cast<elements&>(from)), to_(to) {
    auto const owned = from.ids.begin() + std::ptrdiff_t(from.owned);
    is_taken_ = !from.is_shown;
    if (is_taken_) {
      ghosts_.assign(owned, from.ids.end());
      to.ids = std::move(from_.ids);
      to.ids.resize(std::size_t(from.owned));
    } else to.ids.assign(from.ids.begin(), owned);
  }
  inherited_ids(inherited_ids const&) = delete;
  inherited_ids& operator=(inherited_ids const&) = delete;
  ~inherited_ids() {
    if (!is_taken_) return;
    to_.ids.resize(std::size_t(from_.owned));
    for (; !changed_.empty(); changed_.pop_back()) to_.ids[changed_.back().first] = changed_.back().second;
    to_.ids.insert(to_.ids.end(), ghosts_.begin(), ghosts_.end());
    from_.ids = std::move(to_.ids);
  }
  void set(std::size_t place, std::int64_t id) { remember(place), to_.ids[place] = id; }
  void resize(std::size_t size) {
    for (std::size_t e = to_.ids.size(); e-- > size;) remember(e);
    to_.ids.resize(size);
  }
  void keep() { is_taken_ = false; }

private:
  void remember(std::size_t place) {
    if (is_taken_ && place < std::size_t(from_.owned)) changed_.emplace_back(place, to_.ids[place]);
  }
  elements &from_, &to_;
  bool is_taken_;
  std::vector<std::int64_t> ghosts_;
  std::vector<std::pair<std::size_t, std::int64_t>> changed_; // what was there
};

} // namespace keel::residency::detail
