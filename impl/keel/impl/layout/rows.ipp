// SPDX-License-Identifier: MIT
#include <keel/layout/rows.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

namespace keel::residency::detail {

KEEL_INLINE void packed_rows::add(void const* from, std::size_t bytes) {
  begins_.push_back(words_.size());
  words_.push_back(std::int64_t(bytes));
  words_.resize(words_.size() + (bytes + sizeof(std::int64_t) - 1) / sizeof(std::int64_t));
  if (bytes != 0) std::memcpy(words_.data() + begins_.back() + 1, from, bytes);
}
KEEL_INLINE std::span<std::int64_t const> packed_rows::words(std::size_t row) const {
  std::size_t const begin = begins_[row], end = row + 1 == count() ? words_.size() : begins_[row + 1];
  return std::span(words_).subspan(begin, end - begin);
}
KEEL_INLINE std::span<std::byte const> packed_rows::bytes(std::size_t row) const {
  auto const all = words(row);
  return std::as_bytes(all.subspan(1)).first(std::size_t(all[0]));
}

KEEL_INLINE void with_rows(agreement const& ranks, std::string_view call, void const* f, void (*run)(void const*)) {
  ranks.all_or_none({"residency", call, "is not done", "Give it rows that are right, or take more ranks"},
                    [&] { run(f); });
}

/// The row of each ghost of `of`, whose owned elements have the rows `held`. A ghost without an owner has an empty one.
[[nodiscard]] inline packed_rows rows_of_ghosts(agreement const& ranks, std::string_view call, elements const& of,
                                                packed_rows const& held) {
  agreement::ids out;
  std::shared_ptr<void> talk;
  packed_rows made;
  with_rows(ranks, call, [&] {
    talk = ranks.make_talk();
    for (element_partner const& p : of.lists.partners) {
      if (p.rims.elements.empty()) continue;
      auto& words = out.emplace_back(machine::parcel<std::int64_t>{p.rank, {}}).items;
      for (std::int32_t const e : p.rims.elements) {
        auto const row = held.words(std::size_t(e));
        words.insert(words.end(), row.begin(), row.end());
      }
    }
  });
  auto const in = ranks.exchange(talk.get(), std::move(out));
  with_rows(ranks, call, [&] {
    std::vector<std::span<std::byte const>> rows(of.owners.size());
    auto const ghost = [&](std::int32_t local) { return std::size_t(local - of.owned); };
    auto const& [partners, ghosts, own] = of.lists;
    for (std::size_t n = 0; n != own.elements.size(); ++n)
      if (own.elements[n] >= 0) rows[ghost(ghosts.elements[n])] = held.bytes(std::size_t(own.elements[n]));
    auto from = in.begin();
    for (element_partner const& p : partners) {
      if (p.ghosts.elements.empty()) continue;
      std::span<std::int64_t const> left = (from++)->items;
      for (std::int32_t const g : p.ghosts.elements) {
        auto const bytes = std::size_t(left[0]), words = (bytes + sizeof left[0] - 1) / sizeof left[0];
        rows[ghost(g)] = std::as_bytes(left.subspan(1, words)).first(bytes);
        left = left.subspan(1 + words);
      }
    }
    for (auto const& row : rows) made.add(row.data(), row.size());
  });
  return made;
}

KEEL_INLINE rows_here gather_rows(elements const& to, std::string_view mesh, std::span<std::int64_t const> ids,
                                  packed_rows const& held) {
  rows_here made;
  std::vector<std::int64_t> needed;
  with_rows(to.among, "gather_rows", [&] {
    made.of_element.resize(to.ids.size());
    for (std::size_t n = 0; n != to.ids.size(); ++n) {
      std::size_t const g = n - std::size_t(to.owned); // a ghost of an element of its own has the row of that one
      bool const is_own = std::int64_t(n) >= to.owned && to.owners[g] == to.rank;
      auto const e = std::size_t(to.place(n));
      made.of_element[e] = is_own ? made.of_element[std::size_t(to.at_owner[g])] : std::int32_t(needed.size());
      if (!is_own) needed.push_back(to.ids[e]);
    }
  });
  auto const found = to.among.search(mesh, ids, needed, search_for::rows);
  made.rows = rows_of_ghosts(to.among, "gather_rows", *found, held);
  return made;
}

KEEL_INLINE std::vector<std::vector<std::int64_t>> grow(agreement const& ranks, std::string_view mesh,
                                                        std::span<std::int64_t const> owned, packed_rows neighbours,
                                                        int layers) {
  std::vector<std::vector<std::int64_t>> made;
  std::unordered_set<std::int64_t> here; // or known to be nowhere
  std::array<std::int64_t, 3> wanted{layers, -std::int64_t{layers}, 0};
  auto const count_of = [](std::size_t n) { return std::to_string(n); };
  ranks.all_or_none(
      {"residency", "grow", "is not done", "Give each owned element a row, and all ranks as many layers"},
      [&] {
        if (neighbours.count() != owned.size())
          throw error("residency::grow", "there are " + count_of(neighbours.count()) + " rows of neighbours",
                      "the rank owns " + count_of(owned.size()) + ' ' + std::string(mesh));
        if (layers < 0) throw error("residency::grow", std::to_string(layers) + " layers are wanted");
        here.insert(owned.begin(), owned.end());
      },
      wanted);
  if (wanted[0] != -wanted[1])
    throw error("residency::grow",
                "a rank wants " + policy::counted(wanted[0], "layer") + ", another one " + std::to_string(-wanted[1]),
                "all grow together", "Give the same number on every rank");
  packed_rows const of_owned = neighbours;
  for (int n = 0; n != layers; ++n) {
    std::vector<std::int64_t> next;
    with_rows(ranks, "grow", [&] {
      for (std::size_t row = 0; row != neighbours.count(); ++row)
        for (std::int64_t const id : neighbours.words(row).subspan(1))
          if (here.insert(id).second) next.push_back(id);
      std::sort(next.begin(), next.end());
    });
    auto const found = ranks.search(mesh, owned, next, search_for::some_owners);
    if (n + 1 != layers) neighbours = rows_of_ghosts(ranks, "grow", *found, of_owned);
    with_rows(ranks, "grow", [&] {
      auto& layer = made.emplace_back();
      for (std::size_t g = 0; g != next.size(); ++g)
        if (found->at_owner[g] >= 0) layer.push_back(next[g]);
    });
  }
  return made;
}

} // namespace keel::residency::detail
