// SPDX-License-Identifier: MIT
#include <keel/impl/residency/resize.hpp>
#include <keel/impl/layout/by_rank.hpp>
#include <keel/impl/layout/inherited_ids.hpp>
#include <keel/impl/layout/owner_search.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/layout/arguments.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/remap.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// A mesh that is cut anew, and how its elements move.
struct cut_anew : new_cut {
  bool grows = false;                        ///< there shall be more room than is needed, because elements move again
  std::shared_ptr<elements> found = nullptr; ///< those that it has, as ghosts of those that it had
  std::vector<std::int64_t> old_ids = {}, ids = {}; ///< that the rank owned, and owns
  element_moves moves = {};
  bool stays = false; ///< in the same arrays, or in larger ones if it grows

  [[nodiscard]] std::int64_t size() const { return std::int64_t(part->ids.size()); }
};

inline constexpr std::string_view on_same_ranks = "Make partitions on run.environment()";

KEEL_INLINE void check_meshes(fields_state const& f, machine::agreement const& ranks) {
  ranks.all_or_none({"residency::fields", "a mesh", "is refused", on_same_ranks}, [&] {
    for (mesh_record const& m : f.arrays_.meshes()) m.space->require_ranks(ranks, "residency::fields");
  });
  argument partitions{"partitions"};
  for (mesh_record const& m : f.arrays_.meshes()) partitions.add(std::int64_t(m.space->digest()));
  require_alike(ranks, "residency::fields", "the fields are not made", {&partitions, 1});
}

KEEL_INLINE agreement const& ranks_for(fields_state const& f, std::string_view call) {
  if (!f.agreement_)
    throw error("residency::fields", std::string(call) + " is refused",
                "the environment of the run is not of the `ranks` of the policy", "Give both the same");
  return *f.agreement_;
}

KEEL_INLINE void resize(fields_state& f, std::span<new_lengths const> all) {
  agreement const& ranks = ranks_for(f, "resize");
  std::optional<remap> map;
  argument lengths{"lengths"};
  ranks.all_or_none({"residency::fields", "resize", "is not done", take_less}, [&] {
    f.book_.settle_all("resize");
    map.emplace(f, "resize");
    for (new_lengths const& one : all) {
      variable_record next = f.arrays_.variables()[std::size_t(one.variable)];
      if (next.lengths.size() != one.lengths.size())
        throw error("residency::fields",
                    "variable " + std::string(next.about->name) + " has " +
                        policy::counted(std::int64_t(next.lengths.size()), "dimension") +
                        " beyond the grid's or mesh's, resize gets " +
                        policy::counted(std::int64_t(one.lengths.size()), "length"),
                    "every star needs one", "Give as many");
      next.lengths.assign(one.lengths.begin(), one.lengths.end());
      lengths.add(one.variable);
      for (std::int64_t const n : one.lengths) lengths.add(n);
      map->copy(map->replace(one.variable, std::move(next)));
    }
  });
  require_alike(ranks, "residency::fields", "resize is not done", {&lengths, 1});
  map->commit();
}

// Calls g(variable) for those on a mesh.
void for_each_on(fields_state const& f, std::string_view mesh, auto const& g) {
  for (int v = 0; v < int(f.arrays_.variables().size()); ++v)
    if (f.arrays_.lattice_of(v)->on.mesh == mesh) g(v);
}

// Room for so many elements of a mesh.
inline void make_room(fields_state& f, remap& map, std::string_view mesh, std::int64_t size) {
  f.book_.settle_all(map.who());
  auto const number = std::size_t(&f.arrays_.mesh_here(mesh) - f.arrays_.meshes().data()); // throws if there is none
  if (size < 0)
    throw error("residency::fields",
                "mesh " + std::string(mesh) + " gets room for " + std::to_string(size) + " elements",
                "it has none or more", "Give a number that is not negative");
  mesh_record& m = map.next.meshes[number];
  m.grows = true;
  bool const has_room = size <= m.room;
  m.room = std::max(size, m.room);
  map.install();
  if (!has_room) for_each_on(f, mesh, [&](int v) { map.copy(map.replace(v, f.arrays_.variables()[std::size_t(v)])); });
}

KEEL_INLINE void reserve(fields_state& f, std::string_view mesh, std::int64_t size) {
  std::optional<remap> map;
  ranks_for(f, "reserve").all_or_none({"residency::fields", "reserve", "is not done", take_less}, [&] {
    make_room(f, map.emplace(f, "reserve"), mesh, size);
  });
  map->commit();
}

// What is on a mesh travels.
inline void fill_mesh(fields_state const& f, remap& map, cut_anew const& m) {
  for_each_on(f, m.mesh, [&](int v) {
    for (int c = 0; c < f.arrays_.components(); ++c) map.fill(v, c, c, &m.moves);
  });
}

// Meshes with room for more keep their arrays, larger ones if need be.
inline void lay_out_meshes(fields_state& f, remap& map, std::span<cut_anew> meshes) {
  for (cut_anew const& m : meshes) {
    mesh_record const& here = f.arrays_.mesh_here(m.mesh);
    if (!(here.grows || m.grows) || m.size() <= here.room) continue;
    remap larger{f, map.who()};
    make_room(f, larger, m.mesh, std::max(m.size(), here.room + here.room / 2));
    larger.commit();
  }
  map.next.meshes = f.arrays_.meshes();
  for (cut_anew& m : meshes) {
    mesh_record& mesh = map.next.meshes[std::size_t(&f.arrays_.mesh_here(m.mesh) - f.arrays_.meshes().data())];
    mesh.grows = mesh.grows || m.grows;
    mesh.cut(mesh_space(mesh.name, m.part));
    if (!m.stays) mesh.room = m.size();
    for (auto& l : map.next.lattices)
      if (l->on.mesh == m.mesh) l = mesh.space->lay(l->on);
  }
  map.install();
  for (cut_anew const& m : meshes)
    for_each_on(f, m.mesh, [&](int v) { (void)map.replace(v, f.arrays_.variables()[std::size_t(v)], m.stays); });
}

// Where each element goes that the rank owns of a mesh, and where those come from that it owns of the next one, as
// their owners were found by id, among those that are owned.
inline void find_moves(cut_anew& m, elements const& old) {
  element_lists& found = m.found->lists;
  elements const& next = *m.part;
  auto const places = [](elements const& of, layered_list& list, std::int64_t first) {
    for (std::int32_t& e : list.elements)
      if (e >= 0) e = of.place(std::size_t(e - first));
    return std::span<std::int32_t const>(list.elements);
  };
  for (element_partner& p : found.partners)
    m.moves.leave(p.rank, places(old, p.rims, 0)), m.moves.come(p.rank, places(next, p.ghosts, old.owned));
  std::vector<std::int32_t> fresh, leave, come;
  auto const own = places(old, found.own_elements, 0);
  for (std::size_t n = 0; std::int32_t const to : places(next, found.own_ghosts, old.owned))
    if (std::int32_t const from = own[n++]; from < 0) fresh.push_back(to);
    else if (m.moves.leaves_any = true; !m.stays || from != to) leave.push_back(from), come.push_back(to);
  m.moves.come(element_moves::fresh, fresh);
  m.moves.leave(element_moves::here, leave), m.moves.come(element_moves::here, come);
}

KEEL_INLINE void repartition(fields_state& f, std::span<new_cut const> cuts, std::span<new_values const> values,
                             thunk find_values) {
  constexpr std::string_view who = "repartition";
  agreement const& ranks = ranks_for(f, who);
  std::optional<remap> map;
  std::vector<cut_anew> meshes;
  ranks.all_or_none({"residency::fields", who, "is refused", on_same_ranks}, [&] {
    for (new_cut const& m : cuts) {
      meshes.emplace_back(cut_anew{m});
      mesh_space(m.mesh, m.part)->require_ranks(ranks, "residency::fields");
      meshes.back().old_ids = f.arrays_.part_of(m.mesh)->owned_ids(), meshes.back().ids = m.part->owned_ids();
    }
    find_values();
    for (new_values const& given : values)
      for (cut_anew const& m : meshes) {
        variable_record const& v = f.arrays_.variables()[std::size_t(given.variable)];
        std::size_t const needed = m.part->is_scattered ? m.part->ids.size() : m.ids.size();
        if (m.mesh != f.arrays_.lattice_of(given.variable)->on.mesh || given.rows == nullptr ||
            given.row_count >= needed)
          continue;
        throw error("residency::initial",
                    std::string(v.about->name) + " gets " + std::to_string(given.row_count) + " rows of values",
                    "the rank has " + std::to_string(needed) + ' ' + std::string(m.mesh),
                    "Give each of them a row, or one value for all");
      }
    map.emplace(f, who, values);
    for (cut_anew const& m : meshes) fill_mesh(f, *map, m);
  });
  argument partitions{"partitions"};
  for (cut_anew const& m : meshes) partitions.add(std::int64_t(m.part->digest));
  require_alike(ranks, "residency::fields", "repartition is not done", {&partitions, 1});
  for (cut_anew& m : meshes) m.found = ranks.search(m.mesh, m.old_ids, m.ids, search_for::some_owners);
  auto const find = [&] {
    for (cut_anew& m : meshes) {
      mesh_record const& here = f.arrays_.mesh_here(m.mesh);
      m.stays = here.grows || m.size() == here.room;
      find_moves(m, *here.part);
      if (m.found->lacks_owners) map->lack_values(m.moves);
    }
  };
  auto const lay_out = [&] { lay_out_meshes(f, *map, meshes); };
  map->run(thunk::of(find), thunk::of(lay_out));
}

// What comes takes the places that are left; the last elements go to what is left of these in the end.
inline void settle(cut_anew& to, elements& part, inherited_ids& ids, std::vector<std::int32_t>& places,
                   agreement::ids const& all) {
  std::size_t const owned = part.ids.size(), left = places.size();
  std::size_t came = 0, taken = 0;
  for (auto const& p : all) came += p.items.size();
  std::size_t const size = owned - left + came;
  std::vector<std::int32_t> last;
  for (std::size_t e = size; e < owned; ++e)
    if (!std::binary_search(places.begin(), places.end(), std::int32_t(e))) last.push_back(std::int32_t(e));
  for (std::size_t e = owned; e < size; ++e) places.push_back(std::int32_t(e));
  part.owned = std::int64_t(size);
  ids.resize(std::max(owned, size));
  for (auto const& p : all) {
    std::span const to_places = std::span(places).subspan(taken, p.items.size());
    to.moves.come(p.rank, to_places);
    for (std::size_t n = 0; n < to_places.size(); ++n) ids.set(std::size_t(to_places[n]), p.items[n]);
    taken += p.items.size();
  }
  std::span const holes = std::span(places).subspan(came, last.size());
  for (std::size_t n = 0; n < last.size(); ++n) ids.set(std::size_t(holes[n]), part.ids[std::size_t(last[n])]);
  to.moves.leave(element_moves::here, last), to.moves.come(element_moves::here, holes);
  ids.resize(size);
}

// The rest of a call that changes one mesh, whose new part `arrive` makes.
inline void run_with(fields_state& f, remap& map, cut_anew& to, auto const& arrive) {
  auto const lay_out = [&] { lay_out_meshes(f, map, {&to, 1}); };
  map.run(thunk::of(arrive), thunk::of(lay_out));
}

KEEL_INLINE std::int64_t leavers_among(fields_state const& f, std::string_view mesh, std::size_t destinations) {
  std::int64_t const owned = f.arrays_.owned_of(mesh).end; // throws if that is no range
  if (std::int64_t(destinations) < owned)
    throw error("residency::fields", std::to_string(destinations) + " destinations are too few",
                "the rank owns " + std::to_string(owned) + ' ' + std::string(mesh), "Give each owned one a rank");
  return owned;
}

KEEL_INLINE void migrate(fields_state& f, std::string_view mesh, std::span<int const> destinations) {
  leavers all;
  auto const find = [&] {
    std::int64_t const owned = leavers_among(f, mesh, destinations.size());
    for (std::int32_t e = 0; e < owned; ++e)
      if (int const rank = destinations[std::size_t(e)]; rank != f.arrays_.rank())
        all.elements.push_back(e), all.ranks.push_back(rank);
  };
  migrate(f, mesh, all, thunk::of(find));
}

KEEL_INLINE void migrate(fields_state& f, std::string_view mesh, leavers& all, thunk find) {
  constexpr std::string_view who = "migrate";
  agreement const& ranks = ranks_for(f, who);
  std::optional<remap> map;
  agreement::ids out;
  cut_anew to{{mesh, nullptr}, true};
  std::vector<std::int32_t>& places = all.elements; // that are left, then those after the last one
  std::shared_ptr<elements const> old;
  std::shared_ptr<elements> part;
  std::array<std::int64_t, 2> changes_nothing{};
  ranks.all_or_none(
      {"residency::fields", who, "is refused", "Give each owned element a rank that there is"},
      [&] {
        find();
        old = f.arrays_.part_of(mesh);
        to.part = part = with_same_owners(*old), to.stays = true;
        for (std::size_t n = 0; n < places.size(); ++n)
          if (int const rank = all.ranks[n]; rank < 0 || rank >= old->ranks)
            throw error("residency::fields",
                        "id " + std::to_string(old->ids[std::size_t(places[n])]) + " of " + std::string(mesh) +
                            " goes to rank " + std::to_string(rank),
                        "there are " + std::to_string(old->ranks), "Give one of them");
        auto const order = order_by_rank(all.ranks, old->ranks);
        for_each_rank(all.ranks, order, [&](int rank, std::span<std::int32_t const> numbers) {
          std::vector<std::int32_t> leave;
          auto& ids = out.emplace_back(machine::parcel<std::int64_t>{rank, {}}).items;
          for (std::int32_t const n : numbers)
            leave.push_back(places[std::size_t(n)]), ids.push_back(old->ids[std::size_t(leave.back())]);
          to.moves.leave(rank, leave);
        });
        bool const has_ghosts = std::int64_t(old->ids.size()) > old->owned;
        changes_nothing[0] = places.empty() && !has_ghosts && f.arrays_.mesh_here(mesh).grows ? 1 : 0;
        if (!f.talk_) f.talk_ = ranks.make_talk();
        fill_mesh(f, map.emplace(f, who), to);
      },
      changes_nothing);
  if (changes_nothing[0] != 0) return;
  std::optional<inherited_ids> ids;
  run_with(f, *map, to, [&] {
    auto const came = ranks.exchange(f.talk_.get(), std::move(out));
    settle(to, *part, ids.emplace(*old, *part), places, came);
  });
  ids->keep();
}

KEEL_INLINE void renew_ghosts(fields_state& f, std::string_view mesh, std::span<ghosts_of const> all,
                              std::vector<std::int32_t> const& elements, thunk find) {
  constexpr std::string_view who = "renew_ghosts";
  agreement const& ranks = ranks_for(f, who);
  std::optional<remap> map;
  agreement::ids out; // of each element its id and its place
  cut_anew to{{mesh, nullptr}, true};
  std::shared_ptr<detail::elements const> old;
  std::shared_ptr<detail::elements> part;
  std::array<std::int64_t, 2> changes_nothing{};
  auto const partner_of = [&](int rank) -> element_partner& {
    auto& partners = part->lists.partners;
    auto const at = std::lower_bound(partners.begin(), partners.end(), rank,
                                     [](element_partner const& p, int wanted) { return p.rank < wanted; });
    if (at != partners.end() && at->rank == rank) return *at;
    layered_list const none{{}, {0}};
    return *partners.insert(at, {rank, none, none});
  };
  ranks.all_or_none(
      {"residency::fields", who, "is refused", "Name ranks in ascending order, and owned elements of each"},
      [&] {
        find();
        std::int64_t const owned = f.arrays_.owned_of(mesh).end; // throws if that is no range
        old = f.arrays_.part_of(mesh);
        to.part = part = with_same_owners(*old), to.stays = true;
        std::span rest(elements);
        for (int before = -1; auto const& [rank, count] : all) {
          if (rank <= before || rank >= old->ranks || count < 0 || count > std::int64_t(rest.size()))
            throw error("residency::fields",
                        "rank " + std::to_string(rank) + " cannot get " + std::to_string(count) + " ghosts of " +
                            std::string(mesh),
                        "after rank " + std::to_string(before) + " of " + std::to_string(old->ranks) + ' ' +
                            std::to_string(rest.size()) + " elements are left");
          auto const given = rest.first(std::size_t(count));
          rest = rest.subspan(given.size()), before = rank;
          if (given.empty()) continue;
          auto& items = out.emplace_back(machine::parcel<std::int64_t>{rank, {}}).items;
          for (std::int32_t last = -1; std::int32_t const e : given) {
            if (e <= last || e >= owned)
              throw error("residency::fields",
                          "element " + std::to_string(e) + " of " + std::to_string(owned) + " owned " +
                              std::string(mesh) + " cannot come after " + std::to_string(last),
                          "each is listed once, in ascending order");
            last = e, items.push_back(old->ids[std::size_t(e)]), items.push_back(e);
          }
          if (rank != old->rank) partner_of(rank).rims = {{given.begin(), given.end()}, {std::int32_t(count)}};
        }
        bool const has_ghosts = std::int64_t(old->ids.size()) > owned || !old->lists.partners.empty();
        changes_nothing[0] = out.empty() && !has_ghosts && old->ends.size() == 1 ? 1 : 0;
        if (!f.talk_) f.talk_ = ranks.make_talk();
        fill_mesh(f, map.emplace(f, who), to);
      },
      changes_nothing);
  if (changes_nothing[0] != 0) return;
  std::optional<inherited_ids> ids;
  run_with(f, *map, to, [&] {
    ids.emplace(*old, *part);
    auto& [partners, own_ghosts, own_elements] = part->lists;
    own_ghosts.ends = own_elements.ends = {0};
    for (auto const& [rank, items] : ranks.exchange(f.talk_.get(), std::move(out))) {
      bool const is_own = rank == part->rank;
      layered_list& ghosts = is_own ? own_ghosts : partner_of(rank).ghosts;
      for (std::size_t n = 0; n < items.size(); n += 2) {
        ghosts.elements.push_back(std::int32_t(part->ids.size()));
        part->ids.push_back(items[n]);
        part->owners.push_back(rank), part->at_owner.push_back(std::int32_t(items[n + 1]));
      }
      ghosts.ends = {std::int32_t(ghosts.elements.size())};
    }
    for (std::int32_t const ghost : own_ghosts.elements)
      own_elements.elements.push_back(part->at_owner[std::size_t(ghost - part->owned)]);
    own_elements.ends = own_ghosts.ends;
    part->ends = {std::int64_t(part->ids.size())};
  });
  ids->keep();
}

KEEL_INLINE void reorder(fields_state& f, std::string_view mesh, std::vector<std::int32_t> const& order, thunk find) {
  constexpr std::string_view who = "reorder";
  agreement const& ranks = ranks_for(f, who);
  std::optional<remap> map;
  cut_anew to{{mesh, nullptr}, true};
  ranks.all_or_none({"residency::fields", who, "is refused", "Name each owned element once"}, [&] {
    find();
    std::int64_t const owned = f.arrays_.owned_of(mesh).end; // throws if that is no range
    auto const& old = *f.arrays_.part_of(mesh);
    auto part = with_same_owners(old);
    part->ids.reserve(std::size_t(owned));
    std::vector<bool> is_known(std::size_t(owned), false);
    for (std::int32_t const e : order) {
      if (e < 0 || e >= owned || is_known[std::size_t(e)]) break;
      is_known[std::size_t(e)] = true, part->ids.push_back(old.ids[std::size_t(e)]);
    }
    if (std::int64_t(part->ids.size()) != owned || order.size() != part->ids.size())
      throw error("residency::fields", "place " + std::to_string(part->ids.size()) + " in the order of " +
                                           std::to_string(owned) + ' ' + std::string(mesh) + " cannot be used");
    to.moves.leave(element_moves::here, order), to.moves.come(element_moves::here, bounds{{}, {{owned}}});
    to.part = std::move(part), to.stays = true;
    fill_mesh(f, map.emplace(f, who), to);
  });
  run_with(f, *map, to, [] {});
}

} // namespace keel::residency::detail
