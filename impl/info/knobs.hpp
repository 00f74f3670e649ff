// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The configuration of this process as rows of text, so that only knobs.cpp knows Kokkos.

#include <string>
#include <vector>

namespace keel::info {

/// One knob of one device, or of the program if `device` is empty.
struct knob_row {
  std::string option, variable, device, value, source, help;
};

/// One of the devices that keel was built with.
struct device_row {
  std::string name;
  bool available, chosen;
};

struct configuration {
  std::vector<knob_row> knobs; ///< a row for each device that has the knob
  std::vector<knob_row> known; ///< every knob, also those that no device of this build has; no values
  std::vector<device_row> devices;
  std::vector<std::string> without_effect; ///< sentences about what was set in vain, and why
  std::string help;                        ///< of keel's options
  bool help_was_printed = false;           ///< keel's own help was asked for
};

/// Takes keel's options out of the command line. Throws `keel::error` for a bad one.
configuration read_configuration(int& argc, char** argv);

} // namespace keel::info
