// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What can be set at run time, where a value can come from, and what setting one can answer. The knobs of devices have
/// their rows here; those of the program in impl/keel/impl/device/table.hpp.

#include <keel/space/settings.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace keel::device {

/// A value that a user sets at run time, of a device or of the program.
enum class knob {
  threads,                       ///< host threads of this process, altogether
  numa_regions,                  ///< NUMA regions that those threads are divided over
  device_instance,               ///< index of the accelerator among those visible to this process
  stack_size,                    ///< bytes of the stack of each thread that the device starts
  huge_pages,                    ///< whether arrays in keel's host memories ask for huge pages
  num_devices,                   ///< how many accelerators of a node may be used
  device,                        ///< name of the device that `on_device` means
  map_device_by,                 ///< how ranks of a node share its accelerators: nearest, rank, none
  bind,                          ///< whether each rank is bound to its place
  log_level,                     ///< what is said on standard error: off, error, warning, information, details
  copy_back_every,               ///< steps from one copying back for output that declares nothing to the next, or never
  copy_back_vars,                ///< variables and groups that are copied back
  copy_back_all_levels,          ///< whether their past levels are, too
  copy_back_written_in_analysis, ///< whether what an analysis wrote is
  only_reads_current_level,      ///< of routines that name no levels
  only_writes_current_level,     ///< the same
  trace_file,                    ///< where the tracking policy `traced` writes
  tracking,                      ///< which of the trackings that the program lists
  exchange_through,              ///< which of the transports that the program lists, or the fastest
  exchange_together,             ///< whether a message has all variables of an exchange
  restart,                       ///< the checkpoint that the first step goes on from
  checkpoint_every,              ///< how many steps lie between two checkpoints
  checkpoint_before_end,         ///< how long before the end of the job one is made
  config,                        ///< a file with more knobs
  strict,                        ///< whether settings without effect are refused
  end_timeout,                   ///< seconds that a rank waits at its end for the others
  print_configuration,           ///< whether every knob is printed at the start
  help,                          ///< whether the options are printed at the start; the last
};
inline constexpr std::size_t knob_count = std::size_t(knob::help) + 1;

/// What values of a device's knob look like.
enum class knob_values { count, index, size, yes_no };

/// A knob of devices. Which of them have it, their `keel::device_traits` say.
struct knob_of_devices {
  knob id;
  std::string_view option; ///< after `--keel-`; the variable is the same in capitals
  knob_values values;
  std::string_view help;
  void (*tell)(space::settings& to, std::int64_t value);
};

namespace detail {
template <auto Member>
constexpr void tell(space::settings& to, std::int64_t value) {
  to.*Member = static_cast<typename std::remove_cvref_t<decltype(to.*Member)>::value_type>(value);
}
} // namespace detail

inline constexpr std::array knobs_of_devices{
    knob_of_devices{knob::threads, "num-threads", knob_values::count, "host threads of each process, altogether",
                    &detail::tell<&space::settings::threads>},
    knob_of_devices{knob::numa_regions, "numa-regions", knob_values::count,
                    "NUMA regions that those threads are divided over", &detail::tell<&space::settings::numa_regions>},
    knob_of_devices{knob::device_instance, "device-instance", knob_values::index,
                    "index of the accelerator, among those visible to the process",
                    &detail::tell<&space::settings::device_instance>},
    knob_of_devices{knob::stack_size, "stack-size", knob_values::size, "stack of each thread that oneTBB starts",
                    &detail::tell<&space::settings::stack_size>},
    knob_of_devices{knob::huge_pages, "hugepages", knob_values::yes_no,
                    "ask for huge pages for arrays from 2M on in keel's host memories, such as pool and numa",
                    &detail::tell<&space::settings::huge_pages>},
};
inline constexpr std::size_t device_knob_count = knobs_of_devices.size();

/// Which of `knobs_of_devices` it is; their number for a knob of the program.
[[nodiscard]] constexpr std::size_t row_of(knob id) {
  std::size_t at = 0;
  while (at < device_knob_count && knobs_of_devices[at].id != id) ++at;
  return at;
}

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
