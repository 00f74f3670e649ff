// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How `--keel-bind` says that ranks are bound.

#include <keel/device/kinds.hpp>
#include <keel/device/parse.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace keel::device {

/// What `--keel-bind` asks for: `none`, or `place` and options behind commas, which are mpibind's.
///
/// | option | what it does |
/// |---|---|
/// | `smt=N` | N hardware threads of each core; without it all |
/// | `gpu` | ranks on the cores near each GPU |
/// | `greedy=no` | ranks that are fewer than the memories have cores near one memory each |
struct bind_rule {
  bool place = false;
  int smt = 0; ///< 0 is all
  bool gpu = false, greedy = true;

  friend bool operator==(bind_rule const&, bind_rule const&) = default;
};

[[nodiscard]] inline bind_rule parse_bind(origin const& where, std::string_view text) {
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

[[nodiscard]] inline std::string bind_text(bind_rule const& rule) {
  if (!rule.place) return "none";
  return "place" + (rule.smt > 0 ? ",smt=" + std::to_string(rule.smt) : "") + (rule.gpu ? ",gpu" : "") +
         (rule.greedy ? "" : ",greedy=no");
}

namespace kinds {
inline constexpr kind<bind_rule> bind{"HOW", parse_bind, bind_text};
} // namespace kinds

} // namespace keel::device
