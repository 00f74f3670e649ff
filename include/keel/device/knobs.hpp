// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What can be set at run time, where a value can come from, and what setting one can answer.

#include <array>
#include <cstddef>
#include <string_view>

namespace keel::device {

/// A value that a user sets at run time. The first three belong to a device, the rest to the program.
enum class knob {
  threads,             ///< host threads of this process, altogether
  numa_regions,        ///< NUMA regions that those threads are divided over
  device_instance,     ///< index of the accelerator among those visible to this process
  num_devices,         ///< how many accelerators of a node may be used
  device,              ///< name of the device that `on_device` means
  map_device_by,       ///< how ranks of a node share its accelerators: nearest, rank, none
  topology_cache,      ///< a folder in which the node is kept from one start to the next
  log_level,           ///< what is said on standard error: silent, error, warning, information
  copy_back_every,     ///< steps from one copying back for output that declares nothing to the next, or never
  copy_back_vars,      ///< variables and groups that are copied back
  copy_back_all_levels,          ///< whether their past levels are, too
  copy_back_written_in_analysis, ///< whether what an analysis wrote is
  only_reads_current_level,      ///< of routines that name no levels
  only_writes_current_level,     ///< the same
  verbose,             ///< whether copying back is told
  veryverbose,         ///< and every routine that waited for copies
  trace_file,          ///< where the tracking policy `traced` writes
  print_configuration, ///< whether every knob is printed at the start
  help,                ///< whether the options are printed at the start
};

/// Who set a value; a later one beats an earlier one, but for `code`, which is the
/// weakest before the start and the strongest after it.
enum class source { unset, code, environment, command_line };

/// What became of setting a knob.
enum class outcome {
  success,
  out_of_bounds,      ///< a possible number, but more than there is here; nothing changed
  invalid_for_device, ///< the device has no such knob; nothing changed
  invalid_value,      ///< never possible (zero threads, a negative index); nothing changed
  not_applied,        ///< too late: Kokkos runs already; nothing changed, said once on standard error
};

/// What a knob's value looks like on the command line and in the environment.
enum class value_kind {
  count, ///< a whole number from 1 on
  index, ///< a whole number from 0 on
  word,  ///< a name
  period, ///< a whole number from 1 on, or never
  names, ///< names with blanks or commas between them, perhaps none
  answer, ///< yes or no, in the words of a flag in the environment
  flag,  ///< present or not; in the environment 1, true, on, yes or 0, false, off, no
};

/// One row of the table of knobs.
struct knob_facts {
  knob id;
  std::string_view option;      ///< after `--keel-`
  std::string_view variable;    ///< after `KEEL_`
  value_kind kind;
  std::string_view placeholder; ///< for the value, in the help
  std::string_view help;
};

/// Every knob there is, in the order in which they are printed. `all_knobs[i].id` is `knob(i)`.
inline constexpr std::array<knob_facts, 19> all_knobs{{
    {knob::threads, "num-threads", "NUM_THREADS", value_kind::count, "N",
     "host threads of each process, altogether"},
    {knob::numa_regions, "numa-regions", "NUMA_REGIONS", value_kind::count, "N",
     "NUMA regions that those threads are divided over"},
    {knob::device_instance, "device-instance", "DEVICE_INSTANCE", value_kind::index, "I",
     "index of the accelerator, among those visible to the process"},
    {knob::num_devices, "num-devices", "NUM_DEVICES", value_kind::count, "N",
     "accelerators of each node that may be used"},
    {knob::device, "device", "DEVICE", value_kind::word, "NAME", "device that routines on_device run on"},
    {knob::map_device_by, "map-device-by", "MAP_DEVICE_BY", value_kind::word, "HOW",
     "how the ranks of a node share its accelerators: nearest, rank or none"},
    {knob::topology_cache, "topology-cache", "TOPOLOGY_CACHE", value_kind::word, "FOLDER",
     "keep what the node is made of in this folder, which only you may write, for faster starts"},
    {knob::log_level, "log-level", "LOG_LEVEL", value_kind::word, "LEVEL",
     "what is said on standard error: silent, error, warning or information"},
    {knob::copy_back_every, "copy-back-every", "COPY_BACK_EVERY", value_kind::period, "N",
     "for output that declares nothing: copy to the host every N steps, or never"},
    {knob::copy_back_vars, "copy-back-vars", "COPY_BACK_VARS", value_kind::names, "NAMES",
     "variables and groups that are copied for it; empty is none, all is all"},
    {knob::copy_back_all_levels, "copy-back-all-levels", "COPY_BACK_ALL_LEVELS", value_kind::answer, "yes|no",
     "copy their past levels, too"},
    {knob::copy_back_written_in_analysis, "copy-back-written-in-analysis", "COPY_BACK_WRITTEN_IN_ANALYSIS",
     value_kind::answer, "yes|no", "copy what the routines of an analysis wrote"},
    {knob::only_reads_current_level, "only-reads-current-level", "ONLY_READS_CURRENT_LEVEL", value_kind::answer, "yes|no",
     "routines that name no levels read the current one alone"},
    {knob::only_writes_current_level, "only-writes-current-level", "ONLY_WRITES_CURRENT_LEVEL", value_kind::answer, "yes|no",
     "routines that name no levels write the current one alone"},
    {knob::verbose, "verbose", "VERBOSE", value_kind::flag, "", "tell what is copied back for output"},
    {knob::veryverbose, "veryverbose", "VERYVERBOSE", value_kind::flag, "", "and what each routine had to wait for"},
    {knob::trace_file, "trace-file", "TRACE_FILE", value_kind::word, "NAME",
     "where a traced program writes its copies: NAME.RANK.jsonl"},
    {knob::print_configuration, "print-configuration", "PRINT_CONFIGURATION", value_kind::flag, "",
     "print every knob, its value and its source at the start"},
    {knob::help, "help", "HELP", value_kind::flag, "", "print this help"},
}};

[[nodiscard]] constexpr knob_facts const& facts(knob id) { return all_knobs[static_cast<std::size_t>(id)]; }

static_assert([] {
  for (std::size_t i = 0; i < all_knobs.size(); ++i)
    if (static_cast<std::size_t>(all_knobs[i].id) != i) return false;
  return true;
}(), "keel::device::all_knobs: a row is out of place (rows are found by index). Sort them like the enumeration?");

[[nodiscard]] constexpr std::string_view name(source s) {
  constexpr std::array<std::string_view, 4> names{"unset", "code", "environment", "command line"};
  return names[static_cast<std::size_t>(s)];
}

[[nodiscard]] constexpr std::string_view name(outcome o) {
  constexpr std::array<std::string_view, 5> names{"success", "out of bounds", "invalid for device",
                                                  "invalid value", "not applied"};
  return names[static_cast<std::size_t>(o)];
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
