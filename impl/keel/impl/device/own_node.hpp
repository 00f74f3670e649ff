// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Bodies of the node that is looked up late.

#include <keel/device/own_node.hpp>

#include <string>

namespace keel::device {

KEEL_INLINE own_node::own_node() = default;
KEEL_INLINE own_node::~own_node() = default;
KEEL_INLINE topology::node const& own_node::get(std::string const& kept_in) const {
  if (!node_) node_.emplace(kept_in.empty() ? topology::node::here() : topology::node::here(kept_in));
  return *node_;
}

} // namespace keel::device
