// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What values of knobs look like: how text becomes one, strictly, the whole text or an error that says what is wrong
/// with it; and how one is shown.

#include <keel/device/knobs.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace keel::device {

/// What a text was read from, for messages: `--keel-num-threads` or `KEEL_NUM_THREADS`.
using origin = std::string;

[[noreturn]] inline void refuse_value(origin const& where, std::string_view text, std::string const& why,
                                      std::string const& hint) {
  throw error("device", where + "='" + std::string{text} + "' is not a value for this knob", why, hint);
}

/// A whole number in base ten from `least` to the largest of its type. Refuses the empty text, blanks, signs, other
/// bases and anything after the digits; the error names `where`, text and reason, and what `else_taken`.
template <std::integral Number = int>
[[nodiscard]] Number parse_number(origin const& where, std::string_view text, Number least,
                                  std::string_view else_taken = {}) {
  auto const refuse = [&](std::string const& why) {
    refuse_value(where, text, why,
                 "Give a whole number from " + std::to_string(least) + " on" + std::string{else_taken});
  };
  if (text.empty()) refuse("the text is empty");
  Number value = 0;
  char const* const end = text.data() + text.size();
  auto const [stop, problem] = std::from_chars(text.data(), end, value);
  bool const is_out = problem == std::errc::result_out_of_range;
  if (problem == std::errc::invalid_argument) refuse("'" + std::string{text.substr(0, 1)} + "' is not a digit");
  if (stop != end) refuse("'" + std::string{stop, end} + "' follows the number");
  if (is_out ? text.front() == '-' : value < least) refuse("the number is less than " + std::to_string(least));
  if (is_out) refuse("the number is larger than " + std::to_string(std::numeric_limits<Number>::max()));
  return value;
}

/// One of `words`, compared whole and by case; answers its position.
[[nodiscard]] inline int parse_word(origin const& where, std::string_view text,
                                    std::span<std::string_view const> words) {
  if (auto const found = std::find(words.begin(), words.end(), text); found != words.end())
    return int(found - words.begin());
  std::string known;
  for (auto const word : words) known.append(known.empty() ? "" : ", ").append(word);
  refuse_value(where, text, text.empty() ? "the text is empty" : "the known words are " + known, "Take one of them");
}
[[nodiscard]] inline int parse_word(origin const& where, std::string_view text,
                                    std::initializer_list<std::string_view> words) {
  return parse_word(where, text, std::span(words.begin(), words.size()));
}

[[nodiscard]] inline bool parse_flag(origin const& where, std::string_view text) {
  return parse_word(where, text, {"0", "false", "off", "no", "1", "true", "on", "yes"}) >= 4;
}

/// A time in seconds: a whole number from 1 on, perhaps with s, m or h after it for seconds, minutes or hours; or
/// `never`, which is empty.
[[nodiscard]] inline std::optional<int> parse_duration(origin const& where, std::string_view text) {
  if (text == "never") return std::nullopt;
  char const unit = text.size() > 1 ? text.back() : ' ';
  int const seconds = unit == 'h' ? 3600 : unit == 'm' ? 60 : 1;
  if (unit == 'h' || unit == 'm' || unit == 's') text.remove_suffix(1);
  int const number = parse_number(where, text, 1, ", with s, m or h after it, or never");
  if (number > std::numeric_limits<int>::max() / seconds) refuse_value(where, text, "it is too long", "Give less");
  return number * seconds;
}

/// A number of bytes: a whole number from 1 on, perhaps with one of K, M and G after it, which are powers of 1024.
[[nodiscard]] inline std::int64_t parse_size(origin const& where, std::string_view text) {
  constexpr std::string_view units = "KkMmGg", taken = ", with K, M or G for powers of 1024";
  auto const unit = text.size() > 1 ? units.find(text.back()) : units.npos;
  int const shift = unit == units.npos ? 0 : 10 * (int(unit) / 2 + 1);
  auto const number = parse_number<std::int64_t>(where, shift == 0 ? text : text.substr(0, text.size() - 1), 1, taken);
  if (number > std::numeric_limits<std::int64_t>::max() >> shift)
    refuse_value(where, text, "there are not so many bytes", "Give less");
  return number << shift;
}
/// A number of bytes as people write it: 65536 is 64K.
[[nodiscard]] inline std::string size_text(std::int64_t bytes) {
  std::size_t unit = 0;
  for (; unit < 3 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  constexpr std::array units{"", "K", "M", "G"};
  return std::to_string(bytes) + units[unit];
}

/// The rule of `--keel-bind` that `text` says.
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
      refuse_value(where, text, rule.place ? "there is no option '" + std::string{name} + "'" : "none has no options",
                   "Write place, with smt=N, gpu or greedy=no after commas");
    if (name == "smt") rule.smt = parse_number(at, has_value ? value : std::string_view{}, 1);
    else (name == "gpu" ? rule.gpu : rule.greedy) = parse_flag(at, value);
  }
  return rule;
}
/// As it is written.
[[nodiscard]] inline std::string bind_text(bind_rule const& rule) {
  if (!rule.place) return "none";
  return "place" + (rule.smt > 0 ? ",smt=" + std::to_string(rule.smt) : "") + (rule.gpu ? ",gpu" : "") +
         (rule.greedy ? "" : ",greedy=no");
}

} // namespace keel::device

namespace keel::device::kinds {

/// A kind of values. `parse` throws `keel::error`, which names the origin, the text and the reason.
template <class Value>
struct kind {
  std::string_view placeholder; ///< as in `knob_facts`
  Value (*parse)(origin const& where, std::string_view text);
  std::string (*show)(Value const& value);
};

/// A whole number from `Least` on.
template <std::int64_t Least>
inline constexpr kind<std::int64_t> number{
    Least == 0 ? "I" : "N",
    [](origin const& w, std::string_view t) -> std::int64_t { return parse_number(w, t, int(Least)); },
    [](std::int64_t const& n) { return std::to_string(n); }};
/// Bytes, with K, M or G.
inline constexpr kind<std::int64_t> size{"BYTES", parse_size,
                                         [](std::int64_t const& bytes) { return size_text(bytes); }};

/// A whole number from 1 on, or a word for none.
template <auto const& Word>
inline constexpr kind<std::optional<int>> number_or{
    "N",
    [](origin const& w, std::string_view t) {
      return t == Word ? std::nullopt : std::optional{parse_number(w, t, 1, ", or " + std::string{Word})};
    },
    [](std::optional<int> const& n) { return n ? std::to_string(*n) : std::string{Word}; }};
inline constexpr std::string_view all_there_are = "all", never = "never";
/// As many as there are; how often something happens.
inline constexpr auto limit = number_or<all_there_are>, period = number_or<never>;
/// Seconds, with m or h for minutes or hours; or never.
inline constexpr kind<std::optional<int>> duration{"TIME", parse_duration, [](std::optional<int> const& n) {
                                                     return n ? std::to_string(*n) + "s" : std::string{never};
                                                   }};

/// Yes or no, and the same as a switch.
inline constexpr kind<bool> yes_no{"yes|no", parse_flag,
                                   [](bool const& yes) { return std::string{yes ? "yes" : "no"}; }};
inline constexpr kind<bool> flag{"", parse_flag, [](bool const& on) { return std::string{on ? "on" : "off"}; }};
inline constexpr kind<std::int64_t> switched{
    yes_no.placeholder, [](origin const& w, std::string_view t) -> std::int64_t { return parse_flag(w, t) ? 1 : 0; },
    [](std::int64_t const& yes) { return yes_no.show(yes != 0); }};
/// Yes, no, or whichever takes less time, which is empty.
inline constexpr kind<std::optional<bool>> yes_no_measured{
    "yes|no|measured",
    [](origin const& w, std::string_view t) {
      int const word = parse_word(w, t, {"0", "false", "off", "no", "1", "true", "on", "yes", "measured"});
      return word == 8 ? std::nullopt : std::optional(word >= 4);
    },
    [](std::optional<bool> const& yes) { return yes ? yes_no.show(*yes) : std::string{"measured"}; }};
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
/// A name of something, which is not empty.
struct naming {
  std::string_view what, example;
  std::string_view unset = {}; ///< shown if none was given
};
inline constexpr naming a_device{"device", "serial"}, a_transport{"transport", "staged"};
inline constexpr naming a_file{"file", "NAME", "none"}, a_tracking{"tracking", "checked", "the first"};
template <naming const& Of>
inline constexpr kind<std::string> name_of{
    "NAME",
    [](origin const& w, std::string_view t) {
      if (t.empty())
        throw error("device", w + " is empty", "it names a " + std::string{Of.what},
                    "Write " + w + "=" + std::string{Of.example});
      return std::string{t};
    },
    [](std::string const& given) { return given.empty() ? std::string{Of.unset} : given; }};

/// One of the words of an enumeration, which are in its order.
template <class Enumeration, auto const& Words>
inline constexpr kind<Enumeration> word{
    "WORD", [](origin const& w, std::string_view t) { return static_cast<Enumeration>(parse_word(w, t, Words)); },
    [](Enumeration const& e) { return std::string{Words[std::size_t(e)]}; }};
/// How much is said; `silent` is the same as `off`.
inline constexpr kind<log_level> level{"LEVEL",
                                       [](origin const& w, std::string_view t) {
                                         return static_cast<log_level>(
                                             parse_word(w, t == "silent" ? "off" : t, log_level_words));
                                       },
                                       word<log_level, log_level_words>.show};
inline constexpr kind<bind_rule> bind{"HOW", parse_bind, bind_text};

} // namespace keel::device::kinds
