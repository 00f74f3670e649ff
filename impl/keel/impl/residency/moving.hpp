// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Sizes that change, as far as ranks have to agree on them: bodies of fields_state.hpp.

#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/migration.hpp>
#include <keel/impl/residency/regridding.hpp>
#include <keel/policy/error.hpp>

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Throws the same error on every rank if `f` throws on one of them. Collective.
template <class F>
void together(agreement const& ranks, std::string_view wrong, std::string_view hint, F const& f) {
  std::string why;
  try {
    f();
  } catch (std::exception const& e) {
    why = "rank " + std::to_string(ranks.rank()) + ": " + std::string(reason_of(e));
  }
  auto const first = int(ranks.min(why.empty() ? INT_MAX : ranks.rank()));
  if (first == INT_MAX) return;
  why.resize(std::size_t(-ranks.min(-std::int64_t(first == ranks.rank() ? why.size() : 0))));
  ranks.broadcast(why, first);
  throw error("residency::fields", wrong, why, hint);
}

/// Throws `keel::error` on every rank if a partition was made on other ranks. Collective.
inline void require_same_ranks(agreement const& ranks, std::span<cut_anew const> meshes) {
  std::int64_t wrong = std::int64_t(meshes.size());
  for (std::size_t n = meshes.size(); n-- > 0;)
    if (elements const& p = *meshes[n].part; p.rank != ranks.rank() || p.ranks != ranks.size()) wrong = std::int64_t(n);
  wrong = ranks.min(wrong);
  if (wrong != std::int64_t(meshes.size()))
    throw error("residency::fields",
                "the partition of " + std::string(meshes[std::size_t(wrong)].mesh) +
                    " was made on another environment than that of the run",
                "their ranks differ", "Make it on run.environment()");
}

/// Where each element goes that the rank owns of `old`, and where those come from that it owns of `next`, by their ids.
/// Null on all ranks if `next` has ids that no rank owns of `old`. Collective.
[[nodiscard]] inline std::shared_ptr<element_moves> moves_between(agreement const& ranks, std::string_view mesh,
                                                                  elements const& old, elements const& next) {
  auto const owned_of = [](elements const& e) { return std::span(e.ids).first(std::size_t(e.owned)); };
  auto found = ranks.find_owners(mesh, owned_of(old), owned_of(next));
  if (!found) return nullptr;
  auto made = std::make_shared<element_moves>();
  auto const add = [&](int rank, layered_list const& leave, layered_list& come) {
    for (std::int32_t& e : come.elements) e -= std::int32_t(old.owned);
    if (!leave.elements.empty() || !come.elements.empty()) made->add(rank, leave.elements, come.elements);
  };
  element_lists& lists = found->lists;
  bool is_own_there = false;
  auto const add_own = [&] {
    if (!std::exchange(is_own_there, true)) add(ranks.rank(), lists.own_elements, lists.own_ghosts);
  };
  for (element_partner& p : lists.partners) {
    if (p.rank > ranks.rank()) add_own();
    add(p.rank, p.rims, p.ghosts);
  }
  add_own();
  return made;
}

inline void require_alike(agreement const& ranks, std::string_view who, std::string_view what, std::int64_t digest) {
  std::array both{digest, ~digest};
  ranks.min(both);
  if (both[0] != ~both[1])
    throw error("residency::fields", std::string(who) + " is not done",
                "the " + std::string(what) + " differ between ranks", "Give the same on every rank");
}

inline constexpr std::string_view take_less = "Take smaller arrays, or more ranks";

/// Goes the way. `connect()` is called when it is prepared.
template <class Connect>
void renew(agreement const& ranks, auto& next, std::string_view who, Connect const& connect) {
  ranks.min(next.travelling());
  together(ranks, std::string(who) + " is not done", take_less, [&] { next.prepare(); });
  connect();
  next.exchange();
  next.commit();
}

KEEL_INLINE void fields_state::check_meshes(agreement const& ranks) const {
  std::vector<cut_anew> all;
  for (mesh_record const& m : meshes_) all.push_back({m.name, m.here->all()});
  require_same_ranks(ranks, all);
}

KEEL_INLINE agreement const& fields_state::ranks_for(std::string_view call) const {
  if (!agreement_)
    throw error("residency::fields", std::string(call) + " is refused",
                "the environment of the run is not of the `ranks` of the policy", "Give both the same");
  return agreement_;
}

KEEL_INLINE void fields_state::repartition(std::span<cut_anew> meshes) {
  agreement const& ranks = ranks_for("repartition");
  for (cut_anew const& m : meshes) (void)mesh(m.mesh);
  require_same_ranks(ranks, meshes);
  for (cut_anew& m : meshes) m.moves = moves_between(ranks, m.mesh, *mesh(m.mesh)->all(), *m.part);
  mesh_renewal next{*this, meshes, "repartition"};
  renew(ranks, next, "repartition", [&] { find_new_partners(); });
}

KEEL_INLINE void fields_state::regrid(std::span<residency::patch const> patches) {
  agreement const& ranks = ranks_for("regrid");
  std::optional<grid_renewal> next;
  together(ranks, "regrid is refused", "Give other patches", [&] { next.emplace(*this, patches); });
  require_alike(ranks, "regrid", "patches", next->digest());
  renew(ranks, *next, "regrid", [&] { find_new_partners(); });
}

KEEL_INLINE void fields_state::find_new_partners() {
  if (agreement_.min(reaches_partners() ? 1 : 0) != 0) return;
  halos_.clear();
  connect_(*this);
}

KEEL_INLINE void fields_state::resize(std::span<new_lengths const> all) {
  resizing larger{*this, "resize"};
  agreement const& ranks = ranks_for("resize");
  together(ranks, "resize is not done", take_less, [&] {
    for (new_lengths const& one : all) larger.set_lengths(one.variable, one.lengths);
  });
  require_alike(ranks, "resize", "lengths", larger.digest());
  larger.commit();
}

KEEL_INLINE void fields_state::reserve(std::string_view mesh, std::int64_t size) {
  resizing larger{*this, "reserve"};
  together(ranks_for("reserve"), "reserve is not done", take_less, [&] { larger.reserve(mesh, size); });
  larger.commit();
}

KEEL_INLINE void fields_state::migrate(std::string_view name, std::span<int const> destinations) {
  agreement const& ranks = ranks_for("migrate");
  std::optional<migration> all;
  together(ranks, "migrate of " + std::string(name) + " is refused", "Give each owned element a rank that there is",
           [&] { all.emplace(*mesh(name)->all(), destinations, name); });
  cut_anew next = all->arrive(ranks.exchange(talk_, all->departures()));
  mesh_renewal moved{*this, {&next, 1}, "migrate"};
  renew(ranks, moved, "migrate", [] {}); // without ghosts it has no partners
}

} // namespace keel::residency::detail
