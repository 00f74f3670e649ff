// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What is allocated in keel's memory spaces at the moment. Depends only on the standard library.

#include <keel/policy/macros.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace keel::space {

/// One view, or one piece of raw memory, that has not been given back.
struct allocation {
  std::string label;
  std::string space;
  std::size_t bytes; ///< the user's
};

namespace detail {

/// Enters one among those that live, and returns its number, by which it leaves.
[[nodiscard]] std::size_t enter(allocation made);
void leave(std::size_t number);

/// Is in the ledger as long as it lives; part of Kokkos' record of an allocation.
class ledger_entry {
public:
  explicit ledger_entry(allocation made) : number_(enter(std::move(made))) {}
  ledger_entry(ledger_entry const&) = delete;
  ledger_entry& operator=(ledger_entry const&) = delete;
  ~ledger_entry() { leave(number_); }

private:
  std::size_t number_;
};

} // namespace detail

/// Names on standard error what was not given back; prints nothing if all was. `keel::space::start` has it called
/// just before Kokkos ends, after the hooks that an application gave to Kokkos once it ran.
void report_leaks();

} // namespace keel::space

#if !KEEL_COMPILED
#include <keel/impl/space/allocations.ipp>
#endif
