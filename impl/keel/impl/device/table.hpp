// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The rows of the table of knobs. A new knob takes a name in `enum class knob`, a row here, and a test; one of devices
/// a place in `space::settings`, which `merge` takes over, and its bounds in `knobs_of_device`,
/// keel/device/facts_of.hpp, too.

#include <keel/device/table.hpp>
#include <keel/impl/device/kinds.hpp>
#include <keel/policy/nearest.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace keel::device {

namespace detail {

/// A knob of the kind `Kind` whose value is the member `Place` of the program's settings or of residency's.
template <auto const& Kind, auto Place>
struct held_by_program {
  static auto& in(auto& all) {
    if constexpr (std::is_invocable_v<decltype(Place), program_settings&>) return all.*Place;
    else return all.residency.*Place;
  }
  static void parse(program_settings& into, origin const& where, std::string_view text) {
    in(into) = Kind.parse(where, text);
  }
  static std::string show(program_settings const& all) { return Kind.show(in(all)); }
  static void const* place(program_settings const& all) { return &in(all); }
};
template <auto const& Kind, auto Place>
constexpr knob_facts of_program(knob id, std::string_view option, std::string_view help, bool for_ledgers = false) {
  using held = held_by_program<Kind, Place>;
  return {id, option, Kind.placeholder, help, {}, program_value{held::parse, held::show, held::place}, for_ledgers};
}

/// A knob of the kind `Kind` of which a device is told as the member `Place`.
template <auto const& Kind, auto Place>
struct held_by_device {
  static std::string show(std::int64_t value) { return Kind.show(value); }
  static constexpr void tell(space::settings& to, std::int64_t value) {
    using number = typename std::remove_cvref_t<decltype(to.*Place)>::value_type;
    to.*Place = static_cast<number>(value);
  }
};
template <auto const& Kind, auto Place>
constexpr knob_facts of_device(knob id, std::string_view option, std::string_view help) {
  using held = held_by_device<Kind, Place>;
  return {id, option, Kind.placeholder, help, device_value{Kind.parse, held::show, held::tell}};
}

inline constexpr std::array<knob_facts, knob_count> rows{
    of_device<kinds::count, &space::settings::threads>(knob::threads, "num-threads",
                                                       "host threads of each process, altogether"),
    of_device<kinds::count, &space::settings::numa_regions>(knob::numa_regions, "numa-regions",
                                                            "NUMA regions that those threads are divided over"),
    of_device<kinds::index, &space::settings::device_instance>(
        knob::device_instance, "device-instance", "index of the accelerator, among those visible to the process"),
    of_device<kinds::size, &space::settings::stack_size>(knob::stack_size, "stack-size",
                                                         "stack of each thread that oneTBB starts"),
    of_program<kinds::limit, &program_settings::num_devices>(knob::num_devices, "num-devices",
                                                             "accelerators of each node that may be used"),
    of_program<kinds::device, &program_settings::device>(knob::device, "device",
                                                         "device that routines on_device run on"),
    of_program<kinds::mapping, &program_settings::map_device_by>(
        knob::map_device_by, "map-device-by", "how the ranks of a node share its accelerators: nearest, rank or none"),
    of_program<kinds::bind, &program_settings::bind>(
        knob::bind, "bind",
        "none, or place: bind each rank's threads and memory to its place on the node; with smt=N, gpu, "
        "greedy=no behind commas"),
    of_program<kinds::cache_folder, &program_settings::topology_cache>(
        knob::topology_cache, "topology-cache",
        "keep what the node is made of in this folder, which only you may write, for faster starts"),
    of_program<kinds::level, &program_settings::log_level>(
        knob::log_level, "log-level",
        "what is said on standard error: off, error, warning, information (also what is copied back for output), "
        "details (also what each routine waits for)"),
    of_program<kinds::period, &residency::settings::copy_back_every>(
        knob::copy_back_every, "copy-back-every",
        "for output that declares nothing: copy to the host every N steps, or never"),
    of_program<kinds::names, &residency::settings::copy_back_vars>(
        knob::copy_back_vars, "copy-back-vars", "variables and groups that are copied for it; none, or all"),
    of_program<kinds::yes_no, &residency::settings::copy_back_all_levels>(
        knob::copy_back_all_levels, "copy-back-all-levels", "copy their past levels, too"),
    of_program<kinds::yes_no, &residency::settings::copy_back_written_in_analysis>(
        knob::copy_back_written_in_analysis, "copy-back-written-in-analysis",
        "copy what the routines of an analysis wrote"),
    of_program<kinds::yes_no, &residency::settings::only_reads_current_level>(
        knob::only_reads_current_level, "only-reads-current-level",
        "routines of a ledger that name no levels read the current one alone", true),
    of_program<kinds::yes_no, &residency::settings::only_writes_current_level>(
        knob::only_writes_current_level, "only-writes-current-level",
        "routines of a ledger that name no levels write the current one alone", true),
    of_program<kinds::file, &residency::settings::trace_file>(
        knob::trace_file, "trace-file", "where a traced program writes its copies: NAME.RANK.jsonl"),
    of_program<kinds::file, &program_settings::config>(
        knob::config, "config", "a file of knobs, one `num-threads = 4` a line, below a [tbb] for one device; or JSON"),
    of_program<kinds::flag, &program_settings::strict>(
        knob::strict, "strict",
        "refuse what has no effect: unknown variables, options with another prefix, knobs that no device has"),
    of_program<kinds::period, &program_settings::end_timeout>(
        knob::end_timeout, "end-timeout",
        "end the job if a rank waits at its end for the others longer than N seconds, or never"),
    of_program<kinds::form, &program_settings::print_configuration>(
        knob::print_configuration, "print-configuration", "print every knob, its value and its source at the start"),
    of_program<kinds::flag, &program_settings::help>(knob::help, "help", "print this help"),
};

static_assert(
    [] {
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (std::size_t(rows[i].id) != i || rows[i].of_devices() != (i < device_knob_count)) return false;
      return true;
    }(),
    "keel::device: a row of the table of knobs is missing or out of place (rows are found by index). Sort them like "
    "the enumeration?");
static_assert(
    [] {
      for (auto const& row : rows) {
        if (!row.of_devices()) continue;
        space::settings told, merged;
        row.of_device->tell(told, 1);
        merge(merged, told);
        if (merged != told) return false;
      }
      return true;
    }(),
    "keel::device: keel::space::merge leaves out what a knob of devices tells (where devices share what Kokkos is "
    "told, it is lost). Add the member there?");

} // namespace detail

KEEL_INLINE constexpr std::array<knob_facts, knob_count> all_knobs = detail::rows;

KEEL_INLINE std::string_view nearest_option(std::string_view written) {
  return policy::nearest(written, all_knobs, [](auto const& k) { return k.option; });
}

} // namespace keel::device
