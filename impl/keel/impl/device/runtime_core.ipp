// SPDX-License-Identifier: MIT
#include <keel/impl/device/runtime_core.hpp>
#include <keel/impl/device/rank_place.hpp>
#include <keel/impl/device/read.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/nearest.hpp>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
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

KEEL_INLINE std::vector<char> program_ranks::bytes_of_all(void const* mine, std::size_t bytes) const {
  std::vector<char> all;
  gather_(environment_, false, {mine, bytes}, all);
  return all;
}
KEEL_INLINE program_ranks::on_node program_ranks::bytes_of_node(void const* mine, std::size_t bytes) const {
  on_node here;
  here.rank = gather_(environment_, true, {mine, bytes}, here.bytes);
  return here;
}

// What is wrong if ranks did not give the same knobs; `texts` has those of each rank, all of one length.
inline std::string disagreement(std::span<char const> texts, std::size_t length, std::string_view prefix) {
  auto const text_of = [&](std::size_t rank) { return std::string_view(texts.data() + rank * length, length); };
  std::string_view const first = text_of(0);
  std::size_t rank = 1;
  while (text_of(rank) == first && (rank + 1) * length < texts.size()) ++rank;
  auto const differs = std::mismatch(first.begin(), first.end(), text_of(rank).begin()).first - first.begin();
  std::size_t const begin = first.rfind('\0', std::size_t(differs) - 1) + 1, value = first.find('=', begin) + 1;
  auto const value_on = [&](std::size_t r) {
    return std::string(text_of(r).substr(value, text_of(r).find('\0', value) - value)) + " on rank " +
           std::to_string(r);
  };
  return error::message(
      "device", "ranks do not agree on " + option_prefix(prefix) + std::string(first.substr(begin, value - 1 - begin)),
      value_on(0) + ", " + value_on(rank), "Give it the same value on every rank");
}

// What `rank` throws if `first` is the first rank that has a problem; its own is empty on others.
inline error error_of(std::string const& problem, int first, int rank) {
  error const told = problem.empty()
                         ? error("device", "the knobs of rank " + std::to_string(first) + " are wrong", "it says how")
                         : error::from_message(problem);
  return first == rank ? told : told.printed_elsewhere();
}

KEEL_INLINE void program_ranks::agree(std::string problem, std::string_view prefix, std::string alike,
                                      void (*session_fails)(void* session), void* session) const {
  std::size_t const mine = problem.empty() ? std::hash<std::string>{}(alike) | 1 : 0;
  auto const bytes = bytes_of_all(&mine, sizeof mine);
  std::vector<std::size_t> all(bytes.size() / sizeof mine);
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  auto bad = std::find(all.begin(), all.end(), std::size_t{0});
  if (bad == all.end()) {
    if (std::count(all.begin(), all.end(), mine) == std::ptrdiff_t(all.size())) return;
    alike.resize(1024);
    problem = disagreement(bytes_of_all(alike.data(), alike.size()), alike.size(), prefix);
    bad = all.begin();
  }
  session_fails(session);
  throw error_of(problem, int(bad - all.begin()), rank_);
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
