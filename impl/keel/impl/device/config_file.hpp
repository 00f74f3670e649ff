// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Taking knobs out of a file.
///
///     # a comment, on a line of its own
///     device = cuda,serial
///     num-threads = 4
///
///     [tbb]
///     num-threads = 2
///
/// A line holds a knob, by the name of its option without dashes and prefix, and its value. A section holds those of
/// one device.

#include <keel/impl/device/option_names.hpp>
#include <keel/impl/device/read.hpp>
#include <keel/policy/macros.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// The knobs that `text` holds; `path` names it in messages. Refuses what is no knob and a knob that is set twice, with
/// the line; values are not parsed here.
[[nodiscard]] std::vector<assignment> parse_config(option_names const& names, std::string const& path,
                                                   std::string_view text);

/// The knobs of the file that `all` names, the last of them where there are several, else `proposed`; those of `all`
/// stand after them. Without a file `all` as it is.
[[nodiscard]] std::vector<assignment> with_config(option_names const& names, std::string const& proposed,
                                                  std::vector<assignment> all);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/config_file.ipp>
#endif
