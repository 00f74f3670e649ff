// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Between Kokkos, which knows only its own execution spaces, and keel's plug-ins.

#include <keel/impl/space/generation.hpp>
#include <keel/impl/space/plugin_events.hpp>
#include <keel/space/concepts.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

namespace keel::space::detail {

/// What Kokkos sorts by, as text: "050_name", "100_name", and ":1000_name" after them all.
inline std::string sorted_by(int order, std::string_view name) {
  auto digits = std::to_string(order);
  if (digits.size() < 3) digits.insert(0, 3 - digits.size(), '0');
  digits.insert(0, digits.size() - 3, ':');
  return digits.append("_").append(name);
}

/// What a plug-in takes that Kokkos starts without: the threads of Kokkos' own host space. A Kokkos built only with
/// Serial does not keep the values of its command line, so there the environment counts.
inline settings settings_after_start() {
  using host = Kokkos::DefaultHostExecutionSpace;
  settings told;
  if (std::string_view(host::name()) != "Serial") told.threads = host().concurrency();
  else if (char const* const text = std::getenv("KOKKOS_NUM_THREADS"); text != nullptr && std::atoi(text) > 0)
    told.threads = std::atoi(text); // as Kokkos reads it
  return told;
}

/// Registers `P`, once. If Kokkos runs already, `P` starts at once: its first
/// use came after a start that did not know of it.
template <class P>
void enroll() {
  static bool const once = [] {
    plugin_events& events = events_of<P>;
    events.is_enrolled = true;
    listen(sorted_by(P::order, P::name), events);
    if (Kokkos::is_initialized()) events.initialize(settings_after_start());
    return true;
  }();
  (void)once;
}

} // namespace keel::space::detail
