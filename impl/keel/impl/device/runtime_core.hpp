// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a runtime does and holds whatever its application is, and its ranks without their type; compiled once.

#include <keel/device/print.hpp>
#include <keel/impl/device/common_settings.hpp>
#include <keel/impl/device/device_knobs.hpp>
#include <keel/machine/environment.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::topology {
class node;
}

namespace keel::device {

/// The ranks of an environment, which has to live on. All calls are collective.
class program_ranks {
public:
  template <class R>
  explicit program_ranks(machine::basic_environment<R> const& all)
      : environment_(&all), gather_(&gather<R>), rank_(all.rank()), is_master_(all.is_master()) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] bool is_master() const { return is_master_; }
  /// The bytes of all of them, of each equally many; none if this process is not one of them.
  [[nodiscard]] std::vector<char> bytes_of_all(void const* mine, std::size_t bytes) const;
  /// The bytes of the ranks of this node, and which of them this one is.
  struct on_node {
    std::vector<char> bytes;
    int rank;
  };
  [[nodiscard]] on_node bytes_of_node(void const* mine, std::size_t bytes) const;
  /// Throws on all ranks if one reports a problem, after `session_fails`; only the first such rank prints it. Knobs
  /// `alike` that differ between ranks are a problem, too.
  void agree(std::string problem, std::string_view prefix, std::string alike, void (*session_fails)(void* session),
             void* session) const;

private:
  struct message {
    void const* mine;
    std::size_t bytes;
  };
  template <class R>
  static int gather(void const* environment, bool of_node, message const& what, std::vector<char>& all);

  void const* environment_;
  int (*gather_)(void const* environment, bool of_node, message const& what, std::vector<char>& all);
  int rank_;
  bool is_master_;
};

template <class R>
int program_ranks::gather(void const* environment, bool of_node, message const& what, std::vector<char>& all) {
  auto const& ranks = *static_cast<machine::basic_environment<R> const*>(environment);
  if (of_node) {
    auto const here = ranks.node();
    return gather<R>(&here, false, what, all);
  }
  all.resize(what.bytes * std::size_t(ranks.size()));
  if (ranks.is_member()) R::all_gather(ranks.communicator(), what.mine, all.data(), what.bytes);
  return ranks.rank();
}

/// A device that may be chosen.
struct candidate {
  std::string_view name;
  bool (*is_available)();
  int preference;
  std::string_view visible_by = {}; ///< the variable that says which cards a process sees
};

/// The devices that this program may run on, the best first; routines `on_device` run on the first. Those that were
/// `asked` for and are available: names with commas between them, in any case, or `any`, which is the whole list. Else
/// the one with the highest preference, and after it the others in the order of the list. Refuses what is no device of
/// this program, in words that begin with how it was `said`, and throws if no device is available.
[[nodiscard]] std::vector<std::string_view> choose_devices(std::span<candidate const> all, std::string_view asked,
                                                           std::string const& said);

/// What the reading of knobs needs of an application policy.
struct reading_rules {
  option_names names;
  std::span<candidate const> candidates;
  bool is_strict, requires_device;
};

/// What a runtime has beside the types of its application.
class runtime_core {
public:
  /// What it starts with: the knobs are read into `common` and `devices`, after those of code.
  struct beginning {
    reading_rules rules;
    program_ranks ranks;
    common_settings& common;
    std::span<changeable_knobs const> devices;
    std::span<device_knobs const> values; ///< of the devices
    common_settings const* before;        ///< null without code before the start
    std::span<device_knobs const> values_before;
    void (*check_choices)(); ///< throws if two sources of the program were compiled differently
    void (*session_fails)(void* session);
    void* session;
    bool kokkos_runs;
  };
  runtime_core();
  runtime_core(runtime_core const&) = delete;
  runtime_core& operator=(runtime_core const&) = delete;
  ~runtime_core();

  void begin(beginning const& with, int& argc, char** argv);
  /// Tells the devices their knobs, once; true that time.
  bool configure(std::span<device_knobs const> devices, bool kokkos_runs);
  [[nodiscard]] std::vector<std::string> const& for_kokkos() const;
  [[nodiscard]] std::span<std::string_view const> chain() const;
  [[nodiscard]] topology::node const& node() const;
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] bool is_own_thread() const;
  /// Whether no other runtime of the program lives, of any application.
  [[nodiscard]] static bool is_last();
  /// Whether an exception ends the runtime.
  [[nodiscard]] bool is_unwinding() const;
  /// From now on it is known whether `main` has ended: until then, what Kokkos needs is there.
  static void watch_main();
  [[nodiscard]] static bool has_main_ended();

private:
  struct held;
  std::unique_ptr<held> held_;
  std::size_t number_;
};

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/runtime_core.ipp>
#endif
