// SPDX-License-Identifier: MIT
#include <keel/impl/device/own_node.hpp>

namespace keel::device {

KEEL_INLINE own_node::own_node() = default;
KEEL_INLINE own_node::~own_node() = default;
KEEL_INLINE topology::node const& own_node::get() const {
  if (!node_) node_.emplace(topology::node::here());
  return *node_;
}

} // namespace keel::device
