// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields refuse components that there are not, and, with checked tracking, find what a routine wrote undeclared.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/policy/error.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace keel::residency::detail {

/// One region of one level, in one memory, and what lay there.
struct digested {
  transfer what; ///< `to` is the memory
  std::uint64_t digest;
};

/// The digests of all regions in all open memories, without those that `writes` may change in `m`.
template <class Ledger, class Provider>
std::vector<digested> digest_all(Ledger const& ledger, Provider& provider, std::span<request const> writes, memory m,
                                 component_range range) {
  std::vector<digested> all;
  for (int v = 0; v < ledger.variables(); ++v)
    for (int l = 0; l < ledger.levels(v); ++l)
      for (int c = 0; c < ledger.components(); ++c) {
        region spared = region::none;
        for (request const& r : writes)
          if (r.variable == v && r.level == l && c >= range.begin && c < range.end) spared = spared | r.writes;
        for (int k = 0; k < ledger.memories(); ++k)
          for (region one : single_regions)
            if (ledger.is_open(memory(k)) && !(memory(k) == m && overlap(one, spared)))
              all.push_back({{v, l, c, one, memory(k), memory(k)}, provider.digest(v, l, c, one, memory(k))});
      }
  return all;
}

template <class App>
void fields_base<App>::check(component which, component_range of, std::string_view routine) const {
  if (which.index < 0 || which.index >= components())
    throw error("residency", "routine " + std::string(routine) + " wants component " + std::to_string(which.index),
                "there are " + std::to_string(components()), "Ask for an existing one");
  if (which.index < of.begin || which.index >= of.end)
    throw error("residency", "routine " + std::string(routine) + " wants component " + std::to_string(which.index),
                "it runs for component " + std::to_string(of.begin) + " alone, so the others are neither copied nor marked",
                "Run it for all components");
}

// What lies in the arrays, less what a routine may change in memory `m`. Waits for all that is under way.
template <class App>
std::vector<digested> fields_base<App>::digest_undeclared(std::span<request const> asked, memory m,
                                                          component_range range) {
  settle_host();
  for (int k = 1; k < ledger_.memories(); ++k)
    if (ledger_.is_open(memory(k))) provider_.wait(memory(k));
  return digest_all(ledger_, provider_, asked, m, range.of(components()));
}

// What a routine wrote undeclared is lost: its contents are unknown.
template <class App>
void fields_base<App>::find_undeclared(std::vector<digested> const& before, std::vector<digested> const& after,
                                       std::string_view routine) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].digest == after[i].digest) continue;
    transfer const& t = before[i].what;
    request const lost{t.variable, t.level, region::none, t.where};
    ledger_.lose({&lost, 1}, {t.component, t.component + 1}, routine);
    throw error("residency::checked",
                "routine " + std::string(routine) + " changed " + std::string(ledger_.name(t.variable)) + ", level " +
                    std::to_string(t.level) + ", " +
                    std::string(name_of(overlap(t.where, region::ghosts) ? region::ghosts : t.where)) +
                    (components() > 1 ? ", component " + std::to_string(t.component) : "") + ", in the memory of " +
                    memory_names(devices{})[std::size_t(t.to)] + ", which it does not declare",
                "by a raw pointer, a cast, or beyond its region", "Add it to its writes or updates");
  }
}

} // namespace keel::residency::detail
