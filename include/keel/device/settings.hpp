// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// All knobs of one program, those of its devices and its own, and how text becomes a value of them.

#include <keel/device/configuration.hpp>
#include <keel/device/log.hpp>
#include <keel/device/read.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/tuple.hpp>
#include <keel/space/defaults.hpp>
#include <keel/space/devices.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::device {

/// Something to say when the program has started, because only then it is known how much is said, and by which rank.
struct remark {
  log_level level;
  std::string text;
  std::string mend = {};
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
      configuration<Tag>::visit_all(other.of<Tag>(), [&](auto const& row, auto const& held) {
        if (held.is_set() && of<Tag>().assign(row.id, *held.value, held.from) == outcome::not_applied)
          too_late("setting " + std::string{row.option} + " of " + std::string{Tag::name});
      });
    });
    program = other.program;
  }

  /// Parses those that are for the program, the weakest first.
  void apply_to_program(std::vector<assignment> const& all, bool has_ledger) {
    for (auto const& a : all)
      for_each_program_row([&](auto const& row) {
        if (row.id != a.id) return;
        row.value_in(program) = row.kind.parse(a.where, a.text);
        program.set_source(row.id, a.from);
        if (row.id == knob::copy_back_vars) program.residency.copy_back_vars_name = a.where;
        if (row.for_ledgers && !has_ledger)
          without_effect(a.where, "this program has no ledger, whose routines name no levels");
      });
    for (auto const& old : old_spellings) program.residency.*old.told = program.log_level >= old.level;
  }

  /// Parses those that are for devices, the weakest first, and of one source what is for one device after what is for
  /// all. A malformed value is an error, and so is one that the device `chosen`, or the one that it was written for,
  /// cannot take. The others get the nearest that they can. A knob that no device has is only remarked on.
  void apply_to_devices(std::vector<assignment> all, std::string_view chosen) {
    std::stable_sort(all.begin(), all.end(), [](assignment const& a, assignment const& b) {
      return std::tuple{a.from, !a.device.empty()} < std::tuple{b.from, !b.device.empty()};
    });
    for (auto const& a : all)
      for_each_device_row([&](auto const& row) {
        if (row.id == a.id) apply(a, row, chosen);
      });
  }

  /// Remarks on variables that no knob has, where one is meant or unknown ones are not to be; and on options of keel's
  /// that stay in argv because the program's prefix is another.
  void remark_on_unknown(option_names const& names, std::vector<std::string> const& variables,
                         std::vector<std::string> const& options) {
    for (auto const& name : variables)
      if (auto const meant = meant_variable(names, name); !meant.empty() || program.strict)
        warn(name + " is read by nothing", meant.empty() ? "Unset it" : "Did you mean " + meant);
    std::string const ours = option_prefix(names.prefix);
    for (auto const& option : options)
      warn(option + " is left to the program, because its options begin with " + ours,
           "Did you mean " + ours + option.substr(std::string_view{"--keel-"}.size()));
  }

  /// To be said at the start, where the level admits it.
  void note(log_level level, std::string text, std::string mend = {}) {
    remarks_.push_back({level, std::move(text), std::move(mend)});
  }

  /// In strict mode refuses what there is a warning of.
  void check_remarks() const {
    for (auto const& r : remarks_)
      if (program.strict && r.level == log_level::warning)
        throw error("device", r.text, "in strict mode, settings without effect are refused", r.mend);
  }
  [[nodiscard]] std::vector<remark> const& remarks() const { return remarks_; }

private:
  template <class Row>
  void apply(assignment const& a, Row const& row, std::string_view chosen) {
    std::int64_t const value = row.kind.parse(a.where, a.text);
    bool is_taken = false, is_late = false;
    for_each_device<devices>([&]<class Tag>(Tag) {
      if constexpr (KnobOf<Row, Tag>) {
        if (!a.device.empty() && a.device != Tag::name) return;
        is_taken = true;
        auto const allowed = row.bounds(device::of<device_traits<Tag>>{});
        bool const is_strict = !a.device.empty() || Tag::name == chosen;
        std::int64_t const fitting = std::clamp(value, std::min(allowed.least, allowed.advised), allowed.advised);
        if (is_strict && (value > allowed.most || value < allowed.least)) {
          bool const more = value > allowed.most;
          throw error("device",
                      a.where + "=" + a.text + (more ? " is more than " : " is less than ") + std::string{Tag::name} +
                          (more ? " has" : " takes"),
                      (more ? "the largest value here is " : "the smallest value is ") +
                          row.kind.show(more ? allowed.most : allowed.least),
                      more ? "Give less" : "Give more");
        }
        if (!is_strict && fitting < allowed.least) return; // there is none
        if (!is_strict && fitting != value)
          remarks_.push_back({log_level::information, a.where + "=" + a.text + " is not what " +
                                                          std::string{Tag::name} + " can take; it gets " +
                                                          row.kind.show(fitting)});
        is_late = of<Tag>().assign(a.id, is_strict ? value : fitting, a.from) == outcome::not_applied || is_late;
      }
    });
    if (is_late) too_late(a.where);
    if (!is_taken)
      without_effect(a.where, (a.device.empty()
                                   ? "none of this program's devices (" + policy::names<devices>() + ") has this knob"
                                   : "this program has no device " + std::string{a.device} + " with this knob"));
  }

  void without_effect(std::string const& where, std::string const& why) {
    warn(where + " has no effect: " + why, "Leave it out");
  }
  void too_late(std::string const& what) {
    warn(what + " has no effect, because Kokkos runs already", "Start keel first");
  }
  void warn(std::string text, std::string mend) { note(log_level::warning, std::move(text), std::move(mend)); }

  policy::tuple_of<devices, slot> slots_;
  std::vector<remark> remarks_;
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

/// The devices of `Devices` that `asked` names, in its order: names with commas between them, in any case, or `any`,
/// which is the whole list. Refuses what is no device of this program, in words that begin with how it was `said`.
template <class Devices>
[[nodiscard]] std::vector<std::string_view> named_devices(std::string_view asked, std::string const& said = {}) {
  std::vector<std::string_view> chain, all;
  for_each_device<Devices>([&]<class Tag>(Tag) { all.push_back(Tag::name); });
  if (policy::same_name(asked, "any")) return all;
  for (std::size_t at = 0; at <= asked.size();) {
    std::size_t const end = std::min(asked.find(',', at), asked.size());
    std::string const name{asked.substr(at, end - at)};
    at = end + 1;
    bool const is_here = with_device<Devices>(name, [&]<class Tag>(Tag) {
      if (std::find(chain.begin(), chain.end(), Tag::name) == chain.end()) chain.push_back(Tag::name);
    });
    if (is_here) continue;
    std::string const list = "its list of devices, less those that this build lacks, is " + policy::names<Devices>();
    if (std::any_of(known_devices.begin(), known_devices.end(),
                    [&](auto known) { return policy::same_name(known, name); }))
      throw error("device", said + "this program was built without the device '" + name + "'", list, "Take one of them");
    auto const near = policy::nearest(name, all);
    bool const is_near = policy::edit_distance(name, near) * 2 < near.size();
    throw error("device", said + "there is no device '" + name + "'", list,
                is_near ? "Did you mean " + std::string{near} : "Take one of them");
  }
  return chain;
}

/// The devices that this program may run on, the best first; routines `on_device` run on the first. Those that were
/// asked for and are available; else the available one whose space is `Default`, unless keel itself prefers that, else
/// the one with the highest preference, and behind it the others in the order of the list. Throws where there is none.
template <class Devices, class Default = space::detail::preferred_space>
[[nodiscard]] std::vector<std::string_view> choose_devices(std::string_view asked, std::string const& said = {}) {
  std::vector<std::string_view> chain;
  if (!asked.empty()) {
    for (auto const name : named_devices<Devices>(asked, said))
      with_device<Devices>(name, [&]<class Tag>(Tag) {
        if (available<Tag>()) chain.push_back(Tag::name);
      });
    if (chain.empty())
      throw error("device", said + "the device '" + std::string{asked} + "' is not available",
                  "it is compiled in, but none is here", "Take one of " + policy::names<Devices>());
    return chain;
  }
  int best = -1;
  for_each_device<Devices>([&]<class Tag>(Tag) {
    if (!available<Tag>()) return;
    int const preference = detail::preference<Tag, Default>;
    chain.insert(preference > best ? chain.begin() : chain.end(), Tag::name);
    best = std::max(best, preference);
  });
  if (chain.empty())
    throw error("device", "no device is available", "the list of devices is '" + policy::names<Devices>() + "'",
                "Add keel::serial to it");
  return chain;
}

} // namespace keel::device
