// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What can be set for a device before it starts: a row for each knob. Depends only on the standard library.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace keel::space {

/// A value of a device that a user sets at run time; each has a row in `knobs`.
enum class knob {
  threads,         ///< host threads of this process, altogether
  numa_regions,    ///< NUMA regions that those threads are divided over
  device_instance, ///< index of the accelerator among those visible to this process
  stack_size,      ///< bytes of the stack of each thread that the device starts
  huge_pages,      ///< whether arrays in keel's host memories ask for huge pages
};

/// What is wanted of a device; if no value is set, it is empty and the device decides.
struct settings {
  std::optional<int> threads = {};             ///< in total, over all NUMA regions
  std::optional<int> numa_regions = {};        ///< if this Kokkos has such a knob
  std::optional<int> device_instance = {};     ///< counted among the visible ones
  std::optional<std::int64_t> stack_size = {}; ///< bytes of the stack of each thread that the device starts
  std::optional<bool> huge_pages = {};         ///< whether keel's host memories ask for huge pages

  friend constexpr bool operator==(settings const&, settings const&) = default;
};

/// The values that a device takes of one setting; more than `advised` only with a warning.
struct bounds {
  std::int64_t least = 0, most = 0, advised = most;
};

/// A knob that a device has, by the name of its option, and the values that it takes.
struct own_knob {
  std::string_view option;
  bounds (*values)();
};

/// What values of a knob look like.
enum class knob_values { count, index, size, yes_no };

/// A knob of devices. Which of them have it, their `keel::device_traits` say.
struct knob_row {
  knob id;
  std::string_view option; ///< after `--keel-`; the variable is the same in capitals
  knob_values values;
  std::string_view help;
  std::optional<std::int64_t> (*get)(settings const& from);
  void (*set)(settings& to, std::int64_t value);
};

namespace detail {
template <auto Member>
constexpr knob_row row(knob id, std::string_view option, knob_values values, std::string_view help) {
  return {id,
          option,
          values,
          help,
          [](settings const& from) -> std::optional<std::int64_t> { return from.*Member; },
          [](settings& to, std::int64_t value) {
            to.*Member = static_cast<typename std::remove_cvref_t<decltype(to.*Member)>::value_type>(value);
          }};
}
} // namespace detail

/// A row for each knob, in the order of `knob`.
inline constexpr std::array knobs{
    detail::row<&settings::threads>(knob::threads, "num-threads", knob_values::count,
                                    "host threads of each process, altogether"),
    detail::row<&settings::numa_regions>(knob::numa_regions, "numa-regions", knob_values::count,
                                         "NUMA regions that those threads are divided over"),
    detail::row<&settings::device_instance>(knob::device_instance, "device-instance", knob_values::index,
                                            "index of the accelerator, among those visible to the process"),
    detail::row<&settings::stack_size>(knob::stack_size, "stack-size", knob_values::size,
                                       "stack of each thread that oneTBB starts"),
    detail::row<&settings::huge_pages>(
        knob::huge_pages, "hugepages", knob_values::yes_no,
        "ask for huge pages for arrays from 2M on in keel's host memories, such as pool and numa"),
};

/// Takes over from `other` what is set there.
constexpr void merge(settings& into, settings const& other) {
  for (knob_row const& row : knobs)
    if (auto const value = row.get(other)) row.set(into, *value);
}

} // namespace keel::space
