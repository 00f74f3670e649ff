// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A ledger for several threads.

#include <keel/residency/ledger.hpp>

#include <mutex>
#include <utility>

namespace keel::residency {

/// A ledger that several threads share. They reach it through `with` alone, which locks it; `f` must not keep what it
/// gets. `pre_call` and its `post_call` belong into one call of `with`: no other thread may see the state between them.
/// A plain `ledger` is for one thread.
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
