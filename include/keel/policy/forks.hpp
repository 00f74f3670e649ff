// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How many forks led to this process. A fork copies only the calling thread, so threads, and what other threads
/// held, are missing in the child. Depends only on POSIX.

#include <atomic>

#include <pthread.h>

namespace keel::policy {

/// Forks since the first call of `forks()`, read without a call.
inline std::atomic<unsigned> forks_seen{0};

/// The number of forks; if it is kept, it shows later whether this process is a child of the one that kept it.
inline unsigned forks() {
  static bool const is_counted = (pthread_atfork(nullptr, nullptr, [] { ++forks_seen; }), true);
  (void)is_counted;
  return forks_seen.load(std::memory_order_relaxed);
}

/// Whether this process was forked from the one in which `kept` was asked for.
inline bool is_forked_since(unsigned kept) { return forks_seen.load(std::memory_order_relaxed) != kept; }

} // namespace keel::policy
