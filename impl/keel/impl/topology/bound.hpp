// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Body of `bound_hardware_threads`; apart from what others include, because the compiled part defines it.

#include <keel/impl/topology/affinity.hpp>
#include <keel/topology/affinity.hpp>

namespace keel::topology {

KEEL_INLINE id_set bound_hardware_threads() { return detail::affinity_of(0); }

} // namespace keel::topology
