// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How the programs on keel start and end.

#include "command_line.hpp"

#include <keel/impl/store/stored_file.hpp>
#include <keel/impl/store/whole_file.hpp>
#include <keel/keel.hpp>

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace bench {

/// Throws if standard output does not have all that was printed.
inline void check_printed(std::string_view program) {
  if (auto const failure = keel::policy::flush_standard_output())
    throw refusal(program, "standard output cannot be written", failure.why, "Make room for it");
}

/// Throws if a folder for output is named, and no file of HDF5 can be made.
inline void check_output(std::string_view program, std::string const& folder) {
  if (!folder.empty() && !keel::residency::detail::has_hdf5())
    throw refusal(program, folder + " gets no output", "this build of keel has no HDF5",
                  "Build it with -Dhdf5=enabled, or write none");
}

/// The main of `program`: calls `run(runtime, options)` unless help is wanted; `read` makes options of the arguments.
template <class App>
int start(std::string_view program, int argc, char** argv, char const* help, auto const& read, auto const& run) try {
  keel::runtime<App> runtime{argc, argv};
  bool const is_master = runtime.environment().is_master();
  try {
    auto const options = read({argv + 1, std::size_t(argc - 1)});
    if (options.help && is_master) std::printf("%s  --keel-help       the options of keel\n", help);
    if (!options.help && !runtime.help_requested()) run(runtime, options);
    check_printed(program);
    return 0;
  } catch (refusal const& e) { // thrown on all ranks
    if (is_master) keel::policy::print_line(e.what());
    return refusal::code;
  }
} catch (std::exception const& e) {
  return keel::report(e);
}

} // namespace bench
