// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What values of knobs look like: how text becomes one, strictly, and how one is shown.

#include <keel/impl/device/parse.hpp>
#include <keel/device/values.hpp>
#include <keel/policy/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keel::device::kinds {

/// A kind of values. `parse` throws `keel::error`, which names the origin, the text and the reason.
template <class Value>
struct kind {
  std::string_view placeholder; ///< as in `knob_facts`
  Value (*parse)(origin const& where, std::string_view text);
  std::string (*show)(Value const& value);
};

inline std::string whole(std::int64_t const& n) { return std::to_string(n); }
inline std::string as_it_is(std::string const& text) { return text; }
inline std::string of_bytes(std::int64_t const& bytes) { return size_text(bytes); }

/// A whole number from 1 on, and from 0 on.
inline constexpr kind<std::int64_t> count{
    "N", [](origin const& w, std::string_view t) -> std::int64_t { return parse_number(w, t, 1); }, whole};
inline constexpr kind<std::int64_t> index{
    "I", [](origin const& w, std::string_view t) -> std::int64_t { return parse_number(w, t, 0); }, whole};
/// Bytes, with K, M or G.
inline constexpr kind<std::int64_t> size{"BYTES", parse_size, of_bytes};
/// As many as there are, or a whole number from 1 on.
inline constexpr kind<std::optional<int>> limit{
    "N",
    [](origin const& w, std::string_view t) {
      return t == "all" ? std::nullopt : std::optional{parse_number(w, t, 1, ", or all")};
    },
    [](std::optional<int> const& n) { return n ? std::to_string(*n) : std::string{"all"}; }};
/// How often something happens, or never.
inline constexpr kind<std::optional<int>> period{
    "N", parse_period, [](std::optional<int> const& n) { return n ? std::to_string(*n) : std::string{"never"}; }};
/// Seconds, with m or h for minutes or hours; or never.
inline constexpr kind<std::optional<int>> duration{"TIME", parse_duration, [](std::optional<int> const& n) {
                                                     return n ? std::to_string(*n) + "s" : std::string{"never"};
                                                   }};
/// Yes or no, and the same as a switch.
inline constexpr kind<bool> yes_no{"yes|no", parse_flag,
                                   [](bool const& yes) { return std::string{yes ? "yes" : "no"}; }};
inline constexpr kind<std::int64_t> switched{
    "yes|no", [](origin const& w, std::string_view t) -> std::int64_t { return parse_flag(w, t) ? 1 : 0; },
    [](std::int64_t const& yes) { return std::string{yes != 0 ? "yes" : "no"}; }};
inline constexpr kind<bool> flag{"", parse_flag, [](bool const& on) { return std::string{on ? "on" : "off"}; }};
inline constexpr kind<print_form> form{
    "[=json]",
    [](origin const& w, std::string_view t) {
      int const word = parse_word(w, t, {"json", "text", "1", "true", "on", "yes", "0", "false", "off", "no"});
      return word == 0 ? print_form::json : word < 6 ? print_form::text : print_form::off;
    },
    [](print_form const& f) {
      return std::string{f == print_form::off ? "off" : f == print_form::json ? "json" : "text"};
    }};
/// Names with blanks or commas between them, perhaps none.
inline constexpr kind<std::string> names{
    "NAMES", [](origin const&, std::string_view t) { return std::string{t == "none" ? "" : t}; },
    [](std::string const& all) { return all.empty() ? std::string{"none"} : all; }};

[[nodiscard]] inline std::string parse_given(origin const& where, std::string_view text, char const* what,
                                             std::string const& hint) {
  if (text.empty()) throw error("device", where + " is empty", std::string{"it names a "} + what, hint);
  return std::string{text};
}
inline constexpr kind<std::string> device{
    "NAME", [](origin const& w, std::string_view t) { return parse_given(w, t, "device", "Write " + w + "=serial"); },
    as_it_is};
inline constexpr kind<std::string> file{
    "NAME", [](origin const& w, std::string_view t) { return parse_given(w, t, "file", "Write " + w + "=NAME"); },
    [](std::string const& name) { return name.empty() ? std::string{"none"} : name; }};
/// One of the program's trackings; empty for the first.
inline constexpr kind<std::string> tracking{
    "NAME",
    [](origin const& w, std::string_view t) { return parse_given(w, t, "tracking", "Write " + w + "=checked"); },
    [](std::string const& name) { return name.empty() ? std::string{"the first"} : name; }};
/// One of the program's transports, or `measured`.
inline constexpr kind<std::string> transport{
    "NAME",
    [](origin const& w, std::string_view t) { return parse_given(w, t, "transport", "Write " + w + "=staged"); },
    as_it_is};
inline constexpr kind<bind_rule> bind{"HOW", parse_bind, bind_text};

/// One of the words of an enumeration, which are in its order.
template <class Enumeration, auto const& Words>
inline constexpr kind<Enumeration> word{"WORD",
                                        [](origin const& w, std::string_view t) {
                                          return static_cast<Enumeration>(parse_word(w, t, Words.data(), Words.size()));
                                        },
                                        [](Enumeration const& e) { return std::string{Words[std::size_t(e)]}; }};
inline constexpr auto mapping = word<device_mapping, device_mapping_words>;

/// How much is said; `silent` is the same as `off`.
inline constexpr kind<log_level> level{"LEVEL",
                                       [](origin const& w, std::string_view t) {
                                         return static_cast<log_level>(parse_word(w, t == "silent" ? "off" : t,
                                                                                  log_level_words.data(),
                                                                                  log_level_words.size()));
                                       },
                                       word<log_level, log_level_words>.show};

} // namespace keel::device::kinds
