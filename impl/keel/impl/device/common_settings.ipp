// SPDX-License-Identifier: MIT
#include <keel/impl/device/common_settings.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace keel::device {

KEEL_INLINE common_settings::common_settings() = default;
KEEL_INLINE common_settings::~common_settings() = default;

KEEL_INLINE void common_settings::take(common_settings const& other, std::span<changeable_knobs const> into,
                                       std::span<device_knobs const> from) {
  for (std::size_t d = 0; d < into.size(); ++d)
    detail::for_each_knob(*into[d].device, [&](knob id) {
      auto const by = from[d].source(id);
      if (by == source::unset) return;
      if (into[d].assign(id, *from[d].set_value(id), by) == outcome::not_applied)
        too_late("setting " + std::string{facts(id).option} + " of " + std::string{into[d].device->name});
    });
  program = other.program;
}

KEEL_INLINE void common_settings::take(option_names const& names, std::string_view name, std::string_view text,
                                       std::span<changeable_knobs const> devices) {
  auto const known = find_knob(name, names);
  if (!known)
    throw error("start", "there is no knob " + std::string{name}, "options are called so, without --keel-",
                "Did you mean " + std::string{nearest_option(name)});
  assignment const one{known->row, std::string{text}, std::string{name}, source::code, known->device};
  apply_to_program({one}, names.has_ledger);
  apply_to_devices(devices, {one}, {});
}

KEEL_INLINE void common_settings::apply_to_program(std::vector<assignment> const& all, bool has_ledger) {
  for (auto const& a : all) {
    if (a.row->of_device) continue;
    a.row->of_program->store(program, a);
    if (a.row->for_ledgers && !has_ledger)
      without_effect(a.where, "this program has no ledger, whose routines name no levels");
  }
  program.residency.verbose = program.log_level >= log_level::information;
  program.residency.veryverbose = program.log_level >= log_level::details;
}

KEEL_INLINE void common_settings::apply_to_devices(std::span<changeable_knobs const> devices,
                                                   std::vector<assignment> all, std::string_view chosen) {
  std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) {
    return std::tuple{a.from, !a.device.empty()} < std::tuple{b.from, !b.device.empty()};
  });
  for (auto const& a : all)
    if (a.row->of_device) apply(devices, a, chosen);
}

KEEL_INLINE void common_settings::apply(std::span<changeable_knobs const> devices, assignment const& a,
                                        std::string_view chosen) {
  auto const& of_device = *a.row->of_device;
  std::int64_t const value = of_device.parse(a.where, a.text);
  bool is_taken = false, is_late = false;
  std::string names;
  for (auto const& d : devices) {
    auto const name = d.device->name;
    names.append(names.empty() ? "" : ", ").append(name);
    if (!d.device->has(of_device.id) || (!a.device.empty() && a.device != name)) continue;
    is_taken = true;
    auto const allowed = *d.read().bounds_of(of_device.id);
    bool const is_strict = !a.device.empty() || name == chosen;
    std::int64_t const fitting = std::clamp(value, std::min(allowed.least, allowed.advised), allowed.advised);
    if (is_strict && (value > allowed.most || value < allowed.least)) {
      bool const more = value > allowed.most;
      throw error("device",
                  a.where + "=" + a.text + (more ? " is more than " : " is less than ") + std::string{name} +
                      (more ? " has" : " takes"),
                  (more ? "the largest value here is " : "the smallest value is ") +
                      of_device.show(more ? allowed.most : allowed.least),
                  more ? "Give less" : "Give more");
    }
    if (!is_strict && fitting < allowed.least) continue; // there is none
    if (!is_strict && fitting != value)
      note(log_level::information, a.where + "=" + a.text + " is not what " + std::string{name} +
                                       " can take; it gets " + of_device.show(fitting));
    is_late = d.assign(of_device.id, is_strict ? value : fitting, a.from) == outcome::not_applied || is_late;
  }
  if (is_late) too_late(a.where);
  if (!is_taken)
    without_effect(a.where, a.device.empty()
                                ? "none of this program's devices (" + names + ") has this knob"
                                : "this program has no device " + std::string{a.device} + " with this knob");
}

KEEL_INLINE void common_settings::remark_on_unknown(option_names const& names,
                                                    std::vector<std::string> const& variables,
                                                    std::vector<std::string> const& options) {
  for (auto const& name : variables)
    if (auto const meant = meant_variable(names, name); !meant.empty() || program.strict)
      note(log_level::warning, name + " is read by nothing", meant.empty() ? "Unset it" : "Did you mean " + meant);
  std::string const ours = option_prefix(names.prefix);
  for (auto const& option : options)
    note(log_level::warning, option + " is left to the program, because its options begin with " + ours,
         "Did you mean " + ours + option.substr(std::string_view{"--keel-"}.size()));
}

KEEL_INLINE void common_settings::note(log_level level, std::string text, std::string hint) {
  remarks_.push_back({level, std::move(text), std::move(hint)});
}
KEEL_INLINE void common_settings::check_remarks() const {
  for (auto const& r : remarks_)
    if (program.strict && r.level == log_level::warning)
      throw error("device", r.text, "in strict mode, settings without effect are refused", r.hint);
}
KEEL_INLINE void common_settings::log_remarks(std::span<device_knobs const> devices) const {
  for (auto const& r : remarks_) log(r.level, r.text + (r.hint.empty() ? "" : ". " + policy::as_sentence(r.hint)));
  for (auto const& d : devices) detail::for_each_knob(d.device(), [&](knob id) { d.tell_of_excess(id); });
}

KEEL_INLINE void common_settings::without_effect(std::string const& where, std::string const& why) {
  note(log_level::warning, where + " has no effect: " + why, "Leave it out");
}
KEEL_INLINE void common_settings::too_late(std::string const& what) {
  note(log_level::warning, what + " has no effect, because Kokkos runs already", "Start keel first");
}

} // namespace keel::device
