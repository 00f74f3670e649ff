// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The knobs that a file holds, in whatever form it is written.

#include <keel/impl/device/read.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/impl/device/find_knob.hpp>
#include <keel/policy/error.hpp>

#include <string>
#include <utility>
#include <vector>

namespace keel::device::detail {

/// Collects them. Refuses what is no knob and a knob that is set twice, in words that begin with the place.
class file_knobs {
public:
  explicit file_knobs(option_names const& names) : names_(names) {}

  /// Throws where there is no such device.
  void check_section(std::string const& at, std::string const& device) const {
    if (!is_device(device, names_))
      throw error("device", at + "there is no device '" + device + "'", "a section holds the knobs of one device",
                  "Write a device, as in [serial]");
  }

  /// The knob `key`, of `device` where that is not empty. `at` is the place in the file.
  void add(std::string const& at, std::string const& device, std::string const& key, std::string value) {
    auto const known = find_knob(device.empty() ? key : device + "-" + key, names_);
    if (!known)
      throw error("device", at + "unknown knob '" + key + "'" + (device.empty() ? "" : " of " + device),
                  device.empty() ? "no knob has this name" : "no device has a knob of this name",
                  "Did you mean " + std::string{nearest_option(key)});
    if (known->row->id == knob::config)
      throw error("device", at + "a configuration file names another one", "only one is read",
                  "Name that one with " + option_prefix(names_.prefix) + key);
    for (auto const& before : found)
      if (before.id == known->row->id && before.device == known->device)
        throw error("device", at + key + " is set twice", before.where + " is the first", "Remove one");
    if (auto one = known->assign(std::move(value), at + key, source::file)) found.push_back(std::move(*one));
  }

  std::vector<assignment> found;

private:
  option_names const& names_;
};

} // namespace keel::device::detail
