// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The body of reading all knobs of a program.

#include <keel/device/config_file.hpp>
#include <keel/device/read.hpp>
#include <keel/device/reading.hpp>
#include <keel/policy/error.hpp>

#include <span>
#include <string>
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

KEEL_INLINE error error_of(std::string const& problem, int first, int rank) {
  error const told = problem.empty()
                         ? error("device", "the knobs of rank " + std::to_string(first) + " are wrong", "it says how")
                         : error::from_message(problem);
  return first == rank ? told : told.printed_elsewhere();
}

} // namespace keel::device
