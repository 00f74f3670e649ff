// SPDX-License-Identifier: MIT
#include <keel/impl/device/reading.hpp>
#include <keel/impl/device/config_file.hpp>
#include <keel/impl/device/read.hpp>
#include <keel/impl/device/table.hpp>

#include <algorithm>
#include <utility>

namespace keel::device {

KEEL_INLINE read_words::read_words() = default;
KEEL_INLINE read_words::read_words(read_words&&) noexcept = default;
KEEL_INLINE read_words& read_words::operator=(read_words&&) noexcept = default;
KEEL_INLINE read_words::~read_words() = default;

KEEL_INLINE read_words read_all(reading_rules const& rules, int argc, char* const* argv, common_settings& common,
                                std::span<changeable_knobs const> devices) {
  auto const& names = rules.names;
  if (!common.program.is_set(knob::strict)) common.program.strict = rules.is_strict;
  auto variables = read_environment(names);
  auto taken = read_arguments(names, argc, argv);
  variables.knobs.insert(variables.knobs.end(), taken.knobs.begin(), taken.knobs.end());
  auto const all = with_config(names, common.program.config, std::move(variables.knobs));
  common.apply_to_program(all, names.has_ledger);
  auto const& program = common.program;
  if (rules.requires_device && !program.is_set(knob::device) && !program.help)
    throw error("device", "no device was named", "this program does not choose one by itself",
                "Write " + option_prefix(names.prefix) + "device=" + std::string{names.devices.front()});
  auto chain = choose_devices(rules.candidates, program.device, last_said(all, knob::device));
  common.apply_to_devices(devices, all, chain.front());
  common.remark_on_unknown(names, variables.unknown, taken.for_another);
  if (!program.help) common.check_remarks();
  read_words words;
  words.chain = std::move(chain), words.for_kokkos = std::move(taken.for_kokkos), words.rest = std::move(taken.rest);
  return words;
}

// option=value, each with a zero after it.
KEEL_INLINE std::string alike_knobs(program_settings const& program) {
  std::string all;
  for (knob_facts const& k : all_knobs)
    if (k.is_alike) all.append(k.option).append(1, '=').append(k.of_program->show(program)).append(1, '\0');
  return all;
}

KEEL_INLINE std::string disagreement(std::span<char const> texts, std::size_t length, std::string_view prefix) {
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

KEEL_INLINE error error_of(std::string const& problem, int first, int rank) {
  error const told = problem.empty()
                         ? error("device", "the knobs of rank " + std::to_string(first) + " are wrong", "it says how")
                         : error::from_message(problem);
  return first == rank ? told : told.printed_elsewhere();
}

} // namespace keel::device
