// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields have copies made: for a routine, early, and for output that declares nothing.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace keel::residency::detail {

// Work on the host's memory that may go on behind its caller is done when this returns.
template <class App>
void fields_base<App>::settle_host() const {
  instances_.for_each_open([]<class Tag>(Tag, auto const& queue) {
    if constexpr (is_on_host<Tag>) queue.fence();
  });
}

// Brings what a routine needs, or begins to.
template <class App>
void fields_base<App>::acquire(std::span<request const> list, memory m, std::string_view routine,
                               component_range range) {
  settle_host();
  report_copies(routine, [&] { ledger_.acquire(list, m, routine, range); });
}

template <class App>
void fields_base<App>::begin_prefetch(std::span<prefetch const> runs, request const* requests, component_range range) {
  for (prefetch const& p : runs) {
    std::span<request const> const part{requests + p.first, p.size};
    if (!ledger_.is_open(p.to)) continue;
    settle_host();
    report_copies(p.reader, [&] {
      if (p.to == host) ledger_.begin_to_host(part, p.reader, range);
      else ledger_.acquire(part, p.to, p.reader, range);
    });
  }
}

// Does what may copy, and says so where the user wants to know.
template <class App>
template <class F>
void fields_base<App>::report_copies(std::string_view routine, F&& copy) {
  if (!settings_.veryverbose || own_.rank() != 0) return copy();
  std::uint64_t const to_host = ledger_.traffic().bytes(way::to_host),
                      to_device = ledger_.traffic().bytes(way::to_device);
  copy();
  std::uint64_t const down = ledger_.traffic().bytes(way::to_host) - to_host,
                      up = ledger_.traffic().bytes(way::to_device) - to_device;
  if (down + up != 0)
    policy::say(policy::log_level::details, "residency: step " + std::to_string(steps_) + ": " + std::string(routine) +
                                                " needed " + std::to_string(down) + " bytes on the host, " +
                                                std::to_string(up) + " on a device");
}

template <class App>
void fields_base<App>::set(residency::settings const& how) {
  copied_back_ = ledger_.find_all(how.copy_back_vars, how.copy_back_vars_name);
  settings_ = how;
}

template <class App>
void fields_base<App>::copy_back(std::span<int const> variables, std::string_view why, component_range range) {
  settle_host();
  std::uint64_t const before = ledger_.traffic().bytes(way::to_host);
  ledger_.copy_back(variables, settings_.copy_back_all_levels, why, range);
  if ((settings_.verbose || settings_.veryverbose) && own_.rank() == 0)
    policy::say(policy::log_level::information,
                "residency: step " + std::to_string(steps_) + ": " +
                    std::to_string(ledger_.traffic().bytes(way::to_host) - before) + " bytes of " +
                    std::to_string(variables.size()) + " variables copied back for " + std::string(why));
}

template <class App>
void fields_base<App>::copy_back_for(std::string_view output, component_range range) {
  if constexpr (keeps_ledger)
    if (settings_.copy_back_every && steps_ % *settings_.copy_back_every == 0) copy_back(copied_back_, output, range);
  settle_host();
}

// What the routines of an analysis wrote.
template <class App>
void fields_base<App>::copy_back_written(std::span<request const> asked, component_range range) {
  if (!settings_.copy_back_written_in_analysis) return;
  std::vector<int> variables;
  for (request const& r : asked)
    if (r.writes != region::none && std::find(variables.begin(), variables.end(), r.variable) == variables.end())
      variables.push_back(r.variable);
  copy_back(variables, "analysis", range);
}

// The owned part has to be there. Ghosts are there where they were filled.
template <class App>
void fields_base<App>::require_copied_back(int variable, int level, int which, std::string_view output) const {
  if (!keeps_ledger || ledger_.is_valid(variable, level, region::owned, host, which)) return;
  throw error("residency",
              "output " + std::string(output) + " asks for " + std::string(ledger_.name(variable)) + ", level " +
                  std::to_string(level) + (components() > 1 ? ", component " + std::to_string(which) : "") +
                  ", which the host does not have",
              "copy-back-every, copy-back-vars and copy-back-all-levels leave it out, or it was "
              "never written",
              "Set them, or declare a routine that reads it");
}

} // namespace keel::residency::detail
