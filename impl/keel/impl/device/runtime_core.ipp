// SPDX-License-Identifier: MIT
#include <keel/impl/device/runtime_core.hpp>
#include <keel/device/log.hpp>
#include <keel/impl/device/bound_rank.hpp>
#include <keel/impl/device/mapping.hpp>
#include <keel/impl/device/read.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/nearest.hpp>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>
#include <vector>

namespace keel::device {

namespace detail {
inline std::size_t last_number = 0;
inline std::atomic<int> living = 0;
inline std::atomic<bool> main_has_ended = false;

[[nodiscard]] inline std::string names_of(std::span<candidate const> all) {
  std::string text;
  for (auto const& c : all) text.append(text.empty() ? "" : ", ").append(c.name);
  return text;
}

/// The candidate called `name`. Refuses what is none.
[[nodiscard]] inline candidate const& named(std::span<candidate const> all, std::string const& name,
                                            std::string const& said) {
  for (auto const& c : all)
    if (policy::same_name(name, c.name)) return c;
  std::string const list = "its list of devices, less those that this build lacks, is " + names_of(all);
  for (auto const known : known_devices)
    if (policy::same_name(known, name))
      throw error("device", said + "this program was built without the device '" + name + "'", list,
                  "Take one of them");
  auto const near = policy::nearest(name, all, [](candidate const& c) { return c.name; });
  bool const is_near = policy::edit_distance(name, near) * 2 < near.size();
  throw error("device", said + "there is no device '" + name + "'", list,
              is_near ? "Did you mean " + std::string{near} : "Take one of them");
}

} // namespace detail

KEEL_INLINE std::vector<std::string_view> choose_devices(std::span<candidate const> all, std::string_view asked,
                                                         std::string const& said) {
  std::vector<std::string_view> chain;
  auto const add = [&](candidate const& c) {
    if (c.is_available() && std::find(chain.begin(), chain.end(), c.name) == chain.end()) chain.push_back(c.name);
  };
  if (policy::same_name(asked, "any")) {
    for (auto const& c : all) add(c);
  } else if (!asked.empty()) {
    for (std::size_t at = 0; at <= asked.size();) {
      std::size_t const end = std::min(asked.find(',', at), asked.size());
      add(detail::named(all, std::string{asked.substr(at, end - at)}, said));
      at = end + 1;
    }
  } else {
    candidate const* best = nullptr;
    for (auto const& c : all)
      if (c.is_available() && (best == nullptr || c.preference > best->preference)) best = &c;
    if (best != nullptr) add(*best);
    for (auto const& c : all) add(c);
  }
  if (!chain.empty()) return chain;
  auto const hint = [&](std::string const& other) { // a Kokkos that was built for cards does not start without one
    for (auto const& c : all)
      if (!c.visible_by.empty())
        return "Set " + std::string{c.visible_by} + " to the cards that this process may use, or unset it";
    return other;
  };
  if (asked.empty())
    throw error("device", "no device is available", "the list of devices is '" + detail::names_of(all) + "'",
                hint("Add keel::serial to it"));
  throw error("device", said + "the device '" + std::string{asked} + "' is not available",
              "it is compiled in, but none is here", hint("Take one of " + detail::names_of(all)));
}

// What was read beside the knobs.
struct read_words {
  std::vector<std::string_view> chain; // the devices that may run, the best first
  std::vector<std::string> for_kokkos; // every `--kokkos-…`, to be handed to Kokkos when it starts
  std::vector<char*> rest;             // the program's own, by the name it was started with
};

// Everything is parsed and checked before argv is touched, so that what is refused is whole.
inline read_words read_all(reading_rules const& rules, int argc, char* const* argv, common_settings& common,
                           std::span<changeable_knobs const> devices) {
  auto const& names = rules.names;
  if (!common.program.is_set(&program_settings::strict)) common.program.strict = rules.is_strict;
  auto variables = read_environment(names);
  auto taken = read_arguments(names, argc, argv);
  variables.knobs.insert(variables.knobs.end(), taken.knobs.begin(), taken.knobs.end());
  auto const all = with_config(names, common.program.config, std::move(variables.knobs));
  common.apply_to_program(all, names.has_ledger);
  auto const& program = common.program;
  if (rules.requires_device && !program.is_set(&program_settings::device) && !program.help)
    throw error("device", "no device was named", "this program does not choose one by itself",
                "Write " + option_prefix(names.prefix) + "device=" + std::string{names.devices.front()});
  auto chain = choose_devices(rules.candidates, program.device, last_said(all, facts("device")));
  common.apply_to_devices(devices, all, chain.front());
  common.remark_on_unknown(names, variables.unknown, taken.for_another);
  if (!program.help) common.check_remarks();
  read_words words;
  words.chain = std::move(chain), words.for_kokkos = std::move(taken.for_kokkos), words.rest = std::move(taken.rest);
  return words;
}

struct runtime_core::held {
  read_words words;
  kokkos_variables variables;
  placed_rank placed;
  own_node node;
  bool has_configured = false;
  int exceptions = std::uncaught_exceptions();
  pthread_t thread = ::pthread_self();
};

KEEL_INLINE runtime_core::runtime_core() : number_(++detail::last_number) { ++detail::living; }
KEEL_INLINE runtime_core::~runtime_core() { --detail::living; }
KEEL_INLINE bool runtime_core::is_last() { return detail::living == 1; }

KEEL_INLINE void runtime_core::begin(beginning const& with, int& argc, char** argv) try {
  auto const& [rules, ranks, common, devices, values, before, values_before, check_choices, session_fails, session,
               kokkos_runs] = with;
  auto const prefix = rules.names.prefix;
  held_ = std::make_unique<held>();
  set_log_speaker(ranks.is_master());
  std::string problem;
  read_words read;
  try {
    check_choices();
    if (before != nullptr) common.take(*before, devices, values_before);
    read = read_all(rules, argc, argv, common, devices);
  } catch (error const& e) {
    problem = e.what();
  }
  ranks.agree(problem, prefix, alike_knobs(common.program), session_fails, session);
  problem = held_->placed.go(ranks, prefix, common.program.bind, held_->node);
  ranks.agree(problem, prefix, {}, session_fails, session);
  held_->placed.note_places(ranks, common);
  leave_rest(read.rest, argc, argv);
  held_->words = std::move(read);
  auto const own = own_bits();
  auto const here = ranks.bytes_of_node(&own, sizeof own);
  propose(devices, here.rank, here.bytes, held_->placed, common.program, held_->node);
  if (!kokkos_runs) held_->variables.set(values);
  set_log_level(common.program.log_level);
  common.log_remarks(values);
  if (ranks.is_master()) print_start(rules.names, common, values, chain().front());
} catch (std::bad_alloc const&) {
  throw out_of_memory_error("runtime", "the program does not start", 0);
}

KEEL_INLINE bool runtime_core::configure(std::span<device_knobs const> devices, bool kokkos_runs) {
  if (std::exchange(held_->has_configured, true)) return false;
  configure_devices(devices, kokkos_runs, held_->words.for_kokkos);
  return true;
}
KEEL_INLINE std::vector<std::string> const& runtime_core::for_kokkos() const { return held_->words.for_kokkos; }
KEEL_INLINE std::span<std::string_view const> runtime_core::chain() const { return held_->words.chain; }
KEEL_INLINE topology::node const& runtime_core::node() const { return held_->node.get(); }
KEEL_INLINE bool runtime_core::is_own_thread() const { return ::pthread_equal(::pthread_self(), held_->thread) != 0; }
KEEL_INLINE bool runtime_core::is_unwinding() const { return std::uncaught_exceptions() > held_->exceptions; }
KEEL_INLINE void runtime_core::watch_main() {
  std::atexit([] { detail::main_has_ended = true; });
}
KEEL_INLINE bool runtime_core::has_main_ended() { return detail::main_has_ended; }

} // namespace keel::device
