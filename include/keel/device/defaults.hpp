// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What an application says about itself as types, with a default for each.

#include <keel/machine/mpi.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/tags.hpp>
#include <keel/schedule/routine.hpp>
#include <keel/space/defaults.hpp>
#include <keel/space/devices.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/validity/tracking.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace keel {

/// The devices of an application that names none: `KEEL_DEVICES` from the compile line, else all
/// that keel knows, less those that this build lacks.
#ifdef KEEL_DEVICES
using default_devices = KEEL_DEVICES;
#else
using default_devices = where_supported<all_devices>;
#endif

/// The application policy; derive from it and replace what differs.
struct defaults {
  /// What the application was written for. Nothing else has a symbol or a branch in the program.
  using devices = default_devices;
  /// What carries the ranks; `keel::machine::alone` is one rank without MPI, and what a build without MPI has.
  using ranks = machine::mpi;
  /// How residency is followed: off, automatic, checked or traced.
  using tracking = residency::automatic;
  /// Where ghosts are packed into messages: `on_host`, from arrays there; or `on_device`, where messages leave from too
  /// if MPI reaches its memory. An `accumulate` adds them to their owners there.
  using exchange = residency::on_host;
  // using transports = keel::list<residency::staged, residency::peer>: what may carry messages of an exchange; without
  // it, all of `residency::all_transports`. `--keel-exchange-through` takes one of them, or the fastest.
  /// The layout of all copies of a variable.
  using layout = Kokkos::LayoutRight;
  /// Where things run and lie unless a knob says otherwise, keel's own: a device whose space is named here is the one
  /// that runs if no knob chose. Of a device that is replaced here, its memory wants to be too.
  using default_execution_space = space::default_execution_space;
  using default_host_execution_space = space::default_host_execution_space;
  using default_memory_space = space::default_memory_space;
  using default_host_memory_space = space::default_host_memory_space;
  /// `--keel-num-threads`, `KEEL_NUM_THREADS`: lower case letters, digits and dashes.
  static constexpr std::string_view prefix = "keel";
  /// Elements of a block; 0 leaves it to the compile line and to the device.
  static constexpr std::size_t vector_length = 0;
  /// Whether it keeps a `residency::ledger`, whose routines may name no levels: only then it has the knobs for those.
  static constexpr bool uses_ledger = false;
  /// Whether MPI that keel started ends with the runtime. It starts once a process, so without this it runs until the
  /// process exits, and a second runtime works.
  static constexpr bool ends_mpi = false;
  /// Whether settings without effect are refused instead of warned of, as with `--keel-strict`: unknown variables with
  /// the prefix, options with keel's, knobs that no device has.
  static constexpr bool is_strict = false;
  /// Whether a device has to be named, because keel shall not choose one.
  static constexpr bool requires_device = false;
};

namespace device {

/// What an application policy must say; `keel::defaults` says all of it.
template <class App>
concept ApplicationPolicy = policy::TypeList<typename App::devices> && requires {
  typename App::ranks;
  typename App::tracking;
  typename App::layout;
  { App::prefix } -> std::convertible_to<std::string_view>;
  { App::vector_length } -> std::convertible_to<std::size_t>;
} && requires { // a compiler lists what is missing of the first part that fails
  typename App::default_execution_space;
  typename App::default_host_execution_space;
  typename App::default_memory_space;
  typename App::default_host_memory_space;
};

[[nodiscard]] constexpr bool is_prefix(std::string_view text) {
  bool good = !text.empty() && text.front() >= 'a' && text.front() <= 'z' && text != "kokkos";
  for (char c : text) good = good && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-');
  return good;
}

/// Names the device in the compiler's message.
template <class Tag>
consteval bool require_supported() {
  static_assert(supported<Tag>, "keel::device: a device of the policy's list is not in this build "
                                "(its name stands in require_supported<...> here). Leave it out, or take "
                                "keel::where_supported of the list.");
  return supported<Tag>;
}
template <class Tag>
using must_be_supported = std::bool_constant<require_supported<Tag>()>;

/// Checks an application policy, one requirement a sentence. A function, because clang says more of a failed class.
template <class App>
consteval bool require_policy() {
  static_assert(ApplicationPolicy<App>,
                "keel::device: this is not an application policy (devices, ranks, tracking, "
                "layout, a default space, prefix or vector_length is missing). Derive it from keel::defaults.");
  if constexpr (ApplicationPolicy<App>) { // else one sentence is enough
    using devices = policy::to_list<typename App::devices>;
    static_assert(policy::size<devices> > 0, "keel::device: the list of devices is empty (a program runs somewhere). "
                                             "Add keel::serial.");
    static_assert(policy::is_unique<devices>,
                  "keel::device: a device stands in the list twice (it is found by its type). "
                  "Remove one.");
    static_assert(is_prefix(App::prefix),
                  "keel::device: the prefix is not made of lower case letters, digits and dashes, or "
                  "is 'kokkos' (it becomes part of options and of variables). Choose another.");
    space::require_defaults<App>();
  }
  return true;
}

/// A checked policy, and its devices without those that this build lacks. `keel::defaults` stands in for what is no
/// policy, so that no other error follows.
template <class App>
struct checked_policy {
  static_assert(require_policy<App>());
  using type = std::conditional_t<ApplicationPolicy<App>, App, defaults>;
  using devices = policy::filter<typename App::devices, must_be_supported>;
};

} // namespace device
} // namespace keel
