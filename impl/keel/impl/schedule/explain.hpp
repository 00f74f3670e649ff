// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The explanation of a schedule's type; also as lines of a trace.

#include <keel/impl/schedule/analysis.hpp>
#include <keel/impl/schedule/explanation.hpp>
#include <keel/impl/schedule/memories.hpp>
#include <keel/policy/choose.hpp>
#include <keel/schedule/plan.hpp>
#include <keel/space/devices.hpp>
#include <keel/validity/settings.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace keel::residency::detail {

struct any_application {
  using devices = where_supported<all_devices>;
};

template <class... Tags>
constexpr std::size_t find_memory_apart(keel::list<Tags...>) {
  bool const is_apart[] = {!is_on_host<Tags>...};
  for (std::size_t i = 0; i < sizeof...(Tags); ++i)
    if (is_apart[i]) return i;
  return 0;
}
/// The first device with memory of its own; if there is none, the first.
template <class App>
using device_to_explain = typename nth_of<find_memory_apart(devices_of<App>{}), devices_of<App>>::type;

/// The explanation of `Schedule`, from the constants of its analysis, with a device that has this memory.
template <class App, class Schedule, memory Chosen>
[[nodiscard]] explanation explained_in(std::string_view device) {
  using devices = devices_of<App>;
  using found = analysis<App, Schedule, Chosen>;
  auto const& table = table_of<Schedule>;
  read_sources seen[found::table_type::max_requests + 1][region_count]{};
  if constexpr (found::is_small)
    (void)steady_search<typename found::table_type, found::states>(table, found::where.data(), seen).find();
  return explain_schedule({table.view(), table.first_state, found::states, found::where.data(), device,
                           memory_names(devices{}), found::steady, seen});
}

template <class App, class Schedule, class Device>
[[nodiscard]] explanation explained() {
  using devices = devices_of<App>;
  static_assert(policy::contains<devices, Device>,
                "keel::residency::explain: a device that is not in the application's list. Add it there.");
  return explained_in<App, Schedule, memory_of<devices, Device>>(Device::name);
}
/// The explanation for the device that the runtime chose; if none runs, for the first that has memory of its own.
template <class App, class Schedule>
[[nodiscard]] explanation explained_as_chosen() {
  using devices = devices_of<App>;
  std::optional<explanation> made;
  with_device<devices>(chosen_device<App>, [&]<class Tag>(Tag) { made = explained<App, Schedule, Tag>(); });
  return made ? std::move(*made) : explained<App, Schedule, device_to_explain<App>>();
}

/// A type as the compiler spells it, without the name of an unnamed namespace.
template <class T>
std::string spelled() {
  return type_in(__PRETTY_FUNCTION__);
}

/// Sends an observer the entries and the flows of data of schedule `S`, once.
template <class App, class S, class Device, class O>
void tell_schedule(O& observer) {
  static std::string const name = spelled<S>();
  if (!observer.begins_schedule(name)) return;
  explanation const made = explained<App, S, Device>();
  for (std::size_t i = 1; i < made.entries.size(); ++i) { // the schedule itself comes first
    explained_entry const& e = made.entries[i];
    std::string about = e.name;
    if (rotates(e.what) || (has_place(e.what) && !calls_routine(e.what)))
      for (explained_access const& a : e.accesses)
        if (about.find(' ' + a.variable) == about.npos) about += ' ' + a.variable;
    if (!e.reduced.empty()) about += ", " + e.reduced;
    if (!e.begins_within.empty()) about += ", begins within " + e.begins_within;
    observer.entry(name, i, e.depth - 1, name_of(e.what), about, e.where);
  }
  for (told_flow const& f : made.flows)
    observer.flow(name, f.writer, f.reader, f.variable + ' ' + std::string(residency::name_of(f.where)),
                  word_for(f.seen), f.crosses);
}

} // namespace keel::residency::detail
