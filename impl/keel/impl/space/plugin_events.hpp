// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Between Kokkos, which knows only its own execution spaces, and keel's plug-ins.

#include <keel/impl/space/generation.hpp>
#include <keel/space/concepts.hpp>
#include <keel/space/kokkos.hpp>

#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace keel::space::detail {

/// How to end each plug-in that runs, in the order they started.
inline std::vector<void (*)()>& running_plugins() {
  static std::vector<void (*)()> ends;
  return ends;
}

inline void end_plugins() {
  auto& ends = running_plugins();
  while (!ends.empty()) {
    auto const end = ends.back();
    ends.pop_back();
    end();
  }
}

/// What Kokkos' start, end, fence and print mean to one plug-in.
///
/// Kokkos ends its spaces in the order in which it started them, so plug-ins end
/// in a hook, before any of Kokkos' own and in reverse.
template <class P>
struct plugin_events {
  static inline bool enrolled = false;
  static inline bool running = false;

  static void initialize(settings const& wanted) {
    if (running) return;
    if (running_plugins().empty()) Kokkos::push_finalize_hook(end_plugins);
    try {
      P::initialize(wanted);
    } catch (...) {
      end_plugins();
      throw;
    }
    running = true;
    running_plugins().push_back(&end);
  }
  static void end() {
    running = false;
    P::finalize();
  }
  static void fence(std::string const& label) {
    if (running) P::fence(label);
  }
  static void print_configuration(std::ostream& out, bool detail) {
    if (running) P::print_configuration(out, detail);
  }
};

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
    using events = plugin_events<P>;
    events::enrolled = true;
    listen<events>(sorted_by(P::order, P::name));
    if (Kokkos::is_initialized()) events::initialize(settings_after_start());
    return true;
  }();
  (void)once;
}

} // namespace keel::space::detail
