// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How `--keel-bind` is written.

#include <keel/device/parse.hpp>
#include <keel/device/values.hpp>

#include <string>
#include <string_view>

namespace keel::device {

/// The rule that `text` says; throws `keel::error`, which names `where` it was read.
[[nodiscard]] bind_rule parse_bind(origin const& where, std::string_view text);
/// As it is written.
[[nodiscard]] std::string bind_text(bind_rule const& rule);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/bind.hpp>
#endif
