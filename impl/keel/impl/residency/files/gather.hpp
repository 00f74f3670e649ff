// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A level of a variable in global order on one rank: what `kr::gather` does. The bodies stand in gather.ipp.

#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>

#include <cstddef>

namespace keel::residency::detail {

struct fields_state;

/// Makes the array on the root, of these extents of the dynamic dimensions, and returns where it is.
struct gathered_array {
  void* (*make)(void* view, std::size_t const* extents);
  void* view;
};

/// Brings the owned elements of all ranks into that array. Collective; throws on all ranks or on none.
void gather(fields_state& f, request const& what, int component, int root, gathered_array const& into);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/gather.ipp>
#endif
