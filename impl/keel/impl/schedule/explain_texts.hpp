// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A plan as text, as a table and for Graphviz.

#include <keel/impl/schedule/explanation.hpp>

namespace keel::residency::detail {

[[nodiscard]] std::string as_table(explanation const& made);
[[nodiscard]] std::string as_graph(explanation const& made);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/schedule/explain_texts.ipp>
#endif
