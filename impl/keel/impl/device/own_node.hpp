// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What this node is made of, looked up when that is first asked, because it takes milliseconds.

#include <keel/policy/macros.hpp>
#include <keel/topology/node.hpp>

#include <optional>

namespace keel::device {

/// The node that this process runs on.
class own_node {
public:
  own_node();
  own_node(own_node const&) = delete;
  own_node& operator=(own_node const&) = delete;
  ~own_node();

  [[nodiscard]] topology::node const& get() const;

private:
  mutable std::optional<topology::node> node_;
};

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/own_node.ipp>
#endif
