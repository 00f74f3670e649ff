// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What checked tracking does around a routine: finds what it wrote undeclared, by digests of all other data, what
/// it left unwritten of that which it promised to write, and where it reached beyond what it declares.

#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/book.hpp>
#include <keel/impl/residency/bounded_view.hpp>
#include <keel/impl/validity/observers.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

class checker {
public:
  checker(arrays& of, book& in) : arrays_(of), book_(in) {}
  /// Calls a routine.
  void call(std::span<request const> asked, memory m, component_range range, std::string_view routine, thunk run);
  /// How far it may reach in the views of a request that it gets for a component.
  [[nodiscard]] reach& limit(request const& asked, int component);

  /// One region of one level, in one memory, and what lay there.
  struct digested {
    transfer what; ///< `to` is the memory
    std::uint64_t digest;
  };
  /// The digests of all regions in all open memories, without those that `asked` may change in `m`. Waits for all that
  /// is in flight.
  [[nodiscard]] std::vector<digested> digest_undeclared(std::span<request const> asked, memory m,
                                                        component_range range);
  /// Refuses what differs in two lists of digests, all of it in one message. What a routine wrote undeclared is lost:
  /// its contents are unknown.
  void refuse_undeclared(std::vector<digested> const& before, std::vector<digested> const& after,
                         std::string_view routine);
  /// Warns, once for each routine and variable, of elements that still hold the poison that lay there before.
  void report_unwritten(std::span<request const> asked, memory m, component_range range, std::string_view routine);

private:
  /// Refuses a routine that used elements beyond its limits, which begin at number `first`.
  void refuse_reach(std::size_t first, std::string_view routine) const;

  arrays& arrays_;
  book& book_;
  std::deque<reach> reaches_;         // of the routines that run now
  std::vector<std::string> reported_; // what it warned of
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/checked_call.ipp>
#endif
