// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What can be set at run time, where a value can come from, and what setting one can answer. What each knob is stands
/// in one row of the table, impl/keel/impl/device/table.hpp.

#include <array>
#include <cstddef>
#include <string_view>

namespace keel::device {

/// A value that a user sets at run time. The first four belong to a device, the rest to the program.
enum class knob {
  threads,                       ///< host threads of this process, altogether
  numa_regions,                  ///< NUMA regions that those threads are divided over
  device_instance,               ///< index of the accelerator among those visible to this process
  stack_size,                    ///< bytes of the stack of each thread that the device starts
  num_devices,                   ///< how many accelerators of a node may be used
  device,                        ///< name of the device that `on_device` means
  map_device_by,                 ///< how ranks of a node share its accelerators: nearest, rank, none
  bind,                          ///< whether each rank is bound to its place
  topology_cache,                ///< a folder in which the node is kept from one start to the next
  log_level,                     ///< what is said on standard error: off, error, warning, information, details
  copy_back_every,               ///< steps from one copying back for output that declares nothing to the next, or never
  copy_back_vars,                ///< variables and groups that are copied back
  copy_back_all_levels,          ///< whether their past levels are, too
  copy_back_written_in_analysis, ///< whether what an analysis wrote is
  only_reads_current_level,      ///< of routines that name no levels
  only_writes_current_level,     ///< the same
  trace_file,                    ///< where the tracking policy `traced` writes
  config,                        ///< a file with more knobs
  strict,                        ///< whether settings without effect are refused
  end_timeout,                   ///< seconds that a rank waits at its end for the others
  print_configuration,           ///< whether every knob is printed at the start
  help,                          ///< whether the options are printed at the start; the last
};
inline constexpr std::size_t knob_count = std::size_t(knob::help) + 1;
/// Those that belong to a device, and stand first.
inline constexpr std::size_t device_knob_count = std::size_t(knob::num_devices);

/// What set a value; a later one beats an earlier one, but for `code`, which is the
/// weakest before the start and the strongest after it.
enum class source { unset, code, file, environment, command_line };

/// What became of setting a knob.
enum class outcome {
  success,
  out_of_bounds,      ///< a possible number, but more than there is here; nothing changed
  invalid_for_device, ///< the device has no such knob; nothing changed
  invalid_value,      ///< never possible (zero threads, a negative index); nothing changed
  not_applied,        ///< too late: Kokkos runs already; nothing changed, said once on standard error
};

[[nodiscard]] constexpr std::string_view name(source s) {
  constexpr std::array<std::string_view, 5> names{"unset", "code", "file", "environment", "command line"};
  return names[std::size_t(s)];
}

[[nodiscard]] constexpr std::string_view name(outcome o) {
  constexpr std::array<std::string_view, 5> names{"success", "out of bounds", "invalid for device", "invalid value",
                                                  "not applied"};
  return names[std::size_t(o)];
}

/// A value and who set it; `unset` with a value is what keel proposes by itself.
template <class T>
struct setting {
  T value{};
  device::source from = device::source::unset;

  constexpr void set(T const& v, device::source s) {
    value = v;
    from = s;
  }
  [[nodiscard]] constexpr bool is_set() const { return from != device::source::unset; }
};

} // namespace keel::device
