// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What is wrong with the ids that ranks give, as they tell each other.

#include <keel/impl/layout/agreement.hpp>
#include <keel/policy/macros.hpp>

#include <cstdint>
#include <string_view>

namespace keel::residency::detail {

enum class mistake : std::int64_t { lacks_memory, too_many, other_length, owned_twice, named_twice, no_owner, none };

/// The worst mistake that was found. Without padding, because it is sent.
struct verdict {
  mistake what = mistake::none;
  std::int32_t first = 0, second = 0; ///< ranks
  std::int64_t id = 0;                ///< of too many, their number

  /// Throws `keel::error` if there is a mistake in the ids of this mesh.
  void check(std::string_view mesh, search_for what_for) const;
};
/// Chooses one of two verdicts, the same whatever their order.
struct worse {
  verdict operator()(verdict const& a, verdict const& b) const;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/verdict.ipp>
#endif
