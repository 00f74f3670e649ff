// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Sizes that change, as far as ranks have to agree on them: bodies of fields_state.hpp.

#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/migration.hpp>
#include <keel/impl/residency/regridding.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Throws `keel::error` if a partition was made on other ranks than these.
inline void require_same_ranks(agreement const& ranks, cut_anew const& m) {
  if (m.part->rank != ranks.rank() || m.part->ranks != ranks.size())
    throw error("residency::fields",
                "the partition of " + std::string(m.mesh) + " was made on another environment than that of the run");
}

/// Where each element goes that the rank owns of a mesh, and where those come from that it owns of the next one, as
/// their owners were found by id. `old` are owned.
inline void find_moves(element_lists& found, int rank, std::int64_t old, element_moves& made) {
  auto const add = [&](int with, layered_list const& leave, layered_list& come) {
    for (std::int32_t& e : come.elements) e -= std::int32_t(old);
    if (!leave.elements.empty() || !come.elements.empty()) made.add(with, leave.elements, come.elements);
  };
  bool is_own_there = false;
  auto const add_own = [&] {
    if (std::exchange(is_own_there, true)) return;
    layered_list leave, come;
    for (std::size_t n = 0; n < found.own_elements.elements.size(); ++n) {
      std::int32_t const from = found.own_elements.elements[n], to = found.own_ghosts.elements[n];
      if (from < 0) made.fresh.push_back(to - std::int32_t(old));
      else leave.elements.push_back(from), come.elements.push_back(to);
    }
    add(rank, leave, come);
  };
  for (element_partner& p : found.partners) {
    if (p.rank > rank) add_own();
    add(p.rank, p.rims, p.ghosts);
  }
  add_own();
}

KEEL_INLINE void require_alike(agreement const& ranks, std::string_view wrong, std::span<argument const> all) {
  constexpr std::size_t most = 8; // without memory, which a rank may lack
  for (; !all.empty(); all = all.subspan(std::min(all.size(), most))) {
    std::array<std::int64_t, 2 * most> both{};
    for (std::size_t n = 0; n < std::min(all.size(), most); ++n)
      both[2 * n] = std::int64_t(all[n].digest), both[2 * n + 1] = ~both[2 * n];
    ranks.min(both);
    for (std::size_t n = 0; n < std::min(all.size(), most); ++n)
      if (both[2 * n] != ~both[2 * n + 1])
        throw error("residency::fields", wrong, "the " + std::string(all[n].what) + " differ between ranks",
                    "Give the same on every rank");
  }
}

KEEL_INLINE void grid_arguments::add(grid const& g) {
  for (argument& one : all) one.add(g.rank());
  for (int d = 0; d < g.rank(); ++d) {
    all[0].add(g.extents()[d]), all[1].add(g.width(d)), all[2].add(g.is_periodic(d) ? 1 : 0);
    all[3].add(g.ranks_wanted(d));
  }
  all[4].add(g.blocks());
}

inline constexpr std::string_view take_less = "Take smaller arrays, or more ranks",
                                  on_same_ranks = "Make partitions on run.environment()";

/// Goes the way; `begin` is its first step. If a rank fails, all go back: also to the former ways to other ranks.
template <class Begin>
void fields_state::go(auto& next, std::string_view who, Begin const& begin) {
  auto const agree = [&](auto const& step, std::span<std::int64_t> all) {
    agreement_.all_or_none({"residency::fields", who, "is not done", take_less}, step, all);
  };
  agree(begin, next.travelling());
  std::array<std::int64_t, 2> reaches_all{1, 0}, is_intact{1, 0};
  agree(
      [&] {
        next.prepare();
        reaches_all[0] = exchanger_.reaches_partners() ? 1 : 0;
      },
      reaches_all);
  exchanger::ways ways;
  auto const swap_ways = [&] {
    if (reaches_all[0] == 0) exchanger_.swap(ways);
  };
  swap_ways();
  try {
    std::span const slot = std::span(is_intact).last(1);
    if (reaches_all[0] == 0) agree([&] { connect_(*this); }, slot);
    agree([&] { next.exchange(); }, slot);
    agree(
        [&] {
          is_intact[0] = next.is_in_place() ? 0 : 1;
          next.unpack();
        },
        is_intact);
  } catch (...) {
    swap_ways();
    if (is_intact[0] == 0) next.lose();
    throw;
  }
  next.commit();
}

KEEL_INLINE void fields_state::check_meshes(agreement const& ranks) const {
  ranks.all_or_none({"residency::fields", "a mesh", "is refused", on_same_ranks}, [&] {
    for (mesh_record const& m : arrays_.meshes()) require_same_ranks(ranks, {m.name, m.here->all()});
  });
  argument partitions{"partitions"};
  for (mesh_record const& m : arrays_.meshes()) partitions.add(std::int64_t(m.here->all()->digest));
  require_alike(ranks, "the fields are not made", {&partitions, 1});
}

KEEL_INLINE agreement const& fields_state::ranks_for(std::string_view call) const {
  if (!agreement_)
    throw error("residency::fields", std::string(call) + " is refused",
                "the environment of the run is not of the `ranks` of the policy", "Give both the same");
  return agreement_;
}

KEEL_INLINE void fields_state::check_rows(new_values const& given, std::span<cut_anew const> meshes) const {
  variable_record const& v = arrays_.variables()[std::size_t(given.variable)];
  for (cut_anew const& m : meshes)
    if (m.mesh == arrays_.lattices()[std::size_t(v.lattice)].on.mesh && given.rows != nullptr &&
        std::int64_t(given.row_count) < m.part->owned)
      throw error("residency::initial",
                  std::string(v.about->name) + " gets " + std::to_string(given.row_count) + " rows of values",
                  "the rank owns " + std::to_string(m.part->owned) + ' ' + std::string(m.mesh),
                  "Give each of them a row, or one value for all");
}

KEEL_INLINE void fields_state::repartition(std::span<cut_anew> meshes, std::span<new_values const> values,
                                           thunk find_values) {
  agreement const& ranks = ranks_for("repartition");
  std::optional<mesh_renewal> next;
  ranks.all_or_none({"residency::fields", "repartition", "is refused", on_same_ranks}, [&] {
    for (cut_anew& m : meshes) {
      (void)arrays_.mesh(m.mesh);
      require_same_ranks(ranks, m);
      m.moves = std::make_shared<element_moves>();
    }
    find_values();
    for (new_values const& given : values) check_rows(given, meshes);
    next.emplace(*this, meshes, "repartition", values);
  });
  argument partitions{"partitions"};
  for (cut_anew const& m : meshes) partitions.add(std::int64_t(m.part->digest));
  require_alike(ranks, "repartition is not done", {&partitions, 1});
  auto const owned_of = [](elements const& e) { return std::span(e.ids).first(std::size_t(e.owned)); };
  for (cut_anew& m : meshes)
    m.found = ranks.find_owners(m.mesh, owned_of(*arrays_.mesh(m.mesh)->all()), owned_of(*m.part));
  go(*next, "repartition", [&] {
    for (cut_anew& m : meshes) {
      find_moves(m.found->lists, arrays_.rank(), arrays_.mesh(m.mesh)->all()->owned, *m.moves);
      if (m.found->lacks_owners) next->leave_without_values(*m.moves);
    }
  });
}

KEEL_INLINE void fields_state::regrid(std::span<residency::patch const> patches) {
  agreement const& ranks = ranks_for("regrid");
  std::optional<grid_renewal> next;
  ranks.all_or_none({"residency::fields", "regrid", "is refused", "Give other patches"},
                    [&] { next.emplace(*this, patches); });
  argument const given = next->digest();
  require_alike(ranks, "regrid is not done", {&given, 1});
  go(*next, "regrid", [] {});
}

KEEL_INLINE void fields_state::resize(std::span<new_lengths const> all) {
  agreement const& ranks = ranks_for("resize");
  std::optional<resizing> larger;
  ranks.all_or_none({"residency::fields", "resize", "is not done", take_less}, [&] {
    larger.emplace(*this, "resize");
    for (new_lengths const& one : all) larger->set_lengths(one.variable, one.lengths);
  });
  require_alike(ranks, "resize is not done", {&larger->lengths(), 1});
  larger->commit();
}

KEEL_INLINE void fields_state::reserve(std::string_view mesh, std::int64_t size) {
  std::optional<resizing> larger;
  ranks_for("reserve").all_or_none({"residency::fields", "reserve", "is not done", take_less},
                                   [&] { larger.emplace(*this, "reserve").reserve(mesh, size); });
  larger->commit();
}

KEEL_INLINE void fields_state::migrate(std::string_view name, std::span<int const> const& destinations, thunk find) {
  agreement const& ranks = ranks_for("migrate");
  std::optional<migration> all;
  std::optional<mesh_renewal> moved;
  agreement::ids out;
  cut_anew next{name, nullptr, nullptr, nullptr, true};
  ranks.all_or_none({"residency::fields", "migrate", "is refused", "Give each owned element a rank that there is"},
                    [&] {
                      find();
                      out = all.emplace(*arrays_.mesh(name)->all(), destinations, name).departures();
                      if (!talk_) talk_ = ranks.make_talk();
                      next.moves = std::make_shared<element_moves>();
                      moved.emplace(*this, std::span(&next, 1), "migrate");
                    });
  go(*moved, "migrate", [&] { next.part = all->arrive(ranks.exchange(talk_.get(), std::move(out)), *next.moves); });
}

} // namespace keel::residency::detail
