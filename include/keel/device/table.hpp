// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The table of knobs: one row says all that there is to say of a knob. A new one takes a row here, a setting of the
/// device that has it, and a test.

#include <keel/device/bind.hpp>
#include <keel/device/kinds.hpp>
#include <keel/device/knobs.hpp>
#include <keel/policy/nearest.hpp>
#include <keel/policy/tags.hpp>
#include <keel/residency/settings.hpp>
#include <keel/space/settings.hpp>
#include <keel/topology/node.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keel::device {

/// A knob that devices have, each with a value of its own.
template <class Setting, class Bounds, class Running = std::nullptr_t>
struct device_row {
  knob id;
  std::string_view option;                           ///< after `--keel-`; the variable is the same in capitals
  device::kind<std::int64_t> kind;
  std::string_view help;
  std::optional<Setting> space::settings::*place; ///< what the device is told
  Bounds bounds;             ///< called with the device's traits; those that it does not take lack the knob
  Running running = nullptr; ///< called with them once Kokkos runs; else what was set is taken to run
};
template <class S, class B, class R = std::nullptr_t>
device_row(knob, std::string_view, kind<std::int64_t>, std::string_view, std::optional<S> space::settings::*, B,
           R = nullptr) -> device_row<S, B, R>;

/// Names the traits of a device for `bounds` and `running`.
template <class Traits>
using of = std::type_identity<Traits>;

// The bounds of each knob, for the devices that have it. Types, because nvcc drops the constraint of a lambda.
namespace impl {
struct bounds_of_threads {
  template <class T>
    requires(T::has_threads)
  space::bounds operator()(of<T>) const {
    std::int64_t const here = T::max_threads();
    if constexpr (requires { T::most_threads(); }) return space::bounds{1, T::most_threads(), here};
    else return space::bounds{1, here};
  }
};
struct bounds_of_numa_regions {
  template <class T>
    requires(T::has_numa_regions)
  space::bounds operator()(of<T>) const { return space::bounds{1, T::max_numa_regions()}; }
};
struct bounds_of_instances {
  template <class T>
    requires(T::has_instances)
  space::bounds operator()(of<T>) const { return space::bounds{0, T::max_devices() - 1}; }
};
struct bounds_of_stack_size {
  template <class T>
    requires requires { T::stack_sizes(); }
  space::bounds operator()(of<T>) const { return space::bounds{T::stack_sizes()}; }
};
} // namespace impl

inline constexpr std::tuple device_rows{
    device_row{knob::threads, "num-threads", kinds::count, "host threads of each process, altogether",
               &space::settings::threads, impl::bounds_of_threads{},
               []<class T>(of<T>) -> std::optional<std::int64_t> { return T::threads(); }},
    device_row{knob::numa_regions, "numa-regions", kinds::count, "NUMA regions that those threads are divided over",
               &space::settings::numa_regions, impl::bounds_of_numa_regions{}},
    device_row{knob::device_instance, "device-instance", kinds::index,
               "index of the accelerator, among those visible to the process", &space::settings::device_instance,
               impl::bounds_of_instances{},
               []<class T>(of<T>) -> std::optional<std::int64_t> {
                 return T::max_devices() > 0 ? std::optional<std::int64_t>{T::device_instance()} : std::nullopt;
               }},
    device_row{knob::stack_size, "stack-size", kinds::size, "stack of each thread that oneTBB starts",
               &space::settings::stack_size, impl::bounds_of_stack_size{}},
};

/// Whether the device `Tag` has the knob of a row.
template <class Row, class Tag>
concept KnobOf = requires(Row const& row) { row.bounds(of<device_traits<Tag>>{}); };

/// The values of the knobs that belong to the program and to none of its devices, as keel proposes them.
struct program_settings {
  std::string device;
  std::optional<int> num_devices;
  device_mapping map_device_by = device_mapping::nearest;
  bind_rule bind;
  std::string topology_cache, config;
  device::log_level log_level = log_level::warning;
  residency::settings residency;
  std::optional<int> end_timeout;
  print_form print_configuration = print_form::off;
  bool strict = false, help = false;

  [[nodiscard]] device::source source(knob id) const { return sources[static_cast<std::size_t>(id)]; }
  [[nodiscard]] bool is_set(knob id) const { return source(id) != device::source::unset; }
  void set_source(knob id, device::source from) { sources[static_cast<std::size_t>(id)] = from; }

private:
  std::array<device::source, knob_count> sources{};
};

/// One that the program has: its value is a member of `Owner`, which is `program_settings` or a part of it.
template <class Value, class Owner>
struct program_row {
  knob id;
  std::string_view option;
  device::kind<Value> kind;
  std::string_view help;
  Value Owner::*place;
  bool for_ledgers = false; ///< only a program whose policy says `uses_ledger` has it

  [[nodiscard]] auto& value_in(auto& program) const {
    if constexpr (std::is_same_v<Owner, program_settings>) return program.*place;
    else return program.residency.*place;
  }
};
template <class V, class O>
program_row(knob, std::string_view, kind<V>, std::string_view, V O::*, bool = false) -> program_row<V, O>;

/// A folder that a node can be kept in.
inline constexpr kind<std::string> cache_folder{
    "FOLDER", [](origin const& where, std::string_view text) {
      if (auto const why = topology::node::why_not_kept_in(std::string{text}); !why.empty())
        throw error("device", where + "='" + std::string{text} + "' cannot keep the node", why,
                    "Name a folder that only you may write");
      return std::string{text};
    },
    [](std::string const& folder) { return folder.empty() ? std::string{"off"} : folder; }};

inline constexpr std::tuple program_rows{
    program_row{knob::num_devices, "num-devices", kinds::limit, "accelerators of each node that may be used",
                &program_settings::num_devices},
    program_row{knob::device, "device", kinds::device, "device that routines on_device run on",
                &program_settings::device},
    program_row{knob::map_device_by, "map-device-by", kinds::word<device_mapping, device_mapping_words>,
                "how the ranks of a node share its accelerators: nearest, rank or none",
                &program_settings::map_device_by},
    program_row{knob::bind, "bind", kinds::bind,
                "none, or place: bind each rank's threads and memory to its place on the node; with smt=N, gpu, "
                "greedy=no behind commas", &program_settings::bind},
    program_row{knob::topology_cache, "topology-cache", cache_folder,
                "keep what the node is made of in this folder, which only you may write, for faster starts",
                &program_settings::topology_cache},
    program_row{knob::log_level, "log-level", kinds::level,
                "what is said on standard error: off, error, warning, information (also what is copied back for output), "
                "details (also what each routine waits for)", &program_settings::log_level},
    program_row{knob::copy_back_every, "copy-back-every", kinds::period,
                "for output that declares nothing: copy to the host every N steps, or never",
                &residency::settings::copy_back_every},
    program_row{knob::copy_back_vars, "copy-back-vars", kinds::names,
                "variables and groups that are copied for it; empty is none, all is all",
                &residency::settings::copy_back_vars},
    program_row{knob::copy_back_all_levels, "copy-back-all-levels", kinds::answer, "copy their past levels, too",
                &residency::settings::copy_back_all_levels},
    program_row{knob::copy_back_written_in_analysis, "copy-back-written-in-analysis", kinds::answer,
                "copy what the routines of an analysis wrote", &residency::settings::copy_back_written_in_analysis},
    program_row{knob::only_reads_current_level, "only-reads-current-level", kinds::answer,
                "routines of a ledger that name no levels read the current one alone",
                &residency::settings::only_reads_current_level, true},
    program_row{knob::only_writes_current_level, "only-writes-current-level", kinds::answer,
                "routines of a ledger that name no levels write the current one alone",
                &residency::settings::only_writes_current_level, true},
    program_row{knob::trace_file, "trace-file", kinds::file,
                "where a traced program writes its copies: NAME.RANK.jsonl", &residency::settings::trace_file},
    program_row{knob::config, "config", kinds::file,
                "a file of knobs, one `num-threads = 4` a line, below a [tbb] for one device",
                &program_settings::config},
    program_row{knob::strict, "strict", kinds::flag,
                "refuse what has no effect: unknown variables, options with another prefix, knobs that no device has",
                &program_settings::strict},
    program_row{knob::end_timeout, "end-timeout", kinds::period,
                "end the job if a rank waits at its end for the others longer than N seconds, or never",
                &program_settings::end_timeout},
    program_row{knob::print_configuration, "print-configuration", kinds::form,
                "print every knob, its value and its source at the start", &program_settings::print_configuration},
    program_row{knob::help, "help", kinds::flag, "print this help", &program_settings::help},
};

/// Calls `f(row)` for each row of a part of the table, in order.
template <class F>
constexpr void for_each_device_row(F&& f) {
  std::apply([&](auto const&... row) { (static_cast<void>(f(row)), ...); }, device_rows);
}
template <class F>
constexpr void for_each_program_row(F&& f) {
  std::apply([&](auto const&... row) { (static_cast<void>(f(row)), ...); }, program_rows);
}

/// What reading options needs of a row.
struct knob_facts {
  knob id;
  std::string_view option, placeholder, help;
  bool of_devices, is_switch, for_ledgers;
};

/// Every knob there is, in the order in which they are printed. `all_knobs[i].id` is `knob(i)`.
inline constexpr std::array<knob_facts, knob_count> all_knobs = [] {
  std::array<knob_facts, knob_count> all{};
  std::size_t at = 0;
  for_each_device_row([&](auto const& r) {
    all.at(at++) = {r.id, r.option, r.kind.placeholder, r.help, true, false, false};
  });
  for_each_program_row([&](auto const& r) {
    auto const shown = r.kind.placeholder;
    all.at(at++) = {r.id, r.option, shown, r.help, false, shown.empty() || shown.front() == '[', r.for_ledgers};
  });
  return all;
}();

[[nodiscard]] constexpr knob_facts const& facts(knob id) { return all_knobs[static_cast<std::size_t>(id)]; }

static_assert([] {
  for (std::size_t i = 0; i < all_knobs.size(); ++i)
    if (static_cast<std::size_t>(all_knobs[i].id) != i) return false;
  return std::tuple_size_v<decltype(device_rows)> + std::tuple_size_v<decltype(program_rows)> == knob_count;
}(), "keel::device: a row of the table of knobs is missing or out of place (rows are found by index). Sort them like "
     "the enumeration?");

/// Switches that are a level of the log under another name.
struct old_spelling {
  std::string_view option;
  log_level level;
  bool residency::settings::*told; ///< what residency tells from this level on
};
inline constexpr std::array<old_spelling, 2> old_spellings{
    {{"verbose", log_level::information, &residency::settings::verbose},
     {"veryverbose", log_level::details, &residency::settings::veryverbose}}};

/// The option nearest to `written`, both without dashes and prefix.
[[nodiscard]] inline std::string_view nearest_option(std::string_view written) {
  return policy::nearest(written, all_knobs, [](auto const& k) { return k.option; });
}

} // namespace keel::device
