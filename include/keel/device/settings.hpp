// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// All knobs of one program, those of its devices and its own, and how text becomes a value of them.

#include <keel/device/configuration.hpp>
#include <keel/device/knobs.hpp>
#include <keel/device/log.hpp>
#include <keel/device/parse.hpp>
#include <keel/device/read.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/tuple.hpp>
#include <keel/residency/settings.hpp>
#include <keel/space/defaults.hpp>
#include <keel/space/devices.hpp>
#include <keel/topology/node.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::device {

/// How the ranks of a node share its accelerators.
enum class device_mapping { nearest, rank, none };
/// The same as a user writes and reads them.
inline constexpr std::array<std::string_view, 3> device_mapping_words{"nearest", "rank", "none"};

/// The knobs of residency that are answered with yes or no, and where their values are kept.
inline constexpr std::array<std::pair<knob, bool residency::settings::*>, 6> residency_answers{{
    {knob::copy_back_all_levels, &residency::settings::copy_back_all_levels},
    {knob::copy_back_written_in_analysis, &residency::settings::copy_back_written_in_analysis},
    {knob::only_reads_current_level, &residency::settings::only_reads_current_level},
    {knob::only_writes_current_level, &residency::settings::only_writes_current_level},
    {knob::verbose, &residency::settings::verbose},
    {knob::veryverbose, &residency::settings::veryverbose},
}};
/// The knob that sets a member of `residency::settings`.
[[nodiscard]] constexpr knob knob_of(std::optional<int> residency::settings::*) { return knob::copy_back_every; }
[[nodiscard]] constexpr knob knob_of(std::string residency::settings::* member) {
  return member == &residency::settings::trace_file ? knob::trace_file : knob::copy_back_vars;
}
[[nodiscard]] constexpr knob knob_of(bool residency::settings::* member) {
  for (auto const& [id, kept] : residency_answers)
    if (kept == member) return id;
  return knob::help;
}

/// The knobs that belong to the program and to none of its devices.
struct program_settings {
  setting<std::string> device;
  setting<std::optional<int>> num_devices;
  setting<device_mapping> map_device_by{device_mapping::nearest};
  setting<std::string> topology_cache;
  setting<device::log_level> log_level{log_level::warning};
  residency::settings residency;
  std::array<device::source, 9> residency_sources{};
  setting<bool> print_configuration;
  setting<bool> help;

  template <class T>
  void set(T residency::settings::* member, std::type_identity_t<T> value, device::source from) {
    residency.*member = std::move(value);
    residency_sources[place_of(knob_of(member))] = from;
  }

  [[nodiscard]] device::source source(knob id) const {
    switch (id) {
    case knob::device: return device.from;
    case knob::num_devices: return num_devices.from;
    case knob::map_device_by: return map_device_by.from;
    case knob::topology_cache: return topology_cache.from;
    case knob::log_level: return log_level.from;
    case knob::print_configuration: return print_configuration.from;
    case knob::help: return help.from;
    default: // of residency, or of a device
      return place_of(id) < residency_sources.size() ? residency_sources[place_of(id)] : device::source::unset;
    }
  }

private:
  static constexpr std::size_t place_of(knob id) {
    return static_cast<std::size_t>(id) - static_cast<std::size_t>(knob::copy_back_every);
  }
};

/// A Hana tuple with one configuration for each device of `Devices`, and the program's own knobs.
template <class Devices>
class settings {
public:
  using devices = policy::to_list<Devices>;

  program_settings program;

  template <class Tag>
  [[nodiscard]] configuration<Tag>& of() { return slots_.template get<Tag>().value; }
  template <class Tag>
  [[nodiscard]] configuration<Tag> const& of() const { return slots_.template get<Tag>().value; }

  /// Takes over every value that `other` was given.
  void take(settings const& other) {
    for_each_device<devices>([&]<class Tag>(Tag) {
      for (knob id : {knob::threads, knob::numa_regions, knob::device_instance})
        configuration<Tag>::visit(other.of<Tag>(), id, [&](auto& held) {
          if (held.is_set()) of<Tag>().assign(id, *held.value, held.from);
        });
    });
    program = other.program;
  }

  /// Parses one assignment and applies it to every device that has the knob. A value that is malformed,
  /// or that no device here can take, is an error; a knob that no device of the list has is noted.
  void apply(assignment const& a) {
    for (auto const& [id, member] : residency_answers)
      if (id == a.id) return program.set(member, parse_flag(a.where, a.text), a.from);
    switch (a.id) {
    case knob::threads:
    case knob::numa_regions:
    case knob::device_instance: return apply_to_devices(a);
    case knob::device:
      if (a.text.empty()) throw error("device", a.where + " is empty", "it names a device", "Take one of " + policy::names<devices>());
      return program.device.set(a.text, a.from);
    case knob::num_devices: return program.num_devices.set(parse_number(a.where, a.text, 1), a.from);
    case knob::map_device_by:
      return program.map_device_by.set(device_mapping{parse_word(a.where, a.text, device_mapping_words)}, a.from);
    case knob::topology_cache:
      if (auto const why = topology::node::why_not_kept_in(a.text); !why.empty())
        throw error("device", a.where + "='" + a.text + "' cannot keep the node", why, "Name a folder that only you may write");
      return program.topology_cache.set(a.text, a.from);
    case knob::log_level:
      return program.log_level.set(device::log_level{parse_word(a.where, a.text, log_level_words)}, a.from);
    case knob::copy_back_every:
      return program.set(&residency::settings::copy_back_every, parse_period(a.where, a.text), a.from);
    case knob::copy_back_vars: return program.set(&residency::settings::copy_back_vars, a.text, a.from);
    case knob::trace_file:
      if (a.text.empty()) throw error("device", a.where + " is empty", "it names a file", "Write " + a.where + "=my-trace");
      return program.set(&residency::settings::trace_file, a.text, a.from);
    case knob::print_configuration: return program.print_configuration.set(parse_flag(a.where, a.text), a.from);
    case knob::help: return program.help.set(parse_flag(a.where, a.text), a.from);
    default: return; // an answer of residency's
    }
  }

  /// Where somebody set a knob that no device of this program has: the names as written.
  [[nodiscard]] std::vector<std::string> const& without_effect() const { return without_effect_; }

private:
  void apply_to_devices(assignment const& a) {
    int const value = parse_number(a.where, a.text, facts(a.id).kind == value_kind::count ? 1 : 0);
    bool somebody_has_it = false;
    for_each_device<devices>([&]<class Tag>(Tag) {
      auto const result = of<Tag>().assign(a.id, value, a.from);
      if (result == outcome::out_of_bounds)
        throw error("device", a.where + "=" + a.text + " is more than " + std::string{Tag::name} + " has",
                    "the largest value here is " + std::to_string(configuration<Tag>::bound(a.id)), "Give less");
      somebody_has_it = somebody_has_it || result != outcome::invalid_for_device;
    });
    if (!somebody_has_it) without_effect_.push_back(a.where);
  }

  policy::tuple_of<devices, slot> slots_;
  std::vector<std::string> without_effect_;
};

namespace detail {

template <class Space, class... Tags>
consteval bool has_space(list<Tags...>) {
  return (std::same_as<typename device_traits<Tags>::execution_space, Space> || ...);
}

/// Of a device that the policy names as its default, above all others.
template <class Tag, class Default>
inline constexpr int preference = device_traits<Tag>::preference;
template <class Tag, class Default>
  requires(std::same_as<typename device_traits<Tag>::execution_space, Default> &&
           !std::same_as<Default, space::detail::preferred_space>)
inline constexpr int preference<Tag, Default> = std::numeric_limits<int>::max();

} // namespace detail

/// The default execution space of an application where a device of the list has it; else `void`.
template <class Devices, class App>
using default_in = std::conditional_t<detail::has_space<typename App::default_execution_space>(Devices{}),
                                      typename App::default_execution_space, void>;

/// The name of the device that routines `on_device` run on: the one that was asked for, else of those that are
/// available the one whose space is `Default`, unless keel itself prefers that, else the one with the highest preference. Refuses, by name, a device that this program was not
/// written for, that this build lacks, or that is not there.
template <class Devices, class Default = space::detail::preferred_space>
[[nodiscard]] std::string_view choose_device(setting<std::string> const& asked) {
  std::string_view chosen;
  int best = -1;
  if (asked.is_set()) {
    bool const known = with_device<Devices>(asked.value, [&]<class Tag>(Tag) {
      if (!available<Tag>())
        throw error("device", "the device '" + asked.value + "' is not available", "it is compiled in, but none is here",
                    "Take one of " + policy::names<Devices>());
      chosen = Tag::name;
    });
    if (!known)
      throw error("device", "there is no device '" + asked.value + "' in this program",
                  "its list of devices, less those that this build lacks, is " + policy::names<Devices>(), "Take one of them");
    return chosen;
  }
  for_each_device<Devices>([&]<class Tag>(Tag) {
    int const preference = detail::preference<Tag, Default>;
    if (preference > best && available<Tag>()) {
      best = preference;
      chosen = Tag::name;
    }
  });
  if (chosen.empty())
    throw error("device", "no device is available", "the list of devices is '" + policy::names<Devices>() + "'",
                "Add keel::serial to it");
  return chosen;
}

} // namespace keel::device
