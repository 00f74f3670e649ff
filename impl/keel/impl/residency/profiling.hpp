// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Regions with names, by which a tool sees what keel does.

#include <keel/residency/observer.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// A tool that hears of regions.
struct region_listener {
  void (*begin)(std::string const& name);
  void (*end)();
};

/// A region called `keel: <what><name>`, open as long as this lives, where there is a tool.
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

/// An observer that also opens a region around each copy, where a tool listens: *keel: copy eta[0] core, u[1] core host
/// to cuda*. Nothing is asked where nothing is copied.
template <Observer O>
class profiled_observer : public O {
public:
  [[nodiscard]] region_listener const* tool() const { return tool_; }
  void listen_to(region_listener const& tool) { tool_ = &tool; }
  void name_memories(std::vector<std::string> names) {
    if constexpr (requires(O& o) { o.name_memories(names); }) O::name_memories(names);
    memories_ = std::move(names);
  }

  void add(std::string_view name, int levels, int components, region_bytes const& bytes) {
    variables_.emplace_back(name);
    O::add(name, levels, components, bytes);
  }
  void before(std::span<transfer const> batch, std::string_view routine) {
    if (tool_ != nullptr) tool_->begin(name_of_copy(batch));
    O::before(batch, routine);
  }
  void after(std::span<transfer const> batch, std::string_view routine, bool done) {
    if (tool_ != nullptr) tool_->end();
    O::after(batch, routine, done);
  }

private:
  [[nodiscard]] std::string name_of_copy(std::span<transfer const> batch) const {
    std::string name = "keel: copy";
    for (transfer const& t : batch)
      name += (&t == batch.data() ? " " : ", ") + variables_[std::size_t(t.variable)] + '[' + std::to_string(t.level) +
              "] " + std::string(residency::name_of(t.where));
    return name + ' ' + memories_[std::size_t(batch[0].from)] + " to " + memories_[std::size_t(batch[0].to)];
  }

  region_listener const* tool_ = nullptr;
  std::vector<std::string> variables_, memories_;
};

} // namespace keel::residency::detail
