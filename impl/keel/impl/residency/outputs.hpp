// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields serve output that declares nothing, and tell what they copy.

#include <keel/impl/residency/holdings.hpp>
#include <keel/policy/error.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace keel::residency::detail {

template <class App>
void holdings<App>::set(residency::settings const& how) {
  copied_back_ = book_.find_all(how.copy_back_vars);
  settings_ = how;
}

// Brings what a routine needs, or begins to.
template <class App>
void holdings<App>::acquire(std::span<request const> list, memory m, std::string_view routine, component_range range) {
  settle_host();
  tell_copies(routine, [&] { book_.acquire(list, m, routine, range); });
}

template <class App>
void holdings<App>::begin_to_host(std::span<request const> list, std::string_view routine, component_range range) {
  settle_host();
  tell_copies(routine, [&] { book_.begin_to_host(list, routine, range); });
}

// Does what may copy, and says so where the user wants to know.
template <class App>
template <class F>
void holdings<App>::tell_copies(std::string_view routine, F&& bring) {
  if (!settings_.veryverbose || own_.rank() != 0) return bring();
  std::uint64_t const to_host = book_.traffic().bytes(way::to_host), to_device = book_.traffic().bytes(way::to_device);
  bring();
  std::uint64_t const down = book_.traffic().bytes(way::to_host) - to_host, up = book_.traffic().bytes(way::to_device) - to_device;
  if (down + up != 0)
    std::fprintf(stderr, "keel: residency: step %lld: %s needed %llu bytes on the host, %llu on a device\n",
                 static_cast<long long>(steps_), std::string(routine).c_str(), static_cast<unsigned long long>(down),
                 static_cast<unsigned long long>(up));
}

template <class App>
void holdings<App>::copy_back(std::span<int const> variables, std::string_view why, component_range range) {
  settle_host();
  std::uint64_t const before = book_.traffic().bytes(way::to_host);
  book_.copy_back(variables, settings_.copy_back_all_levels, why, range);
  if ((settings_.verbose || settings_.veryverbose) && own_.rank() == 0)
    std::fprintf(stderr, "keel: residency: step %lld: %llu bytes of %zu variables copied back for %s\n",
                 static_cast<long long>(steps_),
                 static_cast<unsigned long long>(book_.traffic().bytes(way::to_host) - before), variables.size(),
                 std::string(why).c_str());
}

template <class App>
void holdings<App>::copy_back_for(std::string_view output, component_range range) {
  if constexpr (keeps_book)
    if (settings_.copy_back_every && steps_ % *settings_.copy_back_every == 0) copy_back(copied_back_, output, range);
  settle_host();
}

// Whether the owned part is there; ghosts are, where somebody filled them.
template <class App>
void holdings<App>::require_copied_back(int variable, int level, int which, std::string_view output) const {
  if (!keeps_book || book_.is_valid(variable, level, region::owned, host, which)) return;
  throw error("residency", "output " + std::string(output) + " asks for " + std::string(book_.name(variable)) + ", level " +
              std::to_string(level) + (components() > 1 ? ", component " + std::to_string(which) : "") +
              ", which the host does not have", "copy-back-every, copy-back-vars and copy-back-all-levels leave it out, or it was "
              "never written", "Set them, or declare a routine that reads it");
}

} // namespace keel::residency::detail
