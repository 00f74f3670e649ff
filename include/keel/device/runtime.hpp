// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The start and the end of a program: ranks, knobs and devices, in order, and in reverse.

#include <keel/device/bound_rank.hpp>
#include <keel/device/config_file.hpp>
#include <keel/device/consistency.hpp>
#include <keel/device/defaults.hpp>
#include <keel/device/help.hpp>
#include <keel/device/kokkos_variables.hpp>
#include <keel/device/log.hpp>
#include <keel/device/neighbours.hpp>
#include <keel/device/print.hpp>
#include <keel/device/settings.hpp>
#include <keel/device/start.hpp>
#include <keel/device/tracker.hpp>
#include <keel/machine.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/start.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace keel {

/// Long because it is what a program sees of keel, in one place.
///
/// One for each program, on the stack of `main`, alive as long as anything of keel's is used.
///
/// Starts MPI unless it runs, reads environment and command line, chooses the device; starts Kokkos at the first
/// use of a device. Ends in reverse what it started, and nothing else. Construction and destruction are collective
/// over all ranks. Errors of arguments are thrown on every rank, also on those whose own arguments were right.
/// Where an exception destroys it on more than one rank, `keel::report` aborts MPI with its message, because ending it
/// would hang the others; a thread does so where nothing is reported for two seconds. A rank that comes to the end long
/// before the others says so, and ends the job with `--keel-end-timeout`.
template <class App>
class runtime {
public:
  using application = App;
  using devices = typename device::checked_policy<App>::devices;
  using ranks = typename App::ranks;
  using environment_type = machine::basic_environment<ranks>;

  /// Standalone: the environment is the world.
  runtime(int& argc, char** argv) : session_(argc, argv, machine::thread_level::funneled, when_mpi_ends) {
    begin(argc, argv, nullptr);
  }
  runtime(int& argc, char** argv, start<App> const& before)
      : session_(argc, argv, before.thread_level(), when_mpi_ends) {
    begin(argc, argv, &before);
  }

  /// The same for a library, which has no command line; the environment counts.
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

  runtime(runtime const&) = delete;
  runtime& operator=(runtime const&) = delete;

  /// The one that runs, made last of those that live; throws where none does.
  [[nodiscard]] static runtime& here() {
    if (running_ == nullptr)
      throw error("here", "no runtime of this application runs", "it was not made yet, or has ended",
                  "Make a keel::runtime in main, and ask while it lives");
    return *running_;
  }

  ~runtime() {
    running_ = before_;
    if (main_has_ended_ && space::is_started()) {
      std::fputs("keel::runtime: the runtime ends after main, and leaves Kokkos as it is (it is static, or belongs to "
                 "another thread). Make it in main, and return from main?\n", stderr);
      return;
    }
    if (std::uncaught_exceptions() > exceptions_ && environment_.size() > 1)
      machine::abort_when_caught(environment_, error::latest());
    space::stop();
    if (std::uncaught_exceptions() == exceptions_) {
      auto const& limit = settings_.program.end_timeout;
      end_.wait(limit ? std::optional{std::chrono::seconds{*limit}} : std::nullopt,
                [] { return device::option_prefix(App::prefix) + "end-timeout"; });
    }
  }

  /// Whether the options were asked for; they are printed by then, once a job, and the program should end.
  [[nodiscard]] bool help_requested() const { return settings_.program.help; }

  /// The knobs of one device of the list. A device that this build lacks has some that do nothing.
  template <class Tag>
  [[nodiscard]] decltype(auto) configuration() {
    if constexpr (policy::contains<devices, Tag>) {
      return (settings_.template of<Tag>());
    } else {
      static_assert(!supported<Tag>, "keel::runtime: this device is not in the policy's list (the program was not "
                                     "written for it). Add it to the list?");
      return device::absent_configuration{};
    }
  }
  /// Calls `f` with the configuration of the device called `name`; false where the list has none.
  template <class F>
  bool configuration(std::string_view name, F&& f) {
    return with_device<devices>(name, [&]<class Tag>(Tag) { f(settings_.template of<Tag>()); });
  }

  /// The program's own knobs, with their sources.
  [[nodiscard]] device::program_settings const& program() const { return settings_.program; }

  /// What `residency::fields` ask for: what is copied back for output that declares nothing, and what is told.
  [[nodiscard]] residency::settings const& residency_settings() const { return settings_.program.residency; }

  /// The device that routines `on_device` run on.
  [[nodiscard]] std::string_view device_name() const { return chain_.front(); }
  /// The devices that this program may run on, the best first; `--keel-device=cuda,tbb` gives them.
  [[nodiscard]] std::span<std::string_view const> device_chain() const { return chain_; }

  /// An instance of the space that runs the device's kernels. Starts Kokkos, and with it every device of the
  /// list, at the first call.
  template <class Tag>
  [[nodiscard]] auto execution_space() {
    static_assert(policy::contains<devices, Tag>,
                  "keel::runtime: this device is not in the policy's list, or this build "
                  "lacks it (it has no execution space). Ask keel::supported first?");
    start_devices();
    return typename device_traits<Tag>::execution_space{};
  }

  /// Starts Kokkos now, with the knobs as they stand and then the `--kokkos-…` that argv held; where the application
  /// has started it, only what is keel's own starts, and each knob that Kokkos alone could have taken is told.
  void start_devices() {
    bool const runs = space::is_started(), is_first = !std::exchange(started_devices_, true);
    if (is_first) {
      if (runs) tell_of_late_knobs();
      for_each_device<devices>([&]<class Tag>(Tag) {
        if (auto const& c = settings_.template of<Tag>(); !c.is_running()) device_traits<Tag>::configure(c.values());
      });
    }
    space::start<devices, App>(kokkos_arguments_);
    if (is_first) std::atexit([] { main_has_ended_ = true; }); // then, what Kokkos needs is still to be destroyed
    if (!runs && settings_.program.print_configuration == device::print_form::text && environment_.is_master())
      Kokkos::print_configuration(std::cout);
  }

  [[nodiscard]] environment_type& environment() { return environment_; }
  [[nodiscard]] environment_type const& environment() const { return environment_; }

  /// How many threads of a process may call MPI: what MPI granted, which may be less than was asked for.
  [[nodiscard]] machine::thread_level thread_level() const { return session_.level(); }

  /// What this node is made of; looked up at the first call.
  [[nodiscard]] topology::node const& node() const {
    auto const& kept_in = settings_.program.topology_cache;
    if (!node_) node_.emplace(kept_in.empty() ? topology::node::here() : topology::node::here(kept_in));
    return *node_;
  }

  /// One row for each knob: name, value, source.
  [[nodiscard]] std::vector<device::printed_knob> knobs() const {
    return device::printed_knobs(device::option_names_of<App>(), settings_, device_name());
  }

  /// Which devices may run now, for the calling thread; see keel/device/tracker.hpp.
  [[nodiscard]] device::tracker<runtime> tracker() const { return device::tracker<runtime>{*this}; }
  /// What `try_execute` ran where, and what failed why.
  [[nodiscard]] std::string summary() const { return tracker().summary(); }
  /// The runtimes of this program are counted from 1; and whether this is the thread that made this one.
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] bool is_own_thread() const { return std::this_thread::get_id() == thread_; }

  /// What was set to no effect, or fitted to a device that cannot take it; it is said at the start, too.
  [[nodiscard]] std::vector<device::remark> const& remarks() const { return settings_.remarks(); }

private:
  void begin(int& argc, char** argv, start<App> const* before) {
    device::set_log_speaker(environment_.is_master());
    std::string problem;
    device::taken_arguments taken;
    try {
      device::check_build_choices();
      taken = read(argc, argv, before);
    } catch (error const& e) {
      problem = e.what();
    }
    agree(problem);
    auto const place = bind();
    taken.leave_rest(argc, argv);
    kokkos_arguments_ = std::move(taken.for_kokkos);
    neighbours_ = device::neighbours::of(environment_);
    neighbours_.place = place;
    for_each_device<devices>([&]<class Tag>(Tag) { propose<Tag>(); });
    if (!space::is_started()) leave_for_kokkos();
    device::set_log_level(settings_.program.log_level);
    before_ = std::exchange(running_, this);
    tell();
    if (!environment_.is_master()) return;
    if (help_requested())
      std::printf("Options of keel, and their variables:\n%s",
                  device::help_text(device::option_names_of<App>()).c_str());
    if (auto const form = settings_.program.print_configuration; form != device::print_form::off)
      std::fputs((form == device::print_form::json ? device::json(knobs()) : device::table(knobs())).c_str(), stdout);
    std::fflush(stdout);
  }

  /// Everything is parsed and checked before argv is touched, so that what is refused is whole.
  [[nodiscard]] device::taken_arguments read(int argc, char** argv, start<App> const* before) {
    if (before) settings_.take(before->settings());
    if (!settings_.program.is_set(device::knob::strict)) settings_.program.strict = App::is_strict;
    auto const names = device::option_names_of<App>();
    auto variables = device::read_environment(names);
    auto taken = device::read_arguments(names, argc, argv);
    variables.knobs.insert(variables.knobs.end(), taken.knobs.begin(), taken.knobs.end());
    auto const all = device::with_config(names, settings_.program.config, std::move(variables.knobs));
    settings_.apply_to_program(all, App::uses_ledger);
    if (App::requires_device && !settings_.program.is_set(device::knob::device) && !help_requested())
      throw error("device", "no device was named", "this program does not choose one by itself", "Write " +
                  device::option_prefix(App::prefix) + "device=" + std::string{names.devices.front()});
    chain_ = device::choose_devices<devices, device::default_in<devices, App>>(
        settings_.program.device, device::last_said(all, device::knob::device));
    settings_.apply_to_devices(all, device_name());
    settings_.remark_on_unknown(names, variables.unknown, taken.for_another);
    if (!help_requested()) settings_.check_remarks();
    return taken;
  }

  /// Tells, at the start, of settings that have no effect or are a mistake.
  void tell() {
    for (auto const& r : settings_.remarks())
      device::log(r.level, r.text + (r.mend.empty() ? "" : ". " + r.mend + "?"));
    for_each_device<devices>([&]<class Tag>(Tag) {
      for (auto const& row : device::all_knobs)
        if (auto const& c = settings_.template of<Tag>(); c.source(row.id) != device::source::unset)
          c.tell_of_excess(row.id);
    });
  }

  /// All ranks throw where one has a problem; the first that has one says it.
  void agree(std::string const& problem) {
    auto const good = machine::all_gather(environment_, static_cast<char>(problem.empty()));
    auto const first = std::find(good.begin(), good.end(), 0) - good.begin();
    if (first == static_cast<std::ptrdiff_t>(good.size())) return;
    session_.fails_everywhere();
    error const told = problem.empty()
                           ? error("device", "the knobs of rank " + std::to_string(first) + " are wrong", "it says how")
                           : error::from_message(problem);
    throw first == environment_.rank() ? told : told.told_elsewhere();
  }

  /// Binds every rank to its place, where that is asked for, and notes the places of this node. Asked for on some ranks
  /// alone it is an error on all.
  [[nodiscard]] std::optional<topology::placement> bind() {
    auto const& rule = settings_.program.bind;
    if (!machine::any_of(environment_, rule.place)) return std::nullopt;
    bool const all = machine::all_of(environment_, rule.place);
    std::optional<topology::placement> place;
    std::string problem;
    auto const here = environment_.node();
    auto allowed = device::allowed_together(here);
    try {
      if (!all) throw error("device", "some ranks are to be bound and others not", "each has its own environment",
                            "Give all the same " + device::option_prefix(App::prefix) + "bind");
      place = node().place(here.size(), device::placing_of(rule, std::move(allowed)))
          .at(static_cast<std::size_t>(here.rank()));
      bound_.emplace(node(), *place);
    } catch (error const& e) {
      problem = e.what();
    }
    agree(problem);
    for (auto const& line : machine::gather_texts(here, "rank " + std::to_string(environment_.rank()) +
                                                             " is bound to " + bound_->text(), 0))
      settings_.note(device::log_level::information, line);
    if (auto const* const name = device::bound_rank::openmp_variable())
      settings_.note(device::log_level::warning,
                     std::string{name} + " is set, so OpenMP binds its threads by itself, to what main started with",
                     "Unset it");
    return place;
  }

  /// An application that starts Kokkos itself, before a device is used through keel, finds the knobs in Kokkos'
  /// variables; what is keel's own is told already.
  void leave_for_kokkos() {
    space::settings proposed, said;
    for_each_device<devices>([&]<class Tag>(Tag) {
      auto const& c = settings_.template of<Tag>();
      if constexpr (device::is_started_by_kokkos<Tag>) {
        space::merge(proposed, c.values());
        space::merge(said, c.values(true));
      } else {
        device_traits<Tag>::configure(c.values());
      }
    });
    kokkos_variables_.set(proposed, said);
  }

  /// Names each knob that was set, and that Kokkos did not take because the application has started it.
  void tell_of_late_knobs() {
    constexpr auto because =
        " has no effect, because the application has started Kokkos. Use a device of keel's before?";
    for_each_device<devices>([&]<class Tag>(Tag) {
      for (auto const& name : settings_.template of<Tag>().lost())
        device::log(device::log_level::warning, name + because);
    });
    for (auto const& word : kokkos_arguments_) device::log(device::log_level::warning, word + because);
  }

  /// What keel takes where no knob is set.
  template <class Tag>
  void propose() {
    using traits = device_traits<Tag>;
    auto& c = settings_.template of<Tag>();
    if constexpr (traits::has_threads)
      c.propose(device::knob::threads, device::share_of_threads(traits::default_threads(), neighbours_.sharing_cores));
    if constexpr (traits::has_numa_regions) c.propose(device::knob::numa_regions, 1);
    if constexpr (traits::has_instances)
      if (auto const instance = device::mapped_instance<Tag>(
              neighbours_, settings_.program, [this]() -> auto const& { return node(); }))
        c.propose(device::knob::device_instance, *instance);
  }

  static constexpr auto when_mpi_ends = App::ends_mpi ? machine::ending::with_session : machine::ending::at_exit;

  machine::session<ranks> session_;
  environment_type environment_;
  machine::last_meeting<ranks> end_{environment_};
  machine::as_default<ranks> default_{environment_};
  device::settings<devices> settings_;
  std::vector<std::string> kokkos_arguments_;
  device::kokkos_variables kokkos_variables_;
  bool started_devices_ = false;
  std::vector<std::string_view> chain_;
  device::neighbours neighbours_;
  std::optional<device::bound_rank> bound_;
  mutable std::optional<topology::node> node_;
  int exceptions_ = std::uncaught_exceptions();
  std::thread::id thread_ = std::this_thread::get_id();
  std::size_t number_ = ++last_number_;
  static inline std::size_t last_number_ = 0;
  static inline runtime* running_ = nullptr;
  static inline std::atomic<bool> main_has_ended_ = false;
  static inline int no_words_ = 0;
  runtime* before_ = nullptr;
};

/// The running program's configuration, from anywhere in it: `keel::here<app>().configuration<keel::tbb>()`. Throws where
/// nothing runs. Not to be asked while the runtime begins or ends on another thread.
template <class App>
[[nodiscard]] runtime<App>& here() {
  return runtime<App>::here();
}

} // namespace keel
