// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where Kokkos looks when the application starts it: its variables. Rests on POSIX only.

#include <keel/impl/device/device_knobs.hpp>
#include <keel/policy/macros.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace keel::device {

/// Keel's settings in Kokkos' variables, for as long as it lives. A variable that the user set stays, unless a knob
/// says otherwise; at the end every variable is as it was.
class kokkos_variables {
public:
  kokkos_variables();
  kokkos_variables(kokkos_variables const&) = delete;
  kokkos_variables& operator=(kokkos_variables const&) = delete;
  ~kokkos_variables();

  /// The knobs of the devices that Kokkos starts; those that start by themselves get theirs.
  void set(std::span<device_knobs const> devices);

private:
  struct variable {
    char const* name;
    std::optional<std::string> value;
  };
  void set(char const* name, std::optional<int> proposed, std::optional<int> said);

  std::vector<variable> before_;
};

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/kokkos_variables.ipp>
#endif
