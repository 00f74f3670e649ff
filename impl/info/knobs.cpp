// SPDX-License-Identifier: MIT
#include "knobs.hpp"

#include <keel/device.hpp>
#include <keel/policy.hpp>

#include <utility>

namespace keel::info {

namespace {

struct app : defaults {
  using ranks = machine::alone; // shows one process, and starts no MPI
  static constexpr bool uses_ledger = true;
};

} // namespace

configuration read_configuration(int& argc, char** argv) {
  runtime<app> run{argc, argv};
  configuration found;
  for (auto& row : run.knobs())
    found.knobs.push_back({std::move(row.option),
                           std::move(row.variable),
                           std::move(row.device),
                           std::move(row.value),
                           std::string{device::name(row.from)},
                           {}});
  for (auto const& known : device::all_knobs) {
    found.known.push_back({device::option_prefix(app::prefix) + std::string{known.option},
                           device::variable_name(app::prefix, known.option),
                           {},
                           {},
                           {},
                           std::string{known.help}});
  }
  for_each_device<app::devices>([&]<class Tag>(Tag) {
    found.devices.push_back({std::string{Tag::name}, available<Tag>(), Tag::name == run.device_name()});
  });
  for (auto const& r : run.remarks())
    if (r.level == device::log_level::warning)
      found.without_effect.push_back(r.text + ". " + policy::as_sentence(r.hint));
  found.help_was_printed = run.help_requested();
  found.help = device::help_text<app>();
  return found;
}

} // namespace keel::info
