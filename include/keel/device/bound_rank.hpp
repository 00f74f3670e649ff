// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Binding each rank of a node to the place that `topology::node::place` gives it.

#include <keel/device/bind.hpp>
#include <keel/machine.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace keel::device {

/// The hardware threads that one at least of `ranks`, those of a node, may use. Collective over them.
template <class Environment>
[[nodiscard]] topology::id_set allowed_together(Environment const& ranks) {
  std::array<std::uint64_t, 128> allowed{}; // 8,192 hardware threads
  for (int const t : topology::bound_hardware_threads())
    if (auto const at = static_cast<std::size_t>(t); at / 64 < allowed.size())
      allowed[at / 64] |= std::uint64_t{1} << at % 64;
  allowed = machine::all_reduce(ranks, allowed, std::bit_or<>{});
  topology::id_set together;
  for (int t = 0; t < static_cast<int>(allowed.size() * 64); ++t)
    if ((allowed[static_cast<std::size_t>(t) / 64] >> t % 64 & 1U) != 0) together.insert(t);
  return together;
}

/// What `--keel-bind` means for `topology::node::place`.
[[nodiscard]] inline topology::placing placing_of(bind_rule const& rule, topology::id_set allowed) {
  return {.order = rule.gpu ? topology::order::by_device : topology::order::spread,
          .hardware_threads = std::move(allowed),
          .threads_per_core = rule.smt,
          .greedy = rule.greedy};
}

/// This process where `to` says, as long as it lives: its threads, those that OpenMP and oneTBB start meanwhile, and,
/// where one memory is nearest to all its cores, its pages.
class bound_rank {
public:
  bound_rank(topology::node const& node, topology::placement const& to) : threads_(node, to) {
    text_ = "hardware threads " + to_string(to.hardware_threads);
    auto const is_nearer = [&](int core, topology::memory const& m) {
      return m.type == node.memories()[static_cast<std::size_t>(to.memory)].type &&
             node.distance_to_memory(core, m.id) < node.distance_to_memory(core, to.memory);
    };
    bool const has_one = to.memory >= 0 && std::none_of(to.cores.begin(), to.cores.end(), [&](int core) {
      return std::any_of(node.memories().begin(), node.memories().end(),
                         [&](topology::memory const& m) { return is_nearer(core, m); });
    });
    if (has_one) {
      int const system = node.memories()[static_cast<std::size_t>(to.memory)].os_index;
      memory_.emplace(system);
      text_ += ", memory " + std::to_string(system);
      if (auto const why = memory_->why_not(); !why.empty()) text_ += " (not bound: " + why + ")";
    } else {
      text_ += ", memory where it is touched first";
    }
    if (to.device >= 0) text_ += ", device " + node.devices()[static_cast<std::size_t>(to.device)].name;
  }
  /// Where that is, for people.
  [[nodiscard]] std::string const& text() const { return text_; }

  /// A variable that makes OpenMP bind its threads by itself, to what it found before the start of `main`; else null.
  [[nodiscard]] static char const* openmp_variable() {
    for (char const* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
      if (char const* const value = std::getenv(name); value != nullptr && std::string_view{value} != "false")
        return name;
    return nullptr;
  }

private:
  topology::binding threads_;
  std::optional<topology::memory_preference> memory_;
  std::string text_;
};

} // namespace keel::device
