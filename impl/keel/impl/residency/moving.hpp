// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Sizes that change, as far as ranks have to agree on them.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/residency/migration.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/machine/sparse.hpp>
#include <keel/policy/error.hpp>
#include <keel/residency/partition.hpp>

#include <algorithm>
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
template <machine::CommunicatingRanks R, class F>
void together(machine::basic_environment<R> const& env, std::string_view wrong, std::string_view hint, F const& f) {
  std::string why;
  try {
    f();
  } catch (std::exception const& e) {
    why = "rank " + std::to_string(env.rank()) + ": " + std::string(reason_of(e));
  }
  int const first = machine::min(env, why.empty() ? INT_MAX : env.rank());
  if (first == INT_MAX) return;
  std::int64_t size = std::int64_t(why.size());
  machine::broadcast(env, size, first);
  why.resize(std::size_t(size));
  machine::broadcast(env, std::span<char>(why), first);
  throw error("residency::fields", wrong, why, hint);
}

/// Throws `keel::error` on every rank if a partition was made on other ranks than those of `env`. Collective.
template <machine::CommunicatingRanks R>
void require_same_ranks(machine::basic_environment<R> const& env, std::span<cut_anew const> meshes) {
  int wrong = int(meshes.size());
  for (int n = int(meshes.size()); n-- > 0;)
    if (elements const& p = *meshes[std::size_t(n)].part; p.rank != env.rank() || p.ranks != env.size()) wrong = n;
  wrong = machine::min(env, wrong);
  if (wrong != int(meshes.size()))
    throw error("residency::fields",
                "the partition of " + std::string(meshes[std::size_t(wrong)].mesh) +
                    " was made on another environment than that of the run",
                "their ranks differ", "Make it on run.environment()");
}

/// Where each element goes that the rank owns of `old`, and where those come from that it owns of `next`, by their ids.
/// Null on all ranks if `next` has ids that no rank owns of `old`. Collective.
template <machine::CommunicatingRanks R>
[[nodiscard]] std::shared_ptr<element_moves> moves_between(machine::basic_environment<R> const& env,
                                                           std::string_view mesh, elements const& old,
                                                           elements const& next) {
  auto const owned_of = [](elements const& e) { return std::span(e.ids).first(std::size_t(e.owned)); };
  std::array const wanted{owned_of(next)};
  auto found = find_owners(env, mesh, owned_of(old), wanted, true);
  if (!found) return nullptr;
  auto made = std::make_shared<element_moves>();
  auto const add = [&](int rank, layered_list const& leave, layered_list& come) {
    for (std::int32_t& e : come.elements) e -= std::int32_t(old.owned);
    if (!leave.elements.empty() || !come.elements.empty()) made->add(rank, leave.elements, come.elements);
  };
  element_lists& lists = found->lists;
  bool is_own_there = false;
  auto const add_own = [&] {
    if (!std::exchange(is_own_there, true)) add(env.rank(), lists.own_elements, lists.own_ghosts);
  };
  for (element_partner& p : lists.partners) {
    if (p.rank > env.rank()) add_own();
    add(p.rank, p.rims, p.ghosts);
  }
  add_own();
  return made;
}

template <class App>
template <class Run>
void fields_base<App>::check_meshes(Run& run) const {
  std::vector<cut_anew> all;
  for_each_mesh(
      [&](std::string_view name, std::shared_ptr<elements const> const& part) { all.push_back({name, part}); });
  require_same_ranks(run.environment(), all);
}

template <class App>
auto fields_base<App>::environment_for(std::string_view call) const -> ranks_environment const& {
  if (!environment_)
    throw error("residency::fields", std::string(call) + " is refused",
                "the environment of the run is not of the `ranks` of the policy", "Give both the same");
  return *static_cast<ranks_environment const*>(environment_.get());
}

inline constexpr std::string_view take_less = "Take smaller arrays, or more ranks";

template <class App>
void fields_base<App>::repartition(std::span<cut_anew> meshes) {
  auto const& env = environment_for("repartition");
  for (cut_anew const& m : meshes) (void)mesh(m.mesh);
  require_same_ranks(env, meshes);
  for (cut_anew& m : meshes) m.moves = moves_between(env, m.mesh, *mesh(m.mesh)->all(), *m.part);
  mesh_renewal next{*this, meshes, "repartition"};
  renew(next, "repartition", [&] { connect_anew(); });
}

template <class App>
void fields_base<App>::regrid(std::span<residency::patch const> patches) {
  auto const& env = environment_for("regrid");
  std::optional<grid_renewal> next;
  together(env, "regrid is refused", "Give other patches", [&] { next.emplace(*this, patches); });
  require_alike("regrid", "patches", next->digest());
  renew(*next, "regrid", [&] { connect_anew(); });
}

template <class App>
void fields_base<App>::connect_anew() {
  if (machine::any_of(environment_for("connect"), !reaches_partners())) reconnect();
}

template <class App>
void fields_base<App>::renew(auto& next, std::string_view who, auto const& connect) {
  auto const& env = environment_for(who);
  machine::min(env, next.travelling());
  together(env, std::string(who) + " is not done", take_less, [&] { next.prepare(); });
  connect();
  next.exchange();
  next.commit();
}

template <class App>
void fields_base<App>::change(std::string_view who, auto const& f) {
  resizing larger{*this, who};
  auto const& env = environment_for(who);
  together(env, std::string(who) + " is not done", take_less, [&] { f(larger); });
  require_alike(who, "lengths", larger.digest());
  larger.commit();
}

template <class App>
void fields_base<App>::require_alike(std::string_view who, std::string_view what, std::int64_t digest) const {
  std::array const both{digest, ~digest};
  if (auto const least = machine::min(environment_for(who), both); least[0] != ~least[1])
    throw error("residency::fields", std::string(who) + " is not done",
                "the " + std::string(what) + " differ between ranks", "Give the same on every rank");
}

template <class App>
void fields_base<App>::migrate(std::string_view name, std::span<int const> destinations) {
  auto const& env = environment_for("migrate");
  std::optional<migration> all;
  together(env, "migrate of " + std::string(name) + " is refused", "Give each owned element a rank that there is",
           [&] { all.emplace(*mesh(name)->all(), destinations, name); });
  if (!talk_) talk_ = std::make_shared<machine::sparse_messages<typename App::ranks>>(env);
  auto& talk = *static_cast<machine::sparse_messages<typename App::ranks>*>(talk_.get());
  cut_anew next = all->arrive(talk.exchange(all->departures()));
  mesh_renewal moved{*this, {&next, 1}, "migrate"};
  renew(moved, "migrate", [] {}); // without ghosts it has no partners
}

} // namespace keel::residency::detail
