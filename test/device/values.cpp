// SPDX-License-Identifier: MIT
/// @file
/// Bad values of every knob, from every source, and command lines of every form.

#include <keel/device/runtime.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>
#include <support/said_to_stderr.hpp>
#include "command_line.hpp"
#include "text_file.hpp"

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace kd = keel::device;

namespace {

/// A device of the test's own, with every knob that devices have.
struct every_knob {
  static constexpr std::string_view name = "every-knob";
};

} // namespace

namespace keel {

template <>
struct device_traits<every_knob> : space::detail::no_knobs {
  static constexpr int preference = 500;
  static constexpr bool has_threads = true, has_numa_regions = true, has_instances = true;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  static int threads() { return 2; }
  static int default_threads() { return 2; }
  static int max_threads() { return 8; }
  static int max_numa_regions() { return 4; }
  static int max_devices() { return 4; }
  static int device_instance() { return 0; }
  static std::string pci_id(int i) { return "0000:0" + std::to_string(i) + ":00.0"; }
  static constexpr std::array own_knobs{
      space::own_knob{"stack-size", [] { return space::bounds{65536, std::int64_t{1} << 30}; }},
      space::own_knob{"hugepages", [] { return space::bounds{0, 1}; }}};
};

} // namespace keel

namespace {

static_assert(kd::facts_of<every_knob>.has(kd::knob::stack_size));

struct app : keel::defaults {
  using devices = keel::list<every_knob>;
  using ranks = keel::machine::alone;
  static constexpr std::string_view prefix = "tab";
};

/// What is refused as a value of each of these knobs.
struct row {
  std::vector<std::string> options, values;
};
/// What stands between bars.
std::vector<std::string> split(std::string_view text) {
  for (std::vector<std::string> found;;) {
    auto const bar = text.find('|');
    found.emplace_back(text.substr(0, bar));
    if (bar == text.npos) return found;
    text.remove_prefix(bar + 1);
  }
}
std::vector<row> const table{
    {{"num-threads", "every-knob-num-threads", "numa-regions", "num-devices", "copy-back-every"},
     split("| |0|00|-0|-1|-4|+4| 4|4 |4x|x4|4.0|4.|.5|4,|4 5|4,5|0x4|4e1|1e0|4K|four|IV|\t4|4\n|4;|'4'|\"4\"|"
           "--4|4-|1/2|NaN|inf|true|auto|max|99999999999|99999999999999999999999|-99999999999|2147483648|"
           "4294967298|18446744073709551617|\xef\xbc\x94|4\xc2\xa0")},
    {{"num-threads", "numa-regions", "copy-back-every"}, {"all"}},
    {{"num-devices"}, {"All", "all ", "none"}},
    {{"num-threads"}, {"9", "100", "2147483647"}},
    {{"numa-regions"}, {"5", "2147483647"}},
    {{"device-instance", "every-knob-device-instance"},
     split("| |-1|+0|4|5|100|0x0|0.0|first|0,1|0 1|99999999999|0000:00:00.0")},
    {{"stack-size", "every-knob-stack-size"},
     split("|0|0K|K|M|1|1K|65535|63K|-1M|+1M|1.5M|1 M|M1|1MB|1MiB|1T|1KK|2G|1025M|0x1M|1e6|8589934592G|"
           "9223372036854775808| 1M|1M |one")},
    {{"hugepages", "every-knob-hugepages"}, {"", "2", "-1", "maybe", "Yes", "yes "}},
    {{"map-device-by"}, split("|Nearest|near|nearest |rank,none|0|guess|NONE|yes")},
    {{"bind"},
     split("|Place|places|place |place,|place,,gpu|place;gpu|place,smt|place,smt=|place,smt=0|place,smt=-1|"
           "place,smt=x|place,smt=1.5|place,gpu=maybe|place,greedy=|place,Greedy=no|none,gpu|gpu|yes|1")},
    {{"log-level"}, split("|Error|err|warn|info|verbose|3|-1|loud|warning |error,warning")},
    {{"copy-back-every"}, {"Never", "NEVER", "none", "never ", "always"}},
    {{"copy-back-all-levels", "copy-back-written-in-analysis", "only-reads-current-level", "only-writes-current-level"},
     split("|2|-1|Yes|NO|y|n|t|maybe|yes |on off|enable")},
    {{"device"},
     split("| |every knob|every-knobs|serial|cuda|quantum|every-knob,|,every-knob|every-knob,cuda|any,any|all|0")},
    {{"trace-file"}, {""}},
    {{"config"}, {"", "/no/such/file", "/", "/dev/zero"}},
};

/// The message of the refusal; "accepted" where there is none.
std::string refusal(std::vector<std::string> words) {
  keel::test::command_line line{std::move(words)};
  auto const before = line.left();
  try {
    keel::runtime<app> run{line.count, line.data()};
  } catch (keel::error const& e) {
    CHECK(line.left() == before);
    return e.what();
  }
  return "accepted";
}

} // namespace

TEST_CASE("device: bad values are refused with their origin and a way out, from each source") {
  int tried = 0;
  for (auto const& [options, values] : table)
    for (auto const& option : options)
      for (auto const& value : values) {
        CAPTURE(option);
        CAPTURE(value);
        ++tried;
        auto const check = [](std::string const& told) {
          CAPTURE(told);
          CHECK(told.starts_with("keel::device: "));
          CHECK((told.ends_with(".") || told.find("Did you mean") != told.npos));
          CHECK(told.find('(') != std::string::npos);
        };
        std::string const word = "--tab-" + option;
        auto const joined = refusal({"app", word + "=" + value, "x"});
        check(joined);
        if (option != "device" && option != "config") CHECK(joined.find(word) != std::string::npos);
        CHECK(refusal({"app", "--tab-num-threads=1", word, value}) == joined);
        std::string const name = kd::variable_name("tab", option);
        keel::test::variable const variable{name.c_str(), value.c_str()};
        auto const told = refusal({"app"});
        check(told);
        if (option != "device" && option != "config") CHECK(told.find(name) != std::string::npos);
      }
  CHECK(tried >= 300);
}

TEST_CASE("device: bad values are refused from a file, with its line") {
  for (auto const& [options, values] : table)
    for (auto const& option : options)
      for (auto const& value : values) {
        constexpr std::string_view blanks = " \t\r";
        bool const is_trimmed = value.find_first_of(blanks) == 0 || value.find('\n') != std::string::npos ||
                                (!value.empty() && blanks.find(value.back()) != blanks.npos);
        if (is_trimmed || option == "config") continue; // blanks around a value are no part of it there
        CAPTURE(option);
        CAPTURE(value);
        keel::test::text_file const file{"# bad\n" + option + " = " + value + "\n"};
        auto const told = refusal({"app", "--tab-config", file.path});
        CHECK(told.starts_with("keel::device: "));
        if (option != "device") CHECK(told.find(file.path + ":2: " + option) != std::string::npos);
      }
}

namespace {

/// A command line, and what becomes of it: the words that stay and the knobs that are set, or a part of the message.
struct line {
  char const* words;
  char const* left;
  char const* set;
};
line const lines[]{
    {"", "", ""},
    {"in.txt", "in.txt", ""},
    {"-v", "-v", ""},
    {"-", "-", ""},
    {"--", "--", ""},
    {"-- --tab-help", "-- --tab-help", ""},
    {"--version --verbose", "--version --verbose", ""},
    {"--tab", "--tab", ""},
    {"--tabular=3", "--tabular=3", ""},
    {"-tab-device=any", "-tab-device=any", ""},
    {"---tab-device=any", "---tab-device=any", ""},
    {"--TAB-device=any", "--TAB-device=any", ""},
    {"tab-device=any", "tab-device=any", ""},
    {"--tab-num-threads=3", "", "num-threads=3"},
    {"--tab-num-threads 3", "", "num-threads=3"},
    {"--tab-num-threads 3 4", "4", "num-threads=3"},
    {"a --tab-num-threads 3 b", "a b", "num-threads=3"},
    {"--tab-num-threads=3 --tab-num-threads=4", "", "num-threads=4"},
    {"--tab-num-threads=4 --tab-every-knob-num-threads=2", "", "num-threads=2"},
    {"--tab-every-knob-num-threads=2 --tab-num-threads=4", "", "num-threads=2"},
    {"--tab-num-threads=007", "", "num-threads=7"},
    {"--tab-numa-regions=2 --tab-device-instance 3", "", "numa-regions=2 device-instance=3"},
    {"--tab-stack-size=1M x", "x", "stack-size=1M"},
    {"--tab-stack-size=1048576", "", "stack-size=1M"},
    {"--tab-stack-size 64k", "", "stack-size=64K"},
    {"--tab-hugepages=yes x", "x", "hugepages=yes"},
    {"--tab-hugepages off", "", "hugepages=no"},
    {"--tab-device=EVERY-KNOB", "", "device=EVERY-KNOB"},
    {"--tab-device any", "", "device=any"},
    {"--tab-num-devices=2", "", "num-devices=2"},
    {"--tab-map-device-by rank", "", "map-device-by=rank"},
    {"--tab-bind=none", "", "bind=none"},
    {"--tab-log-level=off", "", "log-level=off"},
    {"--tab-log-level silent", "", "log-level=off"},
    {"--tab-verbose", "", "log-level=information"},
    {"--tab-veryverbose --tab-log-level=error", "", "log-level=error"},
    {"--tab-log-level=error --tab-veryverbose", "", "log-level=details"},
    {"--tab-copy-back-every=never --tab-copy-back-every=5", "", "copy-back-every=5"},
    {"--tab-copy-back-vars a,b", "", "copy-back-vars=a,b"},
    {"--tab-copy-back-vars=", "", "copy-back-vars=none"},
    {"--tab-copy-back-vars --tab-help", "", "copy-back-vars=--tab-help"},
    {"--tab-copy-back-vars=x=y", "", "copy-back-vars=x=y"},
    {"--tab-copy-back-all-levels on", "", "copy-back-all-levels=yes"},
    {"--tab-trace-file=t --tab-strict", "", "trace-file=t strict=on"},
    {"--kokkos-threads=2 x", "x", ""},
    {"--kokkos-help", "", ""},
    {"-- --kokkos-threads=2 --tab-num-threads=x", "-- --kokkos-threads=2 --tab-num-threads=x", ""},
    {"--tab-num-threads=2 -- --tab-num-threads=3", "-- --tab-num-threads=3", "num-threads=2"},
    {"--tab-", "!", "unknown option --tab- "},
    {"--tab-=3", "!", "unknown option --tab- "},
    {"--tab-num_threads=3", "!", "Did you mean --tab-num-threads?"},
    {"--tab-NUM-THREADS=3", "!", "unknown option --tab-NUM-THREADS"},
    {"--tab-num-threads:3", "!", "unknown option --tab-num-threads:3"},
    {"--tab-num-threads", "!", "--tab-num-threads has no value (it is the last argument)"},
    {"--tab-num-threads -- 3", "!", "--tab-num-threads has no value (-- follows it)"},
    {"--tab-num-threads= 3", "!", "--tab-num-threads='' is not a value"},
    {"--tab-num-threads --tab-help", "!", "--tab-num-threads='--tab-help' is not a value"},
    {"--tab-help=yes", "!", "--tab-help=yes has a value (this option is a switch)"},
    {"--tab-verbose=on", "!", "--tab-verbose=on has a value"},
    {"--tab-strict=on", "!", "--tab-strict=on has a value"},
    {"--tab-print-configuration=xml", "!", "--tab-print-configuration='xml' is not a value"},
    {"--tab-devise=any", "!", "Did you mean --tab-device?"},
    {"--tab-hip-colour=1", "!", "unknown option --tab-hip-colour"},
    {"--tab-every-knob-device=any", "!", "unknown option --tab-every-knob-device"},
    {"--tab-strict --keel-device=any", "!", "--keel-device is left to the program"},
    {"--tab-strict --tab-hip-num-threads=2", "!", "--tab-hip-num-threads has no effect"},
    {"x --tab-num-threads=3 --tab-num-threads=x", "!", "'x' is not a digit"},
    {"--tab-device=cuda", "!", "this program was built without the device 'cuda'"},
    {"--tab-device=every-knbo", "!", "Did you mean every-knob?"},
};

std::string joined(std::vector<std::string> const& words) {
  std::string all;
  for (auto const& w : words) all += (all.empty() ? "" : " ") + w;
  return all;
}

} // namespace

TEST_CASE("device: command lines of every form leave the right words, set the right knobs, or are refused") {
  CHECK(std::size(lines) >= 60);
  for (line const& one : lines) { // names of a structured binding cannot be captured with clang 14
    char const *const words = one.words, *const left = one.left, *const set = one.set;
    CAPTURE(words);
    std::vector<std::string> all{"app"};
    std::istringstream from{words};
    for (std::string word; from >> word;) all.push_back(word);
    keel::test::command_line argv{all};
    std::string kept, knobs;
    auto const said = keel::test::said_to_stderr([&] {
      try {
        keel::runtime<app> run{argv.count, argv.data()};
        kept = joined(argv.left()), knobs = "";
        for (auto const& k : run.knobs())
          if (k.from == kd::source::command_line)
            knobs += (knobs.empty() ? "" : " ") + k.option.substr(6) + "=" + k.value;
      } catch (keel::error const& e) {
        kept = "!", knobs = e.what();
        CHECK(argv.left() == all);
      }
    });
    CHECK(argv.ends_with_null());
    CHECK(said.empty());
    if (left == std::string{"!"}) {
      CHECK(kept == "!");
      CHECK(knobs.find(set) != std::string::npos);
    } else {
      CHECK(kept == joined({"app"}) + (*left == 0 ? "" : " ") + left);
      CHECK(knobs == set);
    }
  }
}

TEST_CASE("device: what is asked of a device without its type is what its traits say") {
  auto const& facts = kd::facts_of<every_knob>;
  CHECK(facts.name == "every-knob");
  CHECK(facts.default_threads() == 2);
  CHECK(facts.max_devices() == 4);
  CHECK(facts.pci_id(3) == "0000:03:00.0");
}

TEST_CASE("device: what a device without room for one refuses is less than it takes, never more than it has") {
  static std::atomic<unsigned> told{0};
  kd::device_facts facts = kd::facts_of<every_knob>;
  facts.name = "full";
  facts.told = &told;
  facts.knobs[std::size_t(kd::knob::stack_size)] = {[] { return keel::space::bounds{65536, 4096}; }};
  std::array<kd::held_value, keel::space::knobs.size()> values;
  kd::changeable_knobs const full{&facts, values.data()};
  kd::common_settings common;
  auto const told_of = [&](std::string const& text) {
    return keel::test::message_of([&] {
      common.apply_to_devices(
          {&full, 1}, {{&kd::facts(kd::knob::stack_size), text, {"--tab-stack-size"}, kd::source::command_line}},
          "full");
    });
  };
  CHECK(told_of("4K").find("--tab-stack-size=4K is less than full takes (the smallest value is 64K). Give more.") !=
        std::string::npos);
  CHECK(told_of("8K").find("--tab-stack-size=8K is more than full has (the largest value here is 4K). Give less.") !=
        std::string::npos);
}
