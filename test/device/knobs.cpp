// SPDX-License-Identifier: MIT
/// @file
/// Every knob of the table, from every source, with right and wrong texts; command lines and files of every form.

#include <keel/device/knobs.hpp>

#include <keel/device/runtime.hpp>
#include <keel/impl/device/table.hpp>

#include <support/test.hpp>
#include "command_line.hpp"
#include "every_knob.hpp"

#include <list>

namespace kd = keel::device;

using keel::test::variable;

namespace {

using app = keel::test::app_of_every_knob;

std::vector<std::string> split(std::string_view text, char at) {
  for (std::vector<std::string> found;;) {
    auto const end = text.find(at);
    found.emplace_back(text.substr(0, end));
    if (end == text.npos) return found;
    text.remove_prefix(end + 1);
  }
}

constexpr char const* flags = "copy-back-all-levels copy-back-written-in-analysis only-reads-current-level "
                              "only-writes-current-level exchange-together graphs";
constexpr char const* periods = "copy-back-every checkpoint-every end-timeout";

/// Texts, each with what is shown of it after `>`, that these options take; the first two differ.
struct right {
  char const *options, *texts;
};
right const taken[]{
    {"num-threads every-knob-num-threads numa-regions", "1>1|003>3|2>2"},
    {"device-instance every-knob-device-instance", "0>0|3>3"},
    {"stack-size every-knob-stack-size", "64K>64K|1048576>1M|3m>3M|1G>1G|65537>65537|192k>192K"},
    {"hugepages every-knob-hugepages", "yes>yes|off>no|1>yes|0>no|true>yes|false>no|on>yes|no>no"},
    {"num-devices", "2>2|all>all|2147483647>2147483647"},
    {"device", "any>any|EVERY-KNOB>EVERY-KNOB|every-knob>every-knob"},
    {"map-device-by", "rank>rank|none>none|nearest>nearest"},
    {"bind", "none>none|place,smt=1>place,smt=1"},
    {"log-level", "error>error|off>off|silent>off|warning>warning"},
    {periods, "1>1|never>never|10>10"},
    {"copy-back-vars trace-file restart tracking exchange-through", "x>x|a = b, c>a = b, c|--tab-help>--tab-help"},
    {"copy-back-vars", "none>none|all>all"},
    {"graphs", "measured>measured|no>no"},
    {flags, "yes>yes|no>no|1>yes|0>no|true>yes|false>no|on>yes|off>no"},
    {"checkpoint-before-end", "5m>300s|1h>3600s|7>7s|8s>8s|never>never|596523h>2147482800s"},
    {"strict", "on>on|off>off|yes>on|no>off"},
};

constexpr char const* numbers = "num-threads every-knob-num-threads numa-regions num-devices copy-back-every "
                                "checkpoint-every end-timeout";
constexpr char const* sizes = "stack-size every-knob-stack-size";

/// Texts that these options refuse, and a part of the reason.
struct wrong {
  char const *options, *reason, *texts;
};
wrong const refused[]{
    {"num-threads numa-regions num-devices copy-back-every end-timeout device-instance stack-size hugepages "
     "map-device-by bind log-level exchange-together graphs checkpoint-before-end strict",
     "(the text is empty)", ""},
    {numbers, "' is not a digit)", " |+4| 4|x4|.5|four|IV|\t4|'4'|\"4\"|--4|NaN|inf|true|auto|max|\xef\xbc\x94"},
    {numbers, "' follows the number)", "4x|4 |4.0|4.|4,|4 5|4,5|0x4|4e1|1e0|4K|4\n|4;|4-|1/2|4\xc2\xa0|99999999999x"},
    {numbers, "(the number is less than 1)", "0|00|-0|-1|-4|-99999999999"},
    {numbers, "(the number is larger than 2147483647)", "99999999999|999999999999999999999|2147483648|4294967298"},
    {"num-threads numa-regions copy-back-every", "'a' is not a digit", "all"},
    {"num-devices", "a whole number from 1 on, or all.", "All|all |none"},
    {periods, "a whole number from 1 on, or never.", "Never|NEVER|none|never |always"},
    {"num-threads every-knob-num-threads", "(the largest value here is 8)", "9|100|2147483647"},
    {"numa-regions", "(the largest value here is 4)", "5|2147483647"},
    {"device-instance every-knob-device-instance", "(the largest value here is 3)", "4|5|100"},
    {"device-instance", "is not a value for this knob", " |-1|+0|0x0|0.0|first|0,1|0 1|99999999999|0000:00:00.0"},
    {sizes, "is not a value for this knob", "0|0K|K|M|-1M|+1M|1.5M|1 M|M1|1MB|1MiB|1T|1KK|0x1M|1e6| 1M|1M |one"},
    {sizes, "(there are not so many bytes)", "8589934592G"},
    {sizes, "larger than 9223372036854775807", "9223372036854775808"},
    {sizes, "(the smallest value is 64K)", "1|1K|65535|63K"},
    {sizes, "(the largest value here is 1G)", "2G|1025M|8589934591G"},
    {"hugepages every-knob-hugepages", "the known words are 0, false", "2|-1|maybe|Yes|yes "},
    {flags, "the known words are 0, false, off, no, 1, true, on, yes", "2|-1|Yes|NO|y|maybe|yes |on off|enable"},
    {"strict", "the known words are 0, false", "2|On"},
    {"map-device-by", "(the known words are nearest, rank, none)", "Nearest|near|nearest |rank,none|0|NONE"},
    {"log-level", "(the known words are off, error, warning, information, details)", "Error|err|info|3|-1|warning "},
    {"bind", "the known words are none, place", "Place|places|place |place;gpu|gpu|yes|1"},
    {"bind", "(there is no option '", "place,|place,,gpu|place,Greedy=no|place, gpu|place,smtt=2"},
    {"bind", "(none has no options)", "none,gpu"},
    {"bind", ": smt='' is not a value for this knob (the text is empty)", "place,smt|place,smt="},
    {"bind", ": smt='0' is not a value for this knob (the number is less than 1)", "place,smt=0"},
    {"bind", "is not a value for this knob", "place,smt=-1|place,smt=x|place,gpu=maybe|place,greedy="},
    {"checkpoint-before-end", "with s, m or h after it, or never", "0|-5m|m|5d|5M|Never|1.5h|5 m"},
    {"checkpoint-before-end", "(it is too long)", "596524h|35791395m"},
    {"device", "there is no device '", " |every knob|every-knobs|quantum|every-knob,|,every-knob|any,any|all|0"},
    {"device", "this program was built without the device '", "cuda|serial|every-knob,cuda"},
    {"trace-file restart config", " is empty (it names a file). Write ", ""},
    {"device", " is empty (it names a device). Write ", ""},
    {"tracking", " is empty (it names a tracking). Write ", ""},
    {"exchange-through", " is empty (it names a transport). Write ", ""},
    {"config", "cannot be read (", "/no/such/file|/|/dev/zero"},
};

using kd::source;
constexpr std::array sources{source::code, source::file, source::environment, source::command_line};

/// A knob as one source has it.
struct given {
  source from;
  std::string option, text;
};
/// What comes of a start: values are shown by option, or there is a message.
struct started {
  std::vector<kd::printed_knob> knobs;
  std::string message, where;
  [[nodiscard]] std::pair<std::string, source> shown(std::string option) const {
    if (option.starts_with("every-knob-")) option.erase(0, 11);
    for (auto const& k : knobs)
      if (k.option == "--tab-" + option && k.variable == kd::variable_name("tab", option)) return {k.value, k.from};
    return {"nothing", source::unset};
  }
};

started start_with(std::vector<given> const& all, bool in_one_word = true) {
  started result;
  std::vector<std::string> words{"app", "in.txt"};
  std::list<variable> variables;
  std::optional<keel::test::text_file> file;
  keel::start<app> code;
  code.set_map_device_by(kd::device_mapping::none); // else each start looks at the node
  keel::device::set_log_level(kd::log_level::off);
  try {
    for (auto const& [from, option, text] : all)
      if (from == source::code) {
        result.where = option, code.set(option, text);
      } else if (from == source::file) {
        file.emplace("# a comment\n" + option + " = " + text + "\n");
        words.push_back("--tab-config=" + file->path);
        result.where = file->path + ":2: " + option;
      } else if (from == source::environment) {
        result.where = kd::variable_name("tab", option);
        variables.emplace_back(result.where, text);
      } else {
        result.where = "--tab-" + option;
        if (in_one_word) words.push_back(result.where + "=" + text);
        else words.insert(words.end(), {result.where, text});
      }
    keel::test::command_line line{words};
    try {
      keel::runtime<app> const run{line.count, line.data(), code};
      result.knobs = run.knobs();
      CHECK(line.left() == std::vector<std::string>{"app", "in.txt"});
    } catch (keel::error const&) {
      CHECK(line.left() == words);
      throw;
    }
  } catch (keel::error const& e) {
    result.message = e.what();
  }
  keel::device::set_log_level(kd::log_level::warning);
  return result;
}

/// Whether a source can hold the text: a switch has none in argv; blanks around it are no part of it in a file.
bool can_hold(source from, std::string const& option, std::string const& text) {
  if (from == source::command_line) return option != "strict";
  if (from != source::file) return true;
  constexpr std::string_view blanks = " \t\r";
  bool const is_trimmed = !text.empty() && (blanks.find(text.front()) != blanks.npos ||
                                            blanks.find(text.back()) != blanks.npos || text.back() == '\n');
  return option != "config" && !is_trimmed;
}

std::string_view own_option(std::string_view option) {
  return option.starts_with("every-knob-") ? option.substr(11) : option;
}

} // namespace

TEST_CASE("device: each knob takes right texts from each source, shows them, and a stronger source wins") {
  std::vector<std::string> tried{"config", "print-configuration", "help", "verbose", "veryverbose"};
  for (auto const& [options, texts] : taken)
    for (auto const& option : split(options, ' ')) {
      CAPTURE(option);
      tried.emplace_back(own_option(option));
      std::vector<std::vector<std::string>> pairs;
      for (auto const& pair : split(texts, '|')) pairs.push_back(split(pair, '>'));
      for (source const from : sources)
        for (auto const& pair : pairs) {
          if (!can_hold(from, option, pair[0])) continue;
          CAPTURE(kd::name(from));
          auto const result = start_with({{from, option, pair[0]}});
          CHECK(result.message == "");
          CHECK(result.shown(option) == std::pair{pair[1], from});
          if (from == source::command_line)
            CHECK(start_with({{from, option, pair[0]}}, false).shown(option) == result.shown(option));
        }
      for (source const weak : sources)
        for (source const strong : sources)
          if (weak < strong && can_hold(weak, option, "") && can_hold(strong, option, ""))
            for (int const first : {0, 1}) {
              auto const& [a, b] = std::pair{pairs[std::size_t(first)], pairs[std::size_t(1 - first)]};
              std::vector<given> both{{weak, option, a[0]}, {strong, option, b[0]}};
              CHECK(start_with(both).shown(option) == std::pair{b[1], strong});
              std::reverse(both.begin(), both.end());
              CHECK(start_with(both).shown(option) == std::pair{b[1], strong});
            }
      if (option != "strict")
        CHECK(start_with({{source::command_line, option, pairs[0][0]}, {source::command_line, option, pairs[1][0]}})
                  .shown(option)
                  .first == pairs[1][1]);
    }
  for (auto const& row : kd::all_knobs) {
    CAPTURE(row.option);
    CHECK(std::count(tried.begin(), tried.end(), row.option) > 0);
  }
}

TEST_CASE("device: each knob refuses wrong texts from each source, with origin, reason and a way out") {
  int count = 0;
  for (auto const& [options, reason, texts] : refused)
    for (auto const& option : split(options, ' '))
      for (auto const& text : split(texts, '|'))
        for (source const from : sources) {
          bool const is_found_at_start = option == "device" || option == "config" ||
                                         std::string_view{reason}.starts_with("(the largest value") ||
                                         std::string_view{reason}.starts_with("(the smallest value");
          if (!can_hold(from, option, text) || (from == source::code && is_found_at_start)) continue;
          auto const result = start_with({{from, option, text}});
          auto const& message = result.message;
          CAPTURE(option);
          CAPTURE(text);
          CAPTURE(message);
          ++count;
          CHECK(message.starts_with("keel::device: " + result.where));
          CHECK(message.find(reason) != message.npos);
          CHECK((message.ends_with(".") || message.find("Did you mean") != message.npos));
          if (from == source::command_line) CHECK(start_with({{from, option, text}}, false).message == message);
        }
  CHECK(count >= 1000);
}
