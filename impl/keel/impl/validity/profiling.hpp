// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Regions with names, by which a tool sees what keel does.

#include <string>
#include <string_view>

namespace keel::residency::detail {

/// A tool that is notified of regions.
struct region_listener {
  void (*begin)(std::string const& name);
  void (*end)();
};

/// A region called `keel: <what><name>`, open as long as this lives, if there is a tool.
class profiling_region {
public:
  profiling_region(region_listener const* tool, char const* what, std::string_view name) : tool_(tool) {
    if (tool_ != nullptr) [[unlikely]]
      tool_->begin("keel: " + std::string(what) + std::string(name));
  }
  ~profiling_region() {
    if (tool_ != nullptr) [[unlikely]]
      tool_->end();
  }
  profiling_region(profiling_region const&) = delete;
  profiling_region& operator=(profiling_region const&) = delete;

private:
  region_listener const* tool_;
};

} // namespace keel::residency::detail
