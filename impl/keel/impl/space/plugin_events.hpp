// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What Kokkos calls at its start, end and fences, for one of keel's plug-ins.

#include <keel/space/kokkos.hpp>
#include <keel/space/settings.hpp>

#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

namespace keel::space::detail {

/// What Kokkos' start, end, fence and print mean to one plug-in.
///
/// Kokkos ends its spaces in the order in which it started them, so plug-ins end
/// in a hook, before any of Kokkos' own and in reverse.
class plugin_events {
public:
  template <class P>
  constexpr explicit plugin_events(std::type_identity<P>)
      : start_([](settings const& wanted) { P::initialize(wanted); }), end_([] { P::finalize(); }),
        fence_([](std::string const& label) { P::fence(label); }),
        print_([](std::ostream& out, bool detail) { P::print_configuration(out, detail); }) {}

  void initialize(settings const& wanted) {
    if (is_running_) return;
    if (running().empty()) Kokkos::push_finalize_hook(end_all);
    try {
      start_(wanted);
    } catch (...) {
      end_all();
      throw;
    }
    is_running_ = true;
    running().push_back(this);
  }
  void fence(std::string const& label) const {
    if (is_running_) fence_(label);
  }
  void print_configuration(std::ostream& out, bool detail) const {
    if (is_running_) print_(out, detail);
  }
  [[nodiscard]] bool is_running() const { return is_running_; }

  bool is_enrolled = false;

private:
  /// In the order they started.
  static std::vector<plugin_events*>& running() {
    static std::vector<plugin_events*> all;
    return all;
  }
  static void end_all() {
    auto& all = running();
    while (!all.empty()) {
      auto& last = *all.back();
      all.pop_back();
      last.is_running_ = false;
      last.end_();
    }
  }

  void (*start_)(settings const& wanted);
  void (*end_)();
  void (*fence_)(std::string const& label);
  void (*print_)(std::ostream& out, bool detail);
  bool is_running_ = false;
};

template <class P>
inline constinit plugin_events events_of{std::type_identity<P>{}};

} // namespace keel::space::detail
