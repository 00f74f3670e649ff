// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What checked tracking does: finds two threads in one `fields` and what a routine wrote undeclared, and closes the
/// simulated device's memory.

#include <keel/policy/error.hpp>
#include <keel/residency/concepts.hpp>
#include <keel/space/simulated_memory.hpp>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace keel::residency::detail {

/// Holds the thread that is inside, where it `Checks`. The same thread may enter again, as a routine that calls its
/// fields does.
template <bool Checks>
class occupancy {
public:
  class visit {
  public:
    explicit visit(std::atomic<std::thread::id>* left) : left_(left) {}
    ~visit() {
      if (Checks && left_ != nullptr) left_->store({});
    }
    visit(visit const&) = delete;
    visit& operator=(visit const&) = delete;

  private:
    std::atomic<std::thread::id>* left_;
  };
  [[nodiscard]] visit enter(std::string_view call) {
    std::thread::id found{};
    if (!Checks || inside_.compare_exchange_strong(found, std::this_thread::get_id()))
      return visit(Checks ? &inside_ : nullptr);
    if (found != std::this_thread::get_id())
      throw error("residency::checked", std::string(call) + " is called while another thread is in the same fields",
                  "fields are for one thread at a time", "Let the threads take turns, or give each fields of its own");
    return visit(nullptr);
  }

private:
  std::atomic<std::thread::id> inside_{};
};

/// Closes what is allocated of the simulated device's memory, as long as it lives, to all but kernels and copies.
template <bool Closes>
struct closed_memory {};
template <>
struct closed_memory<true> {
  closed_memory() { space::set_guard(space::guard::pages); }
  ~closed_memory() { space::set_guard(guard_before); }
  closed_memory(closed_memory const&) = delete;
  closed_memory& operator=(closed_memory const&) = delete;

  space::guard guard_before = space::chosen_guard();
};

/// One region of one level, in one memory, and what lay there.
struct digested {
  transfer what; ///< `to` is the memory
  std::uint64_t digest;
};

/// The digests of all regions in all open memories, without those that `writes` may change in `m`. Waits for all that
/// is under way.
template <class Ledger, class Provider>
std::vector<digested> digest_undeclared(Ledger const& ledger, Provider& provider, std::span<request const> writes,
                                        memory m, component_range range) {
  for (int k = 1; k < ledger.memories(); ++k)
    if (ledger.is_open(memory(k))) provider.wait(memory(k));
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

/// Refuses what differs in two lists of digests. What a routine wrote undeclared is lost: its contents are unknown.
template <class Ledger>
void refuse_undeclared(Ledger& ledger, std::vector<digested> const& before, std::vector<digested> const& after,
                       std::vector<std::string> const& memories, std::string_view routine) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].digest == after[i].digest) continue;
    transfer const& t = before[i].what;
    request const lost{t.variable, t.level, region::none, t.where};
    ledger.lose({&lost, 1}, {t.component, t.component + 1}, routine);
    throw error("residency::checked",
                "routine " + std::string(routine) + " changed " +
                    ledger.describe(t.variable, t.level, overlap(t.where, region::ghosts) ? region::ghosts : t.where,
                                    t.component) +
                    ", in the memory of " + memories[std::size_t(t.to)] + ", which it does not declare",
                "by a raw pointer, a cast, or beyond its region", "Add it to its writes or updates");
  }
}

} // namespace keel::residency::detail
