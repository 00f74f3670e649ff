// SPDX-License-Identifier: MIT
#include <keel/impl/device/table.hpp>
#include <keel/impl/device/kinds.hpp>
#include <keel/policy/nearest.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace keel::device {

namespace detail {

/// A knob of the kind `Kind` whose value is the member `Place` of the program's settings or of a room's. If only that
/// room can tell whether it is right, `Origin` keeps for its message what it was written to.
template <auto const& Kind, auto Place, auto Origin = nullptr>
constexpr knob_facts of_program(std::string_view option, std::string_view help) {
  auto const store = [](program_settings& into, assignment const& a) {
    into.set(Place, Kind.parse(a.where, a.text), a.from);
    if constexpr (Origin != nullptr) into.residency.*Origin = a.where;
  };
  auto const show = [](program_settings const& all) { return Kind.show(all.of(Place)); };
  auto const source = [](program_settings const& all) { return all.source(Place); };
  return {option, Kind.placeholder, help, {}, program_value{store, show, source}};
}
constexpr knob_facts alike(knob_facts row) {
  row.is_alike = true;
  return row;
}
constexpr knob_facts for_ledgers(knob_facts row) {
  row.for_ledgers = true;
  return row;
}

/// An older name of a level of the log, which also says what residency tells.
template <log_level Level>
constexpr knob_facts of_level(std::string_view option, std::string_view help) {
  auto const store = [](program_settings& into, assignment const& a) {
    if (parse_flag(a.where, a.text)) into.set(&program_settings::log_level, Level, a.from);
  };
  auto const show = [](program_settings const& all) { return kinds::flag.show(all.log_level >= Level); };
  auto const source = [](program_settings const& all) { return all.source(&program_settings::log_level); };
  knob_facts row{option, "", help, {}, program_value{store, show, source}};
  row.is_printed = false;
  return row;
}

template <auto const& Kind>
constexpr knob_facts of_device(space::knob_row const& row) {
  return {row.option, Kind.placeholder, row.help,
          device_value{row.id, Kind.parse, [](std::int64_t value) { return Kind.show(value); }}};
}
constexpr knob_facts facts_of_row(space::knob_row const& row) {
  switch (row.values) {
  case space::knob_values::count: return of_device<kinds::number<1>>(row);
  case space::knob_values::index: return of_device<kinds::number<0>>(row);
  case space::knob_values::size: return of_device<kinds::size>(row);
  default: return of_device<kinds::switched>(row);
  }
}

// A row for each knob of the program.
inline constexpr auto rows_of_program = [] {
  using namespace kinds;
  using rooms = residency::settings;
  using own = program_settings;
  return std::array{
      of_program<limit, &own::num_devices>("num-devices", "accelerators of each node that may be used"),
      of_program<name_of<a_device>, &own::device>("device", "device that routines on_device run on"),
      of_program<word<device_mapping, device_mapping_words>, &own::map_device_by>(
          "map-device-by", "how the ranks of a node share its accelerators: nearest, rank or none"),
      of_program<bind, &own::bind>(
          "bind", "none, or place: bind each rank's threads and memory to its place on the node; with smt=N, gpu, "
                  "greedy=no after commas"),
      of_program<level, &own::log_level>(
          "log-level",
          "what is said on standard error: off, error, warning, information (also what is copied back for output), "
          "details (also what each routine waits for)"),
      of_level<log_level::information>("verbose", "the same as log-level=information"),
      of_level<log_level::details>("veryverbose", "the same as log-level=details"),
      of_program<period, &rooms::copy_back_every>(
          "copy-back-every", "for output that declares nothing: copy to the host every N steps, or never"),
      of_program<names, &rooms::copy_back_vars, &rooms::copy_back_vars_name>(
          "copy-back-vars", "variables and groups that are copied for it; none, or all"),
      of_program<yes_no, &rooms::copy_back_all_levels>("copy-back-all-levels", "copy their past levels, too"),
      of_program<yes_no, &rooms::copy_back_written_in_analysis>("copy-back-written-in-analysis",
                                                                "copy what the routines of an analysis wrote"),
      for_ledgers(of_program<yes_no, &rooms::only_reads_current_level>(
          "only-reads-current-level", "routines of a ledger that name no levels read the current one alone")),
      for_ledgers(of_program<yes_no, &rooms::only_writes_current_level>(
          "only-writes-current-level", "routines of a ledger that name no levels write the current one alone")),
      of_program<name_of<a_file>, &rooms::trace_file>("trace-file",
                                                      "where a traced program writes its copies: NAME.RANK.jsonl"),
      alike(of_program<name_of<a_tracking>, &rooms::tracking, &rooms::tracking_name>(
          "tracking", "how data are tracked, of what the program lists: off, automatic, checked or traced")),
      alike(of_program<name_of<a_transport>, &rooms::exchange_through, &rooms::exchange_through_name>(
          "exchange-through",
          "how messages of exchanges go to other ranks: staged, direct, peer or nccl; measured: the fastest at the start")),
      alike(of_program<yes_no, &rooms::exchange_together>(
          "exchange-together", "all variables of an exchange in one message to each rank; no: a message for each")),
      of_program<yes_no_measured, &rooms::graphs>("graphs",
                                                  "record what a graph of a schedule launches, and launch it at once; "
                                                  "no: its kernels one by one; measured: whichever is faster"),
      alike(of_program<name_of<a_file>, &rooms::restart>("restart",
                                                         "go on from the checkpoint NAME before the first step")),
      alike(of_program<period, &rooms::checkpoint_every>(
          "checkpoint-every", "write a checkpoint every N steps, whatever the program says")),
      alike(of_program<duration, &rooms::checkpoint_before_end>(
          "checkpoint-before-end",
          "write one so long before the job ends, as 5m, if Slurm says when (SLURM_JOB_END_TIME)")),
      of_program<name_of<a_file>, &own::config>(
          "config", "a file of knobs, one `num-threads = 4` a line, below a [tbb] for one device"),
      of_program<flag, &own::strict>(
          "strict",
          "refuse what has no effect: unknown variables, options with another prefix, knobs that no device has"),
      of_program<period, &own::end_timeout>(
          "end-timeout", "end the job if a rank waits at its end for the others longer than N seconds, or never"),
      of_program<form, &own::print_configuration>("print-configuration",
                                                  "print every knob, its value and its source at the start"),
      alike(of_program<flag, &own::help>("help", "print this help")),
  };
}();

inline constexpr auto rows = [] {
  std::array<knob_facts, space::knobs.size() + rows_of_program.size()> all{};
  auto const rest = std::transform(space::knobs.begin(), space::knobs.end(), all.begin(), facts_of_row);
  std::copy(rows_of_program.begin(), rows_of_program.end(), rest);
  return all;
}();

} // namespace detail

KEEL_INLINE constexpr std::span<knob_facts const> all_knobs = detail::rows;

KEEL_INLINE std::string in_capitals(std::string_view text) {
  std::string name;
  for (char c : text) name += c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c == '-' ? '_' : c;
  return name;
}
KEEL_INLINE std::string option_prefix(std::string_view prefix) { return "--" + std::string{prefix} + "-"; }
KEEL_INLINE std::string variable_prefix(std::string_view prefix) { return in_capitals(prefix) + "_"; }
KEEL_INLINE std::string variable_name(std::string_view prefix, std::string_view option) {
  return variable_prefix(prefix) + in_capitals(option);
}

KEEL_INLINE knob_facts const& facts(std::string_view option) {
  return *std::find_if(all_knobs.begin(), all_knobs.end(), [&](auto const& row) { return row.option == option; });
}

KEEL_INLINE std::string alike_knobs(program_settings const& program) {
  std::string all;
  for (knob_facts const& row : all_knobs)
    if (row.is_alike) all.append(row.option).append(1, '=').append(row.of_program->show(program)).append(1, '\0');
  return all;
}

KEEL_INLINE std::optional<named_knob> find_knob(std::string_view written, option_names const& names, bool is_variable) {
  auto const is = [&](std::string_view text, std::string_view name) {
    return text.size() == name.size() && text == (is_variable ? in_capitals(name) : std::string{name});
  };
  for (auto const& row : all_knobs) {
    if (is(written, row.option)) return named_knob{&row};
    if (!row.of_device || written.size() < row.option.size() + 2) continue;
    auto const cut = written.size() - row.option.size();
    if (!is(written.substr(cut), row.option) || written[cut - 1] != (is_variable ? '_' : '-')) continue;
    for (auto const all : {names.devices, std::span<std::string_view const>{known_devices}})
      for (auto const device : all)
        if (is(written.substr(0, cut - 1), device)) return named_knob{&row, device};
  }
  return std::nullopt;
}

KEEL_INLINE std::string_view nearest_option(std::string_view written) {
  return policy::nearest(written, all_knobs, [](auto const& row) { return row.option; });
}

KEEL_INLINE std::string meant_variable(option_names const& names, std::string const& written) {
  std::vector<std::string> known;
  for (auto const& row : all_knobs) {
    known.push_back(variable_name(names.prefix, row.option));
    if (!row.of_device) continue;
    for (auto const device : names.devices)
      known.push_back(variable_name(names.prefix, std::string{device} + "-" + std::string{row.option}));
  }
  std::string const meant{policy::nearest(written, known)};
  std::size_t const letters = written.size() - std::min(written.size(), names.prefix.size() + 1);
  std::size_t const near = names.prefix == "keel" ? std::min(std::size_t{4}, (letters + 1) / 2) : 2;
  return policy::edit_distance(written, meant) <= near ? meant : std::string{};
}

} // namespace keel::device
