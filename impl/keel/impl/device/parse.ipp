// SPDX-License-Identifier: MIT
#include <keel/impl/device/parse.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace keel::device {

KEEL_INLINE std::int64_t parse_whole(origin const& where, std::string_view text, std::int64_t least, std::int64_t most,
                                     std::string_view else_taken) {
  auto const refuse = [&](std::string const& why) -> std::int64_t {
    throw error("device", where + "='" + std::string{text} + "' is not a value for this knob", why,
                "Give a whole number from " + std::to_string(least) + " on" + std::string{else_taken});
  };
  if (text.empty()) return refuse("the text is empty");
  std::int64_t value = 0;
  char const* const end = text.data() + text.size();
  auto const [stop, problem] = std::from_chars(text.data(), end, value);
  bool const is_out = problem == std::errc::result_out_of_range;
  if (problem == std::errc::invalid_argument) return refuse("'" + std::string{text.substr(0, 1)} + "' is not a digit");
  if (stop != end) return refuse("'" + std::string{stop, end} + "' follows the number");
  if (is_out ? text.front() == '-' : value < least) return refuse("the number is less than " + std::to_string(least));
  if (is_out || value > most) return refuse("the number is larger than " + std::to_string(most));
  return value;
}

KEEL_INLINE int parse_word(origin const& where, std::string_view text, std::string_view const* words,
                           std::size_t count) {
  auto const* const end = words + count;
  if (auto const* const found = std::find(words, end, text); found != end) return int(found - words);
  std::string known;
  for (auto const* word = words; word != end; ++word) known.append(known.empty() ? "" : ", ").append(*word);
  throw error("device", where + "='" + std::string{text} + "' is not a value for this knob",
              text.empty() ? "the text is empty" : "the known words are " + known, "Take one of them");
}

KEEL_INLINE bool parse_flag(origin const& where, std::string_view text) {
  return parse_word(where, text, {"0", "false", "off", "no", "1", "true", "on", "yes"}) >= 4;
}

KEEL_INLINE std::optional<int> parse_period(origin const& where, std::string_view text) {
  if (text == "never") return std::nullopt;
  return parse_number(where, text, 1, ", or never");
}

KEEL_INLINE std::optional<int> parse_duration(origin const& where, std::string_view text) {
  if (text == "never") return std::nullopt;
  char const unit = text.size() > 1 ? text.back() : ' ';
  int const seconds = unit == 'h' ? 3600 : unit == 'm' ? 60 : 1;
  if (unit == 'h' || unit == 'm' || unit == 's') text.remove_suffix(1);
  int const number = parse_number(where, text, 1, ", with s, m or h after it, or never");
  if (number > std::numeric_limits<int>::max() / seconds)
    throw error("device", where + "='" + std::string{text} + "' is not a value for this knob", "it is too long",
                "Give less");
  return number * seconds;
}

KEEL_INLINE std::int64_t parse_size(origin const& where, std::string_view text) {
  constexpr std::string_view units = "KMG", small = "kmg", taken = ", with K, M or G for powers of 1024";
  std::size_t unit = text.size() > 1 ? units.find(text.back()) : units.npos;
  if (unit == units.npos && text.size() > 1) unit = small.find(text.back());
  int const shift = unit == units.npos ? 0 : 10 * (int(unit) + 1);
  auto const number = parse_number<std::int64_t>(where, shift == 0 ? text : text.substr(0, text.size() - 1), 1, taken);
  if (number > std::numeric_limits<std::int64_t>::max() >> shift)
    throw error("device", where + "='" + std::string{text} + "' is not a value for this knob",
                "there are not so many bytes", "Give less");
  return number << shift;
}

KEEL_INLINE std::string size_text(std::int64_t bytes) {
  int unit = 0;
  for (; unit < 3 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) +
         std::string(std::string_view{"KMG"}.substr(std::size_t(std::max(unit - 1, 0)), unit > 0));
}

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
                  "Write place, with smt=N, gpu or greedy=no after commas");
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
