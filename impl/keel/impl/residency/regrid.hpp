// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Grids that are cut anew: what `fields::regrid` does. The bodies stand in regrid.ipp.

#include <span>

namespace keel::residency {
struct patch;
}

namespace keel::residency::detail {

struct fields_state;

/// Collective; throws on all ranks or on none.
void regrid(fields_state& f, std::span<residency::patch const> patches);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/regrid.ipp>
#endif
