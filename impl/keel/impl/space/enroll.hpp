// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Between Kokkos, which knows only its own execution spaces, and keel's plug-ins.

#include <keel/space/concepts.hpp>
#include <keel/space/kokkos.hpp>

#if KOKKOS_VERSION >= 30700
#define KOKKOS_IMPL_PUBLIC_INCLUDE // inner headers ask for it from 4 on; Kokkos' own outer headers do the same
#include <impl/Kokkos_ExecSpaceManager.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE
#endif

#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
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

#if KOKKOS_VERSION < 30700
using listener_base = Kokkos::Impl::ExecSpaceInitializerBase;
using given_to_kokkos = Kokkos::InitArguments;
#else
using listener_base = Kokkos::Impl::ExecSpaceBase;
using given_to_kokkos = Kokkos::InitializationSettings;
#endif

[[nodiscard]] inline settings settings_in(given_to_kokkos const& given) {
  settings wanted;
#if KOKKOS_VERSION < 30700
  if (given.num_threads > 0) wanted.threads = given.num_threads * (given.num_numa > 0 ? given.num_numa : 1);
  if (given.num_numa > 0) wanted.numa_regions = given.num_numa;
  if (given.device_id >= 0) wanted.device_instance = given.device_id;
#else
  if (given.has_num_threads()) wanted.threads = given.get_num_threads();
  if (given.has_device_id()) wanted.device_instance = given.get_device_id();
#endif
  return wanted;
}

/// What Kokkos calls at its start, end, fence and print.
class listener final : public listener_base {
public:
  explicit listener(plugin_events& to) : to_(to) {}
  void initialize(given_to_kokkos const& given) override { to_.initialize(settings_in(given)); }
  void print_configuration(std::ostream& out, bool detail) override { to_.print_configuration(out, detail); }
#if KOKKOS_VERSION < 30700
  void finalize(bool) override {}
  void fence() override { to_.fence("Kokkos::fence"); }
#if KOKKOS_VERSION >= 30500
  void fence(std::string const& label) override { to_.fence(label); }
#endif
#else
  void finalize() override {}
  void static_fence(std::string const& label) override { to_.fence(label); }
#endif

private:
  plugin_events& to_;
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
    plugin_events& events = events_of<P>;
    events.is_enrolled = true;
    Kokkos::Impl::ExecSpaceManager::get_instance().register_space_factory(sorted_by(P::order, P::name),
                                                                          std::make_unique<listener>(events));
    if (Kokkos::is_initialized()) events.initialize(settings_after_start());
    return true;
  }();
  (void)once;
}

} // namespace keel::space::detail
