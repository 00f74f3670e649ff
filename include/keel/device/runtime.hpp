// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The start and the end of a program: ranks, knobs and devices, in order, and in reverse.

#include <keel/device/configuration.hpp>
#include <keel/device/defaults.hpp>
#include <keel/device/print.hpp>
#include <keel/device/start.hpp>
#include <keel/device/tracker.hpp>
#include <keel/impl/device/choose_devices.hpp>
#include <keel/impl/device/consistency.hpp>
#include <keel/impl/device/runtime_core.hpp>
#include <keel/machine/end.hpp>
#include <keel/machine/environment.hpp>
#include <keel/machine/session.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/start.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel {

/// One for each program, on the stack of `main`, alive as long as anything of keel's is used.
///
/// Starts MPI unless it runs, reads environment and command line, chooses the device; starts Kokkos at the first
/// use of a device. Ends in reverse what it started, and nothing else. Construction and destruction are collective
/// over all ranks. Errors of arguments are thrown on every rank, also on those whose own arguments were right.
/// If an exception destroys it on more than one rank, `keel::report` aborts MPI with its message, because ending it
/// would hang the others; a thread does so if nothing is reported for two seconds. A rank that comes to the end long
/// before the others says so, and ends the job with `--keel-end-timeout`.
template <class App>
class runtime {
  using checked = typename device::checked_policy<App>::type;

public:
  using application = App;
  using devices = typename device::checked_policy<App>::devices;
  using ranks = typename checked::ranks;
  using environment_type = machine::basic_environment<ranks>;

  /// Standalone: the environment is the world.
  runtime(int& argc, char** argv) : session_(argc, argv, machine::thread_level::funneled, when_mpi_ends) {
    begin(argc, argv, nullptr);
  }
  runtime(int& argc, char** argv, start<App> const& before)
      : session_(argc, argv, before.thread_level(), when_mpi_ends) {
    begin(argc, argv, &before);
  }

  /// Starts for a library, which has no command line; environment variables count.
  runtime() : runtime(no_words_, nullptr) {}
  explicit runtime(start<App> const& before) : runtime(no_words_, nullptr, before) {}

  /// Coupled: the environment is a duplicate of `parent`, whose ranks all take part; MPI runs already and is not ended.
  template <class Communicator>
    requires std::constructible_from<environment_type, Communicator const&>
  runtime(int& argc, char** argv, Communicator const& parent)
      : session_(argc, argv, machine::thread_level::funneled, when_mpi_ends), environment_(parent) {
    begin(argc, argv, nullptr);
  }
  template <class Communicator>
    requires std::constructible_from<environment_type, Communicator const&>
  runtime(int& argc, char** argv, start<App> const& before, Communicator const& parent)
      : session_(argc, argv, before.thread_level(), when_mpi_ends), environment_(parent) {
    begin(argc, argv, &before);
  }
  /// Starts for a library inside a program that has started MPI: coupled, without a command line.
  template <class Communicator>
    requires std::constructible_from<environment_type, Communicator const&>
  runtime(start<App> const& before, Communicator const& parent) : runtime(no_words_, nullptr, before, parent) {}

  runtime(runtime const&) = delete;
  runtime& operator=(runtime const&) = delete;

  /// The one that runs, made last of those that live; throws if none does.
  [[nodiscard]] static runtime& here() {
    if (running_ == nullptr)
      throw error("here", "no runtime of this application runs", "it was not made yet, or has ended",
                  "Make a keel::runtime in main, and ask while it lives");
    return *running_;
  }

  ~runtime() {
    runtime** at = &running_; // others that were made later may live on
    while (*at != nullptr && *at != this) at = &(*at)->before_;
    if (*at != nullptr) *at = before_;
    residency::chosen_device<App> = running_ != nullptr ? running_->device_name() : std::string_view{};
    if (device::runtime_core::has_main_ended() && space::is_started()) {
      policy::print_line("keel::runtime: the runtime ends after main, and leaves Kokkos as it is (it is static, or "
                         "belongs to another thread). Make it in main, and return from main.");
      return;
    }
    if (core_.is_unwinding() && environment_.size() > 1) machine::abort_when_caught(environment_, error::latest());
    if (device::runtime_core::is_last()) space::stop();
    if (!core_.is_unwinding()) {
      auto const& limit = settings_.common.program.end_timeout;
      end_.wait(limit ? std::optional{std::chrono::seconds{*limit}} : std::nullopt,
                [] { return device::option_prefix(checked::prefix) + "end-timeout"; });
    }
  }

  /// Whether the options were asked for; they are printed by then, once a job, and the program should end.
  [[nodiscard]] bool help_requested() const { return settings_.common.program.help; }

  /// The knobs of one device of the list. A device that this build lacks has some that do nothing.
  template <class Tag>
  [[nodiscard]] decltype(auto) configuration() {
    if constexpr (policy::contains<devices, Tag>) {
      return (settings_.template of<Tag>());
    } else {
      static_assert(!supported<Tag>, "keel::runtime: this device is not in the policy's list (the program was not "
                                     "written for it). Add it to the list.");
      return device::absent_configuration{};
    }
  }
  /// Calls `f` with the configuration of the device called `name`; false if the list has none.
  template <class F>
  bool configuration(std::string_view name, F&& f) {
    return with_device<devices>(name, [&]<class Tag>(Tag) { f(settings_.template of<Tag>()); });
  }

  /// The program's own knobs, with their sources.
  [[nodiscard]] device::program_settings const& program() const { return settings_.common.program; }

  /// What `residency::fields` ask for: what is copied back for output that declares nothing, and what is logged.
  [[nodiscard]] residency::settings const& residency_settings() const { return settings_.common.program.residency; }

  /// The device that routines `on_device` run on: the first of the chain that was not disabled, as one without memory
  /// is.
  [[nodiscard]] std::string_view device_name() const {
    if constexpr (devices::size == 1) return core_.chain().front(); // without a tracker
    else return tracker().first();
  }
  /// The devices that this program may run on, the best first; `--keel-device=cuda,tbb` gives them.
  [[nodiscard]] std::span<std::string_view const> device_chain() const { return core_.chain(); }

  /// An instance of the space that runs the device's kernels. Starts Kokkos, and with it every device of the
  /// list, at the first call.
  template <class Tag>
  [[nodiscard]] auto execution_space() {
    static_assert(policy::contains<devices, Tag>,
                  "keel::runtime: this device is not in the policy's list, or this build "
                  "lacks it (it has no execution space). Ask keel::supported first.");
    start_devices();
    return typename device_traits<Tag>::execution_space{};
  }

  /// Starts Kokkos now, with the knobs as they stand and then the `--kokkos-…` that argv held; if the application
  /// has started it, only what is keel's own starts, and each knob that only Kokkos could have taken is reported.
  void start_devices() {
    bool const runs = space::is_started(), is_first = core_.configure(std::as_const(settings_).all(), runs);
    space::start<devices, App>(core_.for_kokkos());
    if (is_first) device::runtime_core::watch_main(); // after what Kokkos needs was made
    if (!runs && settings_.common.program.print_configuration == device::print_form::text && environment_.is_master())
      Kokkos::print_configuration(std::cout);
  }

  [[nodiscard]] environment_type& environment() { return environment_; }
  [[nodiscard]] environment_type const& environment() const { return environment_; }

  /// How many threads of a process may call MPI: what MPI granted, which may be less than was asked for.
  [[nodiscard]] machine::thread_level thread_level() const { return session_.level(); }

  /// What this node is made of; looked up at the first call.
  [[nodiscard]] topology::node const& node() const { return core_.node(); }

  /// One row for each knob: name, value, source.
  [[nodiscard]] std::vector<device::printed_knob> knobs() const {
    return device::printed_knobs(device::option_names_of<checked>(), settings_.common, settings_.all(), device_name());
  }

  /// Which devices may run now, for the calling thread; see keel/device/tracker.hpp.
  [[nodiscard]] device::tracker<runtime> tracker() const { return device::tracker<runtime>{*this}; }
  /// What `try_execute` ran where, and what failed why.
  [[nodiscard]] std::string summary() const { return tracker().summary(); }
  /// The runtimes of this program are counted from 1; and whether this is the thread that made this one.
  [[nodiscard]] std::size_t number() const { return core_.number(); }
  [[nodiscard]] bool is_own_thread() const { return core_.is_own_thread(); }

  /// What was set to no effect, or fitted to a device that cannot take it; it is said at the start, too.
  [[nodiscard]] std::vector<device::remark> const& remarks() const { return settings_.common.remarks(); }

private:
  void begin(int& argc, char** argv, start<App> const* before) {
    auto const all = settings_.all();
    auto const values = std::as_const(settings_).all();
    std::optional<decltype(before->settings().all())> values_before;
    if (before) values_before = before->settings().all();
    core_.begin({.rules = {device::option_names_of<checked>(),
                           device::candidates<devices, device::default_in<devices, checked>>, checked::is_strict,
                           checked::requires_device},
                 .ranks = device::program_ranks(environment_),
                 .common = settings_.common,
                 .devices = all,
                 .values = values,
                 .before = before ? &before->settings().common : nullptr,
                 .values_before = values_before ? std::span<device::device_knobs const>(*values_before)
                                                : std::span<device::device_knobs const>(),
                 .check_choices = &device::check_build_choices,
                 .session_fails = [](void* s) { static_cast<machine::session<ranks>*>(s)->fails_everywhere(); },
                 .session = &session_,
                 .kokkos_runs = space::is_started()},
                argc, argv);
    before_ = std::exchange(running_, this);
    residency::chosen_device<App> = device_name();
  }

  static constexpr auto when_mpi_ends = checked::ends_mpi ? machine::ending::with_session : machine::ending::at_exit;

  machine::session<ranks> session_;
  environment_type environment_;
  machine::finalize_barrier<ranks> end_{environment_};
  machine::as_default<ranks> default_{environment_};
  device::settings<devices> settings_;
  device::runtime_core core_;
  static inline runtime* running_ = nullptr;
  static inline int no_words_ = 0;
  runtime* before_ = nullptr;
};

/// The running program's configuration, from anywhere in it: `keel::here<app>().configuration<keel::tbb>()`. Throws
/// if nothing runs. Not to be asked while the runtime begins or ends on another thread.
template <class App>
[[nodiscard]] runtime<App>& here() {
  return runtime<App>::here();
}

} // namespace keel
