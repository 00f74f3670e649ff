// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The values of the knobs that belong to the program and to none of its devices.

#include <keel/device/knobs.hpp>
#include <keel/device/log.hpp>
#include <keel/validity/settings.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace keel::device {

/// How the ranks of a node share its accelerators.
enum class device_mapping { nearest, rank, none };
/// The mappings as a user writes and reads them.
inline constexpr std::array<std::string_view, 3> device_mapping_words{"nearest", "rank", "none"};

/// How the configuration is printed at the start.
enum class print_form { off, text, json };

/// What `--keel-bind` asks for: `none`, or `place` and options after commas, which are mpibind's.
///
/// | option | what it does |
/// |---|---|
/// | `smt=N` | N hardware threads of each core; without it all |
/// | `gpu` | ranks on the cores near each GPU |
/// | `greedy=no` | ranks that are fewer than the memories have cores near one memory each |
struct bind_rule {
  bool place = false;
  int smt = 0; ///< 0 is all
  bool gpu = false, greedy = true;

  friend bool operator==(bind_rule const&, bind_rule const&) = default;
};

/// The knobs of the program, as keel proposes them.
struct program_settings {
  std::string device;
  std::optional<int> num_devices;
  device_mapping map_device_by = device_mapping::nearest;
  bind_rule bind;
  std::string config;
  device::log_level log_level = log_level::warning;
  residency::settings residency;
  std::optional<int> end_timeout;
  print_form print_configuration = print_form::off;
  bool strict = false, help = false;

  [[nodiscard]] device::source source(knob id) const { return sources[std::size_t(id)]; }
  [[nodiscard]] bool is_set(knob id) const { return source(id) != device::source::unset; }
  void set_source(knob id, device::source from) { sources[std::size_t(id)] = from; }

private:
  std::array<device::source, knob_count> sources{};
};

} // namespace keel::device
