// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where each rank runs, collected on one rank.

#include <keel/machine/collectives.hpp>
#include <keel/machine/threads.hpp>
#include <keel/policy/macros.hpp>
#include <keel/topology/node.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::machine {

/// What one rank reports about itself; texts are empty if it does not know.
struct whereabouts {
  std::string host;
  std::string cores;   ///< ids of the node's cores, `"0-3,8"`
  std::string memory;  ///< `"numa 0"`
  std::string device;  ///< PCI id, `"0000:1b:00.0"`
  std::string threads; ///< how many there are, and of what: `"4 openmp"`
};

namespace detail {
/// What the `rank`-th of `size` ranks on a node reports; its threads are left out.
[[nodiscard]] whereabouts whereabouts_on(topology::node const& on, int rank, int size, std::string_view device);
} // namespace detail

/// This rank's, on a node as `topology` describes it. `device` is the PCI id of the device it
/// really took; if it is empty, of the one that its place gives. Collective over the environment.
template <ThreadSource Threads = no_threads, CommunicatingRanks R>
[[nodiscard]] whereabouts whereabouts_of(basic_environment<R> const& env, topology::node const& on,
                                         std::string_view device = {}) {
  if (!env.is_member()) return {};
  auto const node = env.node();
  auto mine = detail::whereabouts_on(on, node.rank(), node.size(), device);
  mine.threads = std::to_string(Threads::count()) + " " + std::string{Threads::name};
  return mine;
}

namespace detail {

struct column {
  using member = std::string whereabouts::*;
  std::string_view name;
  member field;
};
inline constexpr std::array columns{column{"host", &whereabouts::host}, column{"cores", &whereabouts::cores},
                                    column{"memory", &whereabouts::memory}, column{"device", &whereabouts::device},
                                    column{"threads", &whereabouts::threads}};

} // namespace detail

/// What all ranks say, by rank, on the master; empty elsewhere. Collective.
template <CommunicatingRanks R>
[[nodiscard]] std::vector<whereabouts> gather_whereabouts(basic_environment<R> const& env, whereabouts const& mine) {
  std::vector<whereabouts> all(env.is_master() ? std::size_t(env.size()) : 0);
  if (!env.is_member()) return all;
  for (auto const& column : detail::columns) {
    auto const texts = gather_texts(env, mine.*column.field, env.master_rank());
    for (std::size_t r = 0; r != all.size(); ++r) all[r].*column.field = texts[r];
  }
  return all;
}

/// A table, one line a rank.
[[nodiscard]] std::string to_text(std::span<whereabouts const> all);

/// A JSON array, one object a rank; what a rank does not know is `null`.
[[nodiscard]] std::string to_json(std::span<whereabouts const> all);

/// Where each rank runs, as a table and as JSON: of all ranks, on the master; empty elsewhere. Collective.
template <CommunicatingRanks R>
[[nodiscard]] std::string describe(basic_environment<R> const& env, whereabouts const& mine) {
  auto const all = gather_whereabouts(env, mine);
  return env.is_master() ? to_text(all) : "";
}
template <CommunicatingRanks R>
[[nodiscard]] std::string describe_json(basic_environment<R> const& env, whereabouts const& mine) {
  auto const all = gather_whereabouts(env, mine);
  return env.is_master() ? to_json(all) : "";
}

} // namespace keel::machine

#if !KEEL_COMPILED
#include <keel/impl/machine/describe.ipp>
#endif
