// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What is allocated in keel's memory spaces at the moment. Rests on the standard library alone.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace keel::space {

/// One view, or one piece of raw memory, that has not been given back.
struct allocation {
  std::string label;
  std::string space;
  std::size_t bytes; ///< the user's
};

namespace detail {

/// The allocations that live, in the order they were made.
class ledger_of_allocations {
public:
  static ledger_of_allocations& all() {
    static ledger_of_allocations instance;
    return instance;
  }
  /// Enters one and returns its number, by which it leaves.
  std::size_t enter(allocation made) {
    std::lock_guard const lock(mutex_);
    live_.emplace(next_, std::move(made));
    return next_++;
  }
  void leave(std::size_t number) {
    std::lock_guard const lock(mutex_);
    live_.erase(number);
  }
  [[nodiscard]] std::vector<allocation> live() {
    std::lock_guard const lock(mutex_);
    std::vector<allocation> found;
    for (auto const& [number, one] : live_) found.push_back(one);
    return found;
  }

private:
  std::mutex mutex_;
  std::map<std::size_t, allocation> live_;
  std::size_t next_ = 0;
};

/// Is in the ledger as long as it lives; part of Kokkos' record of an allocation.
class ledger_entry {
public:
  explicit ledger_entry(allocation made) : number_(ledger_of_allocations::all().enter(std::move(made))) {}
  ledger_entry(ledger_entry const&) = delete;
  ledger_entry& operator=(ledger_entry const&) = delete;
  ~ledger_entry() { ledger_of_allocations::all().leave(number_); }

private:
  std::size_t number_;
};

} // namespace detail

/// What lives in all memory spaces of keel, oldest first.
[[nodiscard]] inline std::vector<allocation> live_allocations() { return detail::ledger_of_allocations::all().live(); }

/// Names on standard error what was not given back; says nothing where all was. `keel::space::start` has it called
/// just before Kokkos ends, after the hooks that an application gave to Kokkos once it ran.
inline void report_leaks() {
  constexpr std::size_t most_lines = 20;
  auto const live = live_allocations();
  if (live.empty()) return;
  std::string text = "keel::space: " + std::to_string(live.size()) +
                     " allocations live where Kokkos ends (they can no longer be given back). "
                     "Does a view outlive main's scope, or lack a kokkos_free?\n";
  for (std::size_t i = 0; i < std::min(live.size(), most_lines); ++i)
    text += "  " + std::to_string(live[i].bytes) + " bytes for '" + live[i].label + "' in " + live[i].space + "\n";
  if (live.size() > most_lines) text += "  and " + std::to_string(live.size() - most_lines) + " more\n";
  std::fputs(text.c_str(), stderr);
}

} // namespace keel::space
