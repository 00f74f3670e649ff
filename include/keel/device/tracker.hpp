// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which devices may run now: said by the program, by scope and thread, and found out when one fails.

#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/tags.hpp>
#include <keel/space/devices.hpp>

#include <array>
#include <bitset>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace keel::device {

/// Stands for a device that is given by its name: `force{"cuda"}`.
struct by_name;

namespace detail {
template <class Tag>
struct named_device {
  static constexpr std::string_view name = Tag::name;
};
template <>
struct named_device<by_name> {
  std::string_view name;
};
} // namespace detail

/// What a tracker is set to: only one device, not this one, this one again, or as at the start.
template <class Tag = by_name>
struct force : detail::named_device<Tag> {};
template <class Tag = by_name>
struct disable : detail::named_device<Tag> {};
template <class Tag = by_name>
struct enable : detail::named_device<Tag> {};
struct reset {};
force(std::string_view) -> force<by_name>;
disable(std::string_view) -> disable<by_name>;
enable(std::string_view) -> enable<by_name>;

/// The devices of a runtime that may run, for the calling thread.
///
/// At first those of `--keel-device`, or all that are here. A thread starts with what the runtime's own thread has when
/// the other first asks; from there on it is on its own. A program that never asks has nothing of this.
template <class Run>
class tracker {
public:
  using devices = typename Run::devices;
  /// One bit for each device of the list.
  using allowed_devices = std::bitset<policy::size<devices>>;

  explicit tracker(Run const& run) : run_(&run) {}

  /// Whether the device may be used; false for one that is not in the list or not here.
  template <class Tag>
  [[nodiscard]] bool can_run() const {
    if constexpr (policy::contains<devices, Tag>) return mine().allowed.test(policy::index_of<devices, Tag>);
    else return false;
  }
  [[nodiscard]] bool can_run(std::string_view name) const {
    bool can = false;
    with_device<devices>(name, [&]<class Tag>(Tag) { can = can_run<Tag>(); });
    return can;
  }

  template <class Tag>
  void say(device::force<Tag> const& what) {
    set(allowed_devices{}.set(index_of(what.name, true)));
  }
  template <class Tag>
  void say(device::disable<Tag> const& what) {
    set(mine().allowed.reset(index_of(what.name, false)));
  }
  template <class Tag>
  void say(device::enable<Tag> const& what) {
    set(mine().allowed.set(index_of(what.name, true)));
  }
  void say(device::reset) { set(at_start()); }

  template <policy::DeviceTag Tag>
  void force(Tag = {}) {
    say(device::force<Tag>{});
  }
  template <policy::DeviceTag Tag>
  void disable(Tag = {}) {
    say(device::disable<Tag>{});
  }
  template <policy::DeviceTag Tag>
  void enable(Tag = {}) {
    say(device::enable<Tag>{});
  }
  void force(std::string_view name) { say(device::force<>{{name}}); }
  void disable(std::string_view name) { say(device::disable<>{{name}}); }
  void enable(std::string_view name) { say(device::enable<>{{name}}); }
  void reset() { say(device::reset{}); }

  /// The first device of the run's chain that may run; the first of all if none may, or nothing was said or found
  /// out.
  [[nodiscard]] std::string_view first() const {
    auto const chain = run_->device_chain();
    bool const is_in_use = [&] {
      std::lock_guard const lock(shared().mutex);
      return shared().runtime == run_->number();
    }();
    for (auto const name : chain)
      if (is_in_use && can_run(name)) return name;
    return chain.front();
  }

  /// Disables the device and keeps the reason for `summary()`.
  template <class Tag>
  void report_failure(Tag, std::string reason) {
    if (can_run<Tag>()) say(device::disable<Tag>{});
    std::lock_guard const lock(shared().mutex);
    auto& own = shared().history[policy::index_of<devices, Tag>];
    ++own.failures;
    own.reason = std::move(reason);
  }
  /// Counts a piece of work that the device has done.
  template <class Tag>
  void report_success(Tag) {
    (void)mine(); // of this runtime
    std::lock_guard const lock(shared().mutex);
    ++shared().history[policy::index_of<devices, Tag>].runs;
  }

  /// What may run on this thread, to be handed to another one.
  [[nodiscard]] allowed_devices allowed() const { return mine().allowed; }
  void set(allowed_devices const& what) {
    mine().allowed = what;
    if (!is_own_thread()) return;
    std::lock_guard const lock(shared().mutex);
    shared().allowed = what;
  }

  /// One line for each device: how often work ran there, how often it failed and why at last, and whether it may run
  /// now.
  [[nodiscard]] std::string summary() const {
    auto const& here = mine();
    std::lock_guard const lock(shared().mutex);
    std::string text;
    for_each_device<devices>([&]<class Tag>(Tag) {
      constexpr std::size_t at = policy::index_of<devices, Tag>;
      auto const& own = shared().history[at];
      text += std::string{Tag::name} + ": ran " + policy::counted(std::int64_t(own.runs), "time") + ", failed " +
              policy::counted(std::int64_t(own.failures), "time");
      if (own.failures > 0) text += " (" + own.reason + ")";
      text += here.allowed.test(at) ? ", may run\n" : available<Tag>() ? ", may not run\n" : ", is not here\n";
    });
    return text;
  }

private:
  struct history_of_device {
    std::size_t runs = 0, failures = 0;
    std::string reason;
  };
  struct all_threads {
    std::mutex mutex;
    std::size_t runtime = 0;
    allowed_devices allowed;
    std::array<history_of_device, policy::size<devices>> history;
  };
  struct one_thread {
    std::size_t runtime = 0;
    allowed_devices allowed;
  };

  static all_threads& shared() {
    static all_threads one;
    return one;
  }
  [[nodiscard]] bool is_own_thread() const { return run_->is_own_thread(); }
  [[nodiscard]] allowed_devices at_start() const {
    allowed_devices all;
    for (auto const name : run_->device_chain()) all.set(index_of(name, false));
    return all;
  }
  /// The answers for the calling thread; begun anew for each runtime.
  one_thread& mine() const {
    static thread_local one_thread here;
    if (here.runtime == run_->number()) return here;
    std::lock_guard const lock(shared().mutex);
    if (shared().runtime != run_->number()) {
      shared().runtime = run_->number();
      shared().allowed = at_start();
      shared().history = {};
    }
    here = {run_->number(), shared().allowed};
    return here;
  }

  static std::size_t index_of(std::string_view name, bool shall_run) {
    std::size_t at = 0;
    bool const is_known = with_device<devices>(name, [&]<class Tag>(Tag) {
      at = policy::index_of<devices, Tag>;
      if (shall_run && !available<Tag>())
        throw error("device::tracker", "the device '" + std::string{name} + "' cannot run",
                    "it is compiled in, but none is here", "Ask keel::available first");
    });
    if (!is_known)
      throw error("device::tracker", "there is no device '" + std::string{name} + "' in this program",
                  "its list of devices, less those that this build lacks, is " + policy::names<devices>(),
                  "Take one of them");
    return at;
  }

  Run const* run_;
};

/// What is said to the calling thread's tracker holds until the end of the scope; then everything is as it was before,
/// whatever was said or found out in between. `scoped_tracker t{run, force<keel::cuda>{}}`.
template <class Run>
class scoped_tracker {
public:
  template <class... What>
  explicit scoped_tracker(Run const& run, What const&... what) : tracker_(run), before_(tracker_.allowed()) {
    (tracker_.say(what), ...);
  }
  /// Begins with what another thread may run.
  scoped_tracker(Run const& run, typename tracker<Run>::allowed_devices const& allowed)
      : tracker_(run), before_(tracker_.allowed()) {
    tracker_.set(allowed);
  }
  scoped_tracker(scoped_tracker const&) = delete;
  scoped_tracker& operator=(scoped_tracker const&) = delete;
  ~scoped_tracker() { tracker_.set(before_); }

private:
  tracker<Run> tracker_;
  typename tracker<Run>::allowed_devices before_;
};

} // namespace keel::device
