// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How `--keel-bind` is written.

#include <keel/impl/device/parse.hpp>
#include <keel/device/values.hpp>

#include <string>
#include <string_view>

namespace keel::device {

/// The rule that `text` says; throws `keel::error`, which names `where` it was read.
[[nodiscard]] bind_rule parse_bind(origin const& where, std::string_view text);
/// As it is written.
[[nodiscard]] std::string bind_text(bind_rule const& rule);

} // namespace keel::device

#if KEEL_BODIES

#include <keel/policy/error.hpp>

#include <algorithm>

namespace keel::device {

KEEL_INLINE bind_rule parse_bind(origin const& where, std::string_view text) {
  bind_rule rule;
  auto rest = text.substr(std::min(text.find(','), text.size()));
  rule.place = parse_word(where, text.substr(0, text.size() - rest.size()), {"none", "place"}) == 1;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    auto const word = rest.substr(0, rest.find(',')), name = word.substr(0, word.find('='));
    rest.remove_prefix(word.size());
    bool const has_value = name.size() < word.size();
    auto const value = has_value ? word.substr(name.size() + 1) : std::string_view{"yes"};
    std::string const at = where + ": " + std::string{name};
    if (!rule.place || (name != "smt" && name != "gpu" && name != "greedy"))
      throw error("device", where + "='" + std::string{text} + "' is not a value for this knob",
                  rule.place ? "there is no option '" + std::string{name} + "'" : "none has no options",
                  "Write place, with smt=N, gpu or greedy=no behind commas");
    if (name == "smt") rule.smt = parse_number(at, has_value ? value : std::string_view{}, 1);
    else (name == "gpu" ? rule.gpu : rule.greedy) = parse_flag(at, value);
  }
  return rule;
}

KEEL_INLINE std::string bind_text(bind_rule const& rule) {
  if (!rule.place) return "none";
  return "place" + (rule.smt > 0 ? ",smt=" + std::to_string(rule.smt) : "") + (rule.gpu ? ",gpu" : "") +
         (rule.greedy ? "" : ",greedy=no");
}

} // namespace keel::device

#endif
