// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A plan as a table.

#include <keel/impl/schedule/explanation.hpp>

namespace keel::residency::detail {

[[nodiscard]] std::string as_table(explanation const& made);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/schedule/explain_texts.ipp>
#endif
