// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a program is, as lines of a trace: the knobs of its runtime, and the graph of each schedule.

#include <keel/impl/residency/explain.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace keel::residency::detail {

/// The name of a source of knobs, by the rules of `device`, which this folder does not include.
template <class Source>
std::string_view name_of_source(Source from) {
  return name(from);
}

/// Tells an observer the knobs of a runtime that has some, and how the ranks cut the grids.
template <class O, class Run>
void tell_knobs([[maybe_unused]] O& observer, [[maybe_unused]] Run const& run,
                [[maybe_unused]] std::string const& cut) {
  if constexpr (requires(std::string_view text) { observer.knob(text, text, text, text); }) {
    if constexpr (requires { run.knobs(); })
      for (auto const& k : run.knobs()) observer.knob(k.option, k.device, k.value, name_of_source(k.from));
    observer.knob("ranks_in", "", cut, "fields");
  }
}

/// A type as the compiler spells it, without the name of an unnamed namespace.
template <class T>
std::string spelled() {
  std::string_view const whole = __PRETTY_FUNCTION__; // ... [with T = app::step; ...] or [T = app::step]
  std::size_t const begin = whole.find("T = ") + 4;
  std::string name{whole.substr(begin, whole.find_first_of(";]", begin) - begin)};
  for (std::string_view const unnamed : {"{anonymous}::", "(anonymous namespace)::"})
    for (auto at = name.find(unnamed); at != name.npos; at = name.find(unnamed)) name.erase(at, unnamed.size());
  return name;
}

/// Tells an observer the entries and the flows of data of schedule `S`, once.
template <class App, class S, class Device, class O>
void tell_schedule(O& observer) {
  static std::string const name = spelled<S>();
  if (!observer.begins_schedule(name)) return;
  explanation const told = explained<App, S, Device>::tell();
  for (std::size_t i = 1; i < told.entries.size(); ++i) { // the schedule itself comes first
    told_entry const& e = told.entries[i];
    std::string about = e.name;
    if (rotates(e.what) || e.what == entry_kind::exchange)
      for (told_access const& a : e.accesses)
        if (about.find(' ' + a.variable) == about.npos) about += ' ' + a.variable;
    observer.entry(name, i, e.depth - 1, name_of(e.what), about, e.where);
  }
  for (told_flow const& f : told.flows)
    observer.flow(name, f.writer, f.reader, f.variable + ' ' + std::string(residency::name_of(f.where)),
                  word_for(f.seen), f.crosses);
}

} // namespace keel::residency::detail
