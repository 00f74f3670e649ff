// SPDX-License-Identifier: MIT
#include <keel/impl/layout/owner_search.hpp>
#include <keel/impl/layout/by_rank.hpp>

#include <climits>
#include <utility>

namespace keel::residency::detail {

[[nodiscard]] inline id_bounds bounds_of(std::span<std::int64_t const> ids) {
  id_bounds all{.count = ids.size()};
  for (std::int64_t const id : ids) all.least = std::min(all.least, id), all.most = std::max(all.most, id);
  return all;
}

KEEL_INLINE owner_search::owner_search(int rank, int ranks, std::span<std::int64_t const> owned,
                                       std::span<std::span<std::int64_t const> const> layers, device_answers* by_device)
    : rank_(rank), ranks_(ranks), by_device_(by_device) {
  made_.rank = rank, made_.ranks = ranks;
  std::size_t all = owned.size();
  for (auto const& layer : layers) all += layer.size();
  made_.ends.resize(layers.size());
  // A parcel has a number beside ids. A rank with too many goes on without any, so that all ranks hear of it.
  if (all >= std::size_t{INT_MAX} - layers.size()) {
    found_ = {mistake::too_many, rank, 0, std::int64_t(all)};
    return;
  }
  made_.owned = std::int64_t(owned.size());
  made_.ids.reserve(all), made_.ids.assign(owned.begin(), owned.end());
  for (std::size_t n = 0; n != layers.size(); ++n) {
    made_.ids.insert(made_.ids.end(), layers[n].begin(), layers[n].end());
    made_.ends[n] = std::int64_t(made_.ids.size());
  }
}

KEEL_INLINE owner_search::owner_search(int rank, int ranks, std::span<std::int64_t const> ids,
                                       std::vector<bool> const& is_ghost)
    : rank_(rank), ranks_(ranks) {
  made_.rank = rank, made_.ranks = ranks;
  made_.ends.resize(1);
  if (ids.size() >= std::size_t{INT_MAX} - 1) found_ = {mistake::too_many, rank, 0, std::int64_t(ids.size())};
  else if (ids.size() != is_ghost.size())
    found_ = {mistake::other_length, rank, std::int32_t(ids.size()), std::int64_t(is_ghost.size())};
  if (found_.what != mistake::none) return;
  made_.order.reserve(ids.size()), made_.ids.reserve(ids.size());
  for (bool const wanted : {false, true}) {
    for (std::size_t e = 0; e != ids.size(); ++e)
      if (is_ghost[e] == wanted) made_.order.push_back(std::int32_t(e)), made_.ids.push_back(ids[e]);
    if (!wanted) made_.owned = std::int64_t(made_.ids.size());
  }
  made_.ends[0] = std::int64_t(made_.ids.size());
}

KEEL_INLINE void owner_search::look_for(search_for what) {
  may_repeat_ = what == search_for::images || what == search_for::some_owners;
  if (what != search_for::images) return;
  made_.has_images = true;
  auto from = made_.ids.begin() + std::ptrdiff_t(made_.owned);
  for (std::int64_t const end : made_.ends) {
    std::vector<std::int64_t> layer(from, made_.ids.begin() + std::ptrdiff_t(end));
    std::sort(layer.begin(), layer.end()), from = made_.ids.begin() + std::ptrdiff_t(end);
    if (auto const at = std::adjacent_find(layer.begin(), layer.end());
        at != layer.end() && found_.what == mistake::none)
      found_ = {mistake::named_twice, rank_, 0, *at};
  }
}

KEEL_INLINE id_bounds owner_search::bounds() const {
  bool const is_scattered = !std::is_sorted(made_.order.begin(), made_.order.end());
  std::uint64_t digest = digest_of(made_.ends, digest_of(made_.ids, std::uint64_t(rank_)));
  for (std::size_t n = 0; is_scattered && n != made_.order.size(); ++n)
    digest = mixed(digest * 31 + std::uint64_t(made_.order[n]));
  id_bounds const mine{
      .layers = std::int64_t(made_.ends.size()), .digest = digest, .scattered = is_scattered ? 1U : 0U};
  return join_bounds{}(bounds_of(std::span(made_.ids).first(std::size_t(made_.owned))), mine);
}

// A parcel has the numbers of runs of owned ids, of owned ids and of ghosts in place of a run, runs of owned ids, and
// those of ghosts with the places of their answers.
KEEL_INLINE owner_search::runs owner_search::to_directories(id_bounds const& all) {
  directories_ = {all, ranks_}, layers_ = int(all.layers), made_.digest = all.digest;
  made_.is_scattered = all.scattered != 0;
  if (!made_.is_scattered) made_.order.clear();
  auto const& ids = made_.ids;
  runs out;
  id_table parcels = std::size_t(ranks_) <= ids.size() ? id_table(0, ranks_ - 1) : id_table(ids.size());
  for (std::size_t i = 0; i != ids.size();) {
    bool const is_owned = i < std::size_t(made_.owned);
    int const rank = directories_.of(ids[i]);
    std::size_t const begin = i++, end = is_owned ? std::size_t(made_.owned) : ids.size();
    auto const follows = [&] {
      return i != end && i - begin != id_run::longest && std::uint64_t(ids[i]) - std::uint64_t(ids[i - 1]) == 1 &&
             (!is_owned || made_.place(i) == made_.place(i - 1) + 1);
    };
    if (directories_.are_close() && follows())
      for (std::int64_t const last = directories_.last_of(rank); ids[i - 1] != last && follows();) ++i;
    std::int32_t& number =
        parcels[parcels.slot_of(rank, [&](std::int32_t n) { return out[std::size_t(n)].rank == rank; })];
    if (number == id_table::none) {
      number = std::int32_t(out.size());
      auto& items = out.emplace_back(machine::parcel<id_run>{rank, {}}).items;
      items.reserve(ids.size() / std::size_t(ranks_) + 2);
      items.push_back({0, 0, 0});
    }
    auto& items = out[std::size_t(number)].items;
    std::int32_t const place = is_owned ? made_.place(begin) : std::int32_t(begin); // of a ghost only this rank asks it
    items.push_back({ids[begin], place, std::int32_t(i - begin)}), items[0].id += is_owned ? 1 : 0;
    (is_owned ? items[0].place : items[0].length) += items.back().length;
  }
  std::sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.rank < b.rank; });
  for (auto& p : out)
    for (std::int32_t next = 0; id_run & run : std::span(p.items).subspan(1 + std::size_t(p.items[0].id)))
      asked_.push_back(run), run.place = std::exchange(next, next + run.length);
  return out;
}

KEEL_INLINE owner_search::owners owner_search::answers(runs const& from_all) {
  if (by_device_ != nullptr)
    if (auto found = by_device_(from_all, may_repeat_)) return std::move(*found);
  owners answers;
  auto const note = [&](mistake what, std::int64_t id, int first, int second) {
    found_ = worse{}(found_, {what, first, second, id});
  };
  auto const owned_of = [](auto const& p) { return std::span(p.items).subspan(1, std::size_t(p.items[0].id)); };
  auto const for_each_id = [](id_run const& run, auto const& f) {
    for (std::int32_t n = 0; n != run.length; ++n) f(run.id + n);
  };
  // Runs are numbered over all parcels.
  std::vector<std::int64_t> ends, ids;
  for (auto const& p : from_all) ends.push_back((ends.empty() ? 0 : ends.back()) + p.items[0].id);
  auto const parcel_of = [&](std::int32_t number) {
    return std::size_t(std::upper_bound(ends.begin(), ends.end(), number) - ends.begin());
  };
  id_table table;
  if (directories_.are_close()) {
    table = id_table(directories_.first_of(rank_), directories_.last_of(rank_));
  } else if (!ends.empty()) {
    table = id_table(std::size_t(ends.back()));
    ids.reserve(std::size_t(ends.back()));
    for (auto const& p : from_all)
      for (id_run const& run : owned_of(p)) ids.push_back(run.id);
  }
  auto const slot_of = [&](std::int64_t id) {
    return table.slot_of(id, [&](std::int32_t n) { return ids[std::size_t(n)] == id; });
  };
  std::int32_t next = 0;
  for (auto const& p : from_all)
    for (id_run const& run : owned_of(p)) {
      for_each_id(run, [&](std::int64_t id) {
        std::int32_t& number = table[slot_of(id)];
        if (number == id_table::none) number = next;
        else note(mistake::owned_twice, id, from_all[parcel_of(number)].rank, p.rank);
      });
      ++next;
    }
  std::vector<bool> is_asked(table.slots()); // by one rank
  for (auto const& from : from_all) {
    int const rank = from.rank;
    auto const asked = std::span(from.items).subspan(1 + std::size_t(from.items[0].id));
    if (asked.empty()) continue;
    auto& answer = answers.emplace_back(machine::parcel<owned_at>{rank, {}}).items;
    for (id_run const& run : asked)
      for_each_id(run, [&](std::int64_t id) {
        std::size_t const slot = slot_of(id);
        if (table[slot] == id_table::none) return note(mistake::no_owner, id, rank, 0), answer.push_back({rank, -1});
        if (is_asked[slot] && !may_repeat_) note(mistake::named_twice, id, rank, 0);
        is_asked[slot] = true;
        std::size_t const p = parcel_of(table[slot]);
        id_run const& owned = owned_of(from_all[p])[std::size_t(table[slot] - (p == 0 ? 0 : ends[p - 1]))];
        answer.push_back({from_all[p].rank, std::int32_t(owned.place + (id - owned.id))});
      });
    for (id_run const& run : asked) for_each_id(run, [&](std::int64_t id) { is_asked[slot_of(id)] = false; });
  }
  return answers;
}

// A parcel has the number of ghosts in each layer, and their local indices on their owner.
KEEL_INLINE owner_search::places owner_search::to_owners(owners const& from_directories) {
  auto const owned = std::int32_t(made_.owned);
  auto const layers = std::size_t(layers_);
  made_.ends.resize(layers, std::int64_t(made_.ids.size()));
  auto& there = made_.at_owner;
  made_.owners.resize(made_.ids.size() - std::size_t(owned)), there.resize(made_.owners.size());
  std::size_t answered = 0;
  for (auto const& p : from_directories) answered += p.items.size();
  if (answered != made_.owners.size()) return {}; // a directory has found a mistake
  auto run = asked_.begin();
  for (auto const& p : from_directories)
    for (auto at = p.items.begin(); at != p.items.end(); ++run)
      for (std::int32_t n = 0; n != run->length; ++n, ++at) {
        auto const ghost = std::size_t(run->place - owned + n);
        made_.owners[ghost] = at->rank, there[ghost] = at->place;
      }
  layered_list &own_ghosts = made_.lists.own_ghosts, &own_elements = made_.lists.own_elements;
  own_ghosts.ends.resize(layers);
  places out;
  for_each_rank(made_.owners, order_by_rank(made_.owners, ranks_), [&](int rank, std::span<std::int32_t const> ghosts) {
    layered_list list;
    list.elements.reserve(ghosts.size());
    for (std::int32_t const g : ghosts) list.elements.push_back(made_.place(std::size_t(owned + g)));
    for (std::int64_t const end : made_.ends)
      list.ends.push_back(
          std::int32_t(std::lower_bound(ghosts.begin(), ghosts.end(), std::int32_t(end) - owned) - ghosts.begin()));
    auto items = rank == rank_ ? std::vector<std::int32_t>{} : list.ends;
    items.reserve(items.size() + ghosts.size());
    for (std::int32_t const g : ghosts) items.push_back(there[std::size_t(g)]);
    if (rank == rank_) {
      own_ghosts = std::move(list), own_elements.elements = std::move(items);
    } else {
      made_.lists.partners.push_back({rank, {{}, std::vector<std::int32_t>(layers)}, std::move(list)});
      out.push_back({rank, std::move(items)});
    }
  });
  own_elements.ends = own_ghosts.ends;
  return out;
}

KEEL_INLINE elements owner_search::finish(places const& from_ghosts) {
  auto const layers = std::ptrdiff_t(made_.ends.size());
  auto const by_rank = [](element_partner const& p, int rank) { return p.rank < rank; };
  auto& partners = made_.lists.partners;
  auto const known = partners.size();
  for (auto const& [rank, items] : from_ghosts) {
    auto const end = partners.begin() + std::ptrdiff_t(known);
    auto at = std::lower_bound(partners.begin(), end, rank, by_rank);
    if (at == end || at->rank != rank)
      at = partners.insert(partners.end(), {rank, {}, {{}, std::vector<std::int32_t>(std::size_t(layers))}});
    at->rims = {{items.begin() + layers, items.end()}, {items.begin(), items.begin() + layers}};
  }
  std::inplace_merge(partners.begin(), partners.begin() + std::ptrdiff_t(known), partners.end(),
                     [](auto const& a, auto const& b) { return a.rank < b.rank; });
  if (!made_.order.empty()) {
    auto const ids = made_.ids;
    for (std::size_t n = 0; n != ids.size(); ++n) made_.ids[std::size_t(made_.place(n))] = ids[n];
  }
  return std::move(made_);
}

} // namespace keel::residency::detail
