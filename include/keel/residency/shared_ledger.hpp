// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A ledger for several threads.

#include <keel/residency/ledger.hpp>

#include <mutex>
#include <utility>

namespace keel::residency {

/// A ledger that threads take in turns. It is reached through `with` alone, so that nobody can forget to take his
/// turn; what `f` gets is not to be kept. A whole call belongs into one turn: what stands between `pre_call` and
/// `post_call` is not for others to see. A plain `ledger` is for one thread.
template <Provider P, Observer O = unobserved>
class shared_ledger {
public:
  explicit shared_ledger(P& provider, int memories = 2, int components = 1) : ledger_(provider, memories, components) {}

  /// What `f(book)` returns, by value. Waits for the turn of others.
  template <class F>
  auto with(F&& f) {
    std::lock_guard const turn(mutex_);
    return std::forward<F>(f)(ledger_);
  }

private:
  std::mutex mutex_;
  ledger<P, O> ledger_;
};

} // namespace keel::residency
