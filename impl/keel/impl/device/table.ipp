// SPDX-License-Identifier: MIT
#include <keel/impl/device/table.hpp>
#include <keel/impl/device/kinds.hpp>
#include <keel/policy/nearest.hpp>

#include <type_traits>

namespace keel::device {

namespace detail {

/// A knob of the kind `Kind` whose value is the member `Place` of the program's settings or of residency's. If only
/// residency can tell whether it is right, `Origin` keeps for its message what it was written to.
template <auto const& Kind, auto Place, auto Origin>
struct held_by_program {
  static auto& in(auto& all) {
    if constexpr (std::is_invocable_v<decltype(Place), program_settings&>) return all.*Place;
    else return all.residency.*Place;
  }
  static void parse(program_settings& into, origin const& where, std::string_view text) {
    in(into) = Kind.parse(where, text);
    if constexpr (Origin != nullptr) into.residency.*Origin = where;
  }
  static std::string show(program_settings const& all) { return Kind.show(in(all)); }
  static void const* place(program_settings const& all) { return &in(all); }
};
template <auto const& Kind, auto Place, auto Origin = nullptr>
constexpr knob_facts of_program(knob id, std::string_view option, std::string_view help, bool for_ledgers = false) {
  using held = held_by_program<Kind, Place, Origin>;
  return {id, option, Kind.placeholder, help, {}, program_value{held::parse, held::show, held::place}, for_ledgers};
}
constexpr knob_facts alike(knob_facts row) {
  row.is_alike = true;
  return row;
}

template <auto const& Kind>
constexpr knob_facts of_device(knob_of_devices const& row) {
  return {row.id, row.option, Kind.placeholder, row.help,
          device_value{Kind.parse, [](std::int64_t value) { return Kind.show(value); }, row.tell}};
}
constexpr knob_facts facts_of_row(knob_of_devices const& row) {
  switch (row.values) {
  case knob_values::count: return of_device<kinds::count>(row);
  case knob_values::index: return of_device<kinds::index>(row);
  case knob_values::size: return of_device<kinds::size>(row);
  default: return of_device<kinds::switched>(row);
  }
}

inline constexpr std::array rows_of_program{
    of_program<kinds::limit, &program_settings::num_devices>(knob::num_devices, "num-devices",
                                                             "accelerators of each node that may be used"),
    of_program<kinds::device, &program_settings::device>(knob::device, "device",
                                                         "device that routines on_device run on"),
    of_program<kinds::mapping, &program_settings::map_device_by>(
        knob::map_device_by, "map-device-by", "how the ranks of a node share its accelerators: nearest, rank or none"),
    of_program<kinds::bind, &program_settings::bind>(
        knob::bind, "bind",
        "none, or place: bind each rank's threads and memory to its place on the node; with smt=N, gpu, "
        "greedy=no after commas"),
    of_program<kinds::level, &program_settings::log_level>(
        knob::log_level, "log-level",
        "what is said on standard error: off, error, warning, information (also what is copied back for output), "
        "details (also what each routine waits for)"),
    of_program<kinds::period, &residency::settings::copy_back_every>(
        knob::copy_back_every, "copy-back-every",
        "for output that declares nothing: copy to the host every N steps, or never"),
    of_program<kinds::names, &residency::settings::copy_back_vars, &residency::settings::copy_back_vars_name>(
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
    alike(of_program<kinds::tracking, &residency::settings::tracking, &residency::settings::tracking_name>(
        knob::tracking, "tracking",
        "how data are tracked, of what the program lists: off, automatic, checked or traced")),
    alike(of_program<kinds::transport, &residency::settings::exchange_through,
                     &residency::settings::exchange_through_name>(
        knob::exchange_through, "exchange-through",
        "how messages of exchanges go to other ranks: staged, direct, peer or nccl; measured: the fastest at the start")),
    alike(of_program<kinds::yes_no, &residency::settings::exchange_together>(
        knob::exchange_together, "exchange-together",
        "all variables of an exchange in one message to each rank; no: a message for each")),
    alike(of_program<kinds::file, &residency::settings::restart>(
        knob::restart, "restart", "go on from the checkpoint NAME before the first step")),
    alike(of_program<kinds::period, &residency::settings::checkpoint_every>(
        knob::checkpoint_every, "checkpoint-every", "write a checkpoint every N steps, whatever the program says")),
    alike(of_program<kinds::duration, &residency::settings::checkpoint_before_end>(
        knob::checkpoint_before_end, "checkpoint-before-end",
        "write one so long before the job ends, as 5m, if Slurm says when (SLURM_JOB_END_TIME)")),
    of_program<kinds::file, &program_settings::config>(
        knob::config, "config", "a file of knobs, one `num-threads = 4` a line, below a [tbb] for one device"),
    of_program<kinds::flag, &program_settings::strict>(
        knob::strict, "strict",
        "refuse what has no effect: unknown variables, options with another prefix, knobs that no device has"),
    of_program<kinds::period, &program_settings::end_timeout>(
        knob::end_timeout, "end-timeout",
        "end the job if a rank waits at its end for the others longer than N seconds, or never"),
    of_program<kinds::form, &program_settings::print_configuration>(
        knob::print_configuration, "print-configuration", "print every knob, its value and its source at the start"),
    alike(of_program<kinds::flag, &program_settings::help>(knob::help, "help", "print this help")),
};

inline constexpr auto rows = [] {
  static_assert(device_knob_count + rows_of_program.size() == knob_count, "keel::device: a knob has no row, or two. "
                                                                          "Give each knob one row.");
  std::array<knob_facts, knob_count> all{};
  auto const rest = std::transform(knobs_of_devices.begin(), knobs_of_devices.end(), all.begin(), facts_of_row);
  std::copy(rows_of_program.begin(), rows_of_program.end(), rest);
  return all;
}();

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
    "told, it is lost). Add the member there.");

} // namespace detail

KEEL_INLINE constexpr std::array<knob_facts, knob_count> all_knobs = detail::rows;

KEEL_INLINE std::string_view nearest_option(std::string_view written) {
  return policy::nearest(written, all_knobs, [](auto const& k) { return k.option; });
}

} // namespace keel::device
