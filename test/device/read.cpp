// SPDX-License-Identifier: MIT
/// @file
/// Command lines, variables and files of every form, and what is said of those without effect.

#include <keel/impl/device/read.hpp>

#include <keel/device/report.hpp>
#include <keel/device/runtime.hpp>

#include <support/test.hpp>
#include <nlohmann/json.hpp>
#include <support/folder.hpp>
#include <support/said_to_stderr.hpp>
#include "every_knob.hpp"
#include "running.hpp"

#include <new>

#include <sys/stat.h>

namespace kd = keel::device;

using keel::test::message_of;
using keel::test::variable;

namespace {

using app = keel::test::app_of_every_knob;
using words = std::vector<std::string>;

/// A command line, and what becomes of it: the words that stay and the knobs that are set, or a part of the message.
struct line {
  std::string words, left, set;
};
line const lines[]{
    {"", "", ""},
    {"in.txt", "in.txt", ""},
    {"-v", "-v", ""},
    {"--", "--", ""},
    {"-- --tab-help", "-- --tab-help", ""},
    {"--tab", "--tab", ""},
    {"--tabular=3", "--tabular=3", ""},
    {"-tab-device=any", "-tab-device=any", ""},
    {"---tab-device=any", "---tab-device=any", ""},
    {"--TAB-device=any", "--TAB-device=any", ""},
    {"tab-device=any", "tab-device=any", ""},
    {"--tab-num-threads 3 4", "4", "num-threads=3"},
    {"a --tab-num-threads 3 b", "a b", "num-threads=3"},
    {"--tab-num-threads=4 --tab-every-knob-num-threads=2", "", "num-threads=2"},
    {"--tab-every-knob-num-threads=2 --tab-num-threads=4", "", "num-threads=2"},
    {"--tab-stack-size=1M x", "x", "stack-size=1M"},
    {"--tab-verbose", "", "log-level=information"},
    {"--tab-veryverbose --tab-log-level=error", "", "log-level=error"},
    {"--tab-log-level=error --tab-veryverbose", "", "log-level=details"},
    {"--tab-copy-back-vars=", "", "copy-back-vars=none"},
    {"--tab-copy-back-vars=x=y", "", "copy-back-vars=x=y"},
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
    {"--tab-num-threads --tab-help", "!", "--tab-num-threads='--tab-help' is not a value"},
    {"--tab-help=yes", "!", "--tab-help=yes has a value (this option is a switch)"},
    {"--tab-verbose=on", "!", "--tab-verbose=on has a value"},
    {"--tab-strict=on", "!", "--tab-strict=on has a value"},
    {"--tab-print-configuration=xml", "!", "--tab-print-configuration='xml' is not a value"},
    {"--tab-devise=any", "!", "Did you mean --tab-device?"},
    {"--tab-device=nope --tab-device=never", "!", "device: --tab-device=never: there is no device 'never'"},
    {"--tab-hip-colour=1", "!", "unknown option --tab-hip-colour"},
    {"--tab-every-knob-device=any", "!", "unknown option --tab-every-knob-device"},
    {"--tab-strict --keel-device=any", "!", "--keel-device is left to the program"},
    {"--tab-strict --tab-hip-num-threads=2", "!", "--tab-hip-num-threads has no effect"},
    {"x --tab-num-threads=3 --tab-num-threads=x", "!", "'x' is not a digit"},
};

std::string joined(words const& all_words) {
  std::string all;
  for (auto const& w : all_words) all += (all.empty() ? "" : " ") + w;
  return all;
}

} // namespace

TEST_CASE("device: command lines of every form leave the right words, set the right knobs, or are refused") {
  for (line const& one : lines) {
    CAPTURE(one.words);
    words all;
    std::istringstream from{one.words};
    for (std::string word; from >> word;) all.push_back(word);
    std::string knobs;
    auto const start = keel::test::start<app>(all, [&](auto& run) {
      for (auto const& k : run.knobs())
        if (k.from == kd::source::command_line)
          knobs += (knobs.empty() ? "" : " ") + k.option.substr(6) + "=" + k.value;
    });
    CHECK(start.said.empty());
    bool const is_refused = one.left == "!";
    CHECK(start.refusal.empty() != is_refused);
    if (is_refused) CHECK(start.left == all);
    else CHECK(joined(start.left) == one.left);
    CHECK((is_refused ? start.refuses(one.set) : knobs == one.set));
  }
}

TEST_CASE("device: an unknown variable that is nearly a knob's is taken for that") {
  std::vector<std::string_view> const devices{"tbb"};
  auto const meant = [&](std::string_view prefix, char const* written) {
    return kd::meant_variable({prefix, devices}, written);
  };
  CHECK(meant("keel", "KEEL_TBB_NUM_THREDS") == "KEEL_TBB_NUM_THREADS");
  CHECK(meant("keel", "KEEL_NUM_THREDS") == "KEEL_NUM_THREADS");
  CHECK(meant("keel", "KEEL_THREADS") == "KEEL_NUM_THREADS");
  CHECK(meant("app", "APP_NUM_TREADS") == "APP_NUM_THREADS");
  for (char const* none : {"KEEL_CUDA_NUM_THREDS", "KEEL_FUZZ_SECONDS", "KEEL_"}) CHECK(meant("keel", none).empty());
  CHECK(meant("app", "APP_HOME").empty());
  CHECK(kd::nearest_option("devise") == "device");
}

TEST_CASE("device: the help has each option once, in columns, with its variable") {
  for (char const* const prefix : {"app", "app-of-many-words"}) {
    std::string const help = kd::help_text({prefix});
    for (auto const& k : kd::all_knobs) {
      auto const variable = kd::variable_name(prefix, k.option);
      auto const text = help.find("  " + std::string{k.help} + "  [" + variable + "]");
      REQUIRE(text != std::string::npos);
      auto const line = help.rfind('\n', text) + 1; // 0 in the first line
      CHECK(help.find("  --" + std::string{prefix} + "-" + std::string{k.option}, line) == line);
      CHECK(text + 2 - line == std::max<std::size_t>(34, help.find_last_not_of(' ', text) + 3 - line));
    }
  }
  CHECK(kd::help_text({"app"}).find("--app-print-configuration[=json]") != std::string::npos);
  CHECK(kd::help_text<app>().find("--tab-only-reads") != std::string::npos);
  CHECK(kd::help_text<keel::defaults>().find("only-reads") == std::string::npos); // for ledgers
}

TEST_CASE("device: the knobs that ranks give alike are those that messages depend on, by value") {
  kd::program_settings const none;
  std::string alike;
  for (auto const& row : kd::all_knobs) {
    if (!row.of_program) continue;
    kd::program_settings changed;
    for (char const* text : {"no", "2", "on", "rank", "off", "place", "text"})
      if (message_of([&] { row.of_program->store(changed, {&row, text, "x", kd::source::code}); }).empty() &&
          row.of_program->show(changed) != row.of_program->show(none))
        break;
    CAPTURE(row.option);
    CHECK(row.of_program->show(changed) != row.of_program->show(none));
    CHECK(row.of_program->source(changed) == kd::source::code);
    if (kd::alike_knobs(changed) != kd::alike_knobs(none)) alike += std::string{row.option} + " ";
  }
  CHECK(alike == "tracking exchange-through exchange-together restart checkpoint-every checkpoint-before-end help ");
}

TEST_CASE("device: the configuration as JSON is one line, whatever bytes a value has; as a table it is aligned") {
  std::string const awkward = "\"\\\n\t\x01\x7f/\xc3\xa9\xff\xed\xa0\x80\xf0\x9f\x9a\xa2";
  auto const text =
      kd::json({{"--x", "X", "", awkward, kd::source::file}, {"--y", "Y", "tbb", "2", kd::source::unset}});
  CHECK(text.find('\n') == text.size() - 1);
  auto const all = nlohmann::json::parse(text).at("knobs");
  REQUIRE(all.size() == 2);
  CHECK(all[0].at("value") == "\"\\\n\t\x01\x7f/\xc3\xa9????\xf0\x9f\x9a\xa2");
  CHECK(all[0].at("device").is_null());
  CHECK(all[1] ==
        nlohmann::json{{"option", "--y"}, {"variable", "Y"}, {"device", "tbb"}, {"value", "2"}, {"source", "unset"}});
  CHECK(nlohmann::json::parse(kd::json({})).at("knobs").empty());
  CHECK(kd::table({{"--x", "X", "", "1", kd::source::unset}, {"--longer", "LONGER", "tbb", "2", kd::source::file}}) ==
        "  knob      device  value  source\n"
        "  --x       -       1      unset\n"
        "  --longer  tbb     2      file\n");
}

TEST_CASE("device: a lack of memory is reported in words, any other exception in its own") {
  auto const said = [](std::exception const& e) {
    return keel::test::said_to_stderr([&] { CHECK(keel::report(e) == 2); });
  };
  CHECK(said(std::bad_alloc{}).starts_with("keel::report: there is not enough memory"));
  CHECK(said(std::runtime_error{"mine"}) == "mine\n");
}

namespace {

/// The knobs of a text, as `id device text` each.
std::string knobs(std::string_view text) {
  std::string all;
  for (auto const& a : kd::parse_config({"tab"}, "f", text)) {
    CHECK(a.from == kd::source::file);
    all += std::string{a.row->option} + "/" + std::string{a.device} + "/" + a.text + ";";
  }
  return all;
}

std::string refusal(std::string_view text) {
  return message_of([&] { (void)knobs(text); });
}

/// The message of a start with this file, or nothing.
std::string start_with(std::string const& path, char const* other = "--tab-log-level=off") {
  return keel::test::start<app>({"x", "--tab-config", path, other}).refusal;
}

} // namespace

TEST_CASE("device: a file holds a knob a line, and a section those of one device") {
  CHECK(knobs("") == "");
  CHECK(
      knobs(
          "# comments stand on lines of their own\ndevice = cuda,serial\nnum-threads = 4\n[tbb]\nnum-threads = 2\n") ==
      "device//cuda,serial;num-threads//4;num-threads/tbb/2;"); // as in the guide
  CHECK(knobs("\xef\xbb\xbf# all\r\n; of it\r\n\r\n  num-threads=4 \r\n[ tbb ]\r\nnum-threads\t=\t2\r\n[cuda]\r\n"
              "device-instance = 1\r\n") == "num-threads//4;num-threads/tbb/2;device-instance/cuda/1;");
  CHECK(knobs("tbb-stack-size = 3M\ncopy-back-vars = a = b, c\ntrace-file =\n") ==
        "stack-size/tbb/3M;copy-back-vars//a = b, c;trace-file//;");
}

TEST_CASE("device: what is wrong in a file is refused with file and line") {
  struct {
    std::string text, refusal;
  } const wrong[]{
      {"# x\nnum-thread = 4", "2: unknown knob 'num-thread' (no knob has this name). Did you mean num-threads?"},
      {"[tbb]\nlog-level = off", "2: unknown knob 'log-level' of tbb (no device has a knob of this name). Did you mean "
                                 "log-level?"},
      {"[tbb", "1: '[tbb' is not a section (it has no ] at its end, or no name). Write [serial]."},
      {"[]", "1: '[]' is not a section"},
      {"\n\n[tbbb]", "3: there is no device 'tbbb'"},
      {"help", "1: 'help' is not a setting (it has no =)"},
      {"{\"num-threads\": 4}", "1: '{\"num-threads\": 4}' is not a setting"},
      {"= 4", "1: unknown knob ''"},
      {"\n" + std::string(5000, 'x'), "2: the line has 5000 bytes (no knob takes so much). Is this a file of knobs?"},
      {"config = g", "1: a configuration file names another one"},
      {"device=a\nnum-threads=1\n[tbb]\nnum-threads=1\n[serial]\n[tbb]\nnum-threads=2",
       "7: num-threads is set twice (f:4: num-threads is the first). Remove one."},
      {"--tab-device = serial", "1: unknown knob '--tab-device'"}};
  for (auto const& one : wrong) {
    CAPTURE(one.text);
    CHECK(refusal(one.text).starts_with("keel::device: f:" + one.refusal));
  }
}

TEST_CASE("device: of several files the last is read, and what cannot be read, or is too large, is refused") {
  keel::test::text_file const bad{"log-level = error\n\nnum-devices = 4x\n"};
  CHECK(start_with(bad.path).find(bad.path + ":3: num-devices='4x' is not a value for this knob") != std::string::npos);
  CHECK(
      start_with(bad.path, "--tab-config=/no/such/file") ==
      "keel::device: --tab-config: the configuration file '/no/such/file' cannot be read (No such file or directory). "
      "Name another file.");
  CHECK(start_with("/").find("(Is a directory)") != std::string::npos);
  keel::test::folder const pipes("keel-config-pipe");
  auto const pipe = (pipes.path / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(start_with(pipe).find("cannot be read (it is not a regular file)") != std::string::npos);
}

TEST_CASE("device: the code may name a file, which beats the rest of the code, and another source another file") {
  keel::test::text_file const file{"log-level = error\n"};
  keel::start<app> code;
  code.set_log_level(kd::log_level::off);
  code.set_config(file.path);
  using program = keel::test::running<app>;
  {
    program const p{{}, code};
    CHECK(p.run.program().log_level == kd::log_level::error);
    CHECK(p.run.program().source(&kd::program_settings::log_level) == kd::source::file);
  }
  CHECK(message_of([&] { program{{"--tab-config=/no/such/file"}, code}; }).find("'/no/such/file'") !=
        std::string::npos);
  kd::set_log_level(kd::log_level::warning);
}

TEST_CASE("device: a file is a text of a megabyte at most, and a line has 4,096 bytes") {
  CHECK(knobs("# " + std::string(5000, 'x') + "\n").empty());
  CHECK(knobs("trace-file = " + std::string(4096 - 13, 'x')).starts_with("trace-file//xxx"));
  CHECK(refusal("trace-file = " + std::string(4097 - 13, 'x')).find("the line has 4097 bytes") != std::string::npos);
  auto const start_with_text = [](std::string text, std::size_t bytes) {
    text.resize(bytes, ' ');
    keel::test::text_file const file{text};
    return start_with(file.path);
  };
  CHECK(start_with_text(std::string{"log-level\0", 10}, 10).find("it is not a text") != std::string::npos);
  CHECK(start_with_text("#", std::size_t{1} << 20).empty());
  CHECK(start_with_text("#", (std::size_t{1} << 20) + 1).find("it has more than 1048576 bytes") != std::string::npos);
}

namespace {

struct lenient : keel::defaults {
  using ranks = keel::machine::alone;
  static constexpr std::string_view prefix = "strict-test";
};
struct strict : lenient {
  static constexpr bool is_strict = true;
};
struct demanding : lenient {
  static constexpr bool requires_device = true;
};

/// The message of the refusal, or what was said, or nothing.
template <class App>
std::string start_with(words const& all) {
  auto const start = keel::test::start<App>(all);
  CHECK((start.refusal.empty() || start.left == all));
  return start.refusal + start.said;
}

std::string const why = " (in strict mode, settings without effect are refused). ";

} // namespace

TEST_CASE("device: what is warned of is refused in strict mode, by the policy or by the knob") {
  auto const all = [](words line, std::string const& text, std::string const& hint) {
    CHECK(start_with<lenient>(line) == "keel: warning: " + text + ". " + keel::policy::as_sentence(hint) + "\n");
    CHECK(start_with<strict>(line) == "keel::device: " + text + why + keel::policy::as_sentence(hint));
    line.push_back("--strict-test-strict");
    CHECK(start_with<lenient>(line) == "keel::device: " + text + why + keel::policy::as_sentence(hint));
    variable const off{"STRICT_TEST_STRICT", "off"};
    line.pop_back();
    CHECK(start_with<strict>(line) == "keel: warning: " + text + ". " + keel::policy::as_sentence(hint) + "\n");
  };
  all({"--keel-device=serial"}, "--keel-device is left to the program, because its options begin with --strict-test-",
      "Did you mean --strict-test-device");
  all({"--strict-test-hip-device-instance=0"},
      "--strict-test-hip-device-instance has no effect: this program has no device hip with this knob", "Leave it out");
  all({"--strict-test-only-reads-current-level=yes"},
      "--strict-test-only-reads-current-level has no effect: this program has no ledger, whose routines name no levels",
      "Leave it out");
  variable const near{"STRICT_TEST_NUM_THREDS", "2"};
  all({}, "STRICT_TEST_NUM_THREDS is read by nothing", "Did you mean STRICT_TEST_NUM_THREADS");
}

TEST_CASE("device: strict mode knows every variable with the prefix, and leaves the program's own words alone") {
  CHECK(start_with<strict>({"in.txt", "--own=3", "-x", "--keel-colour", "--", "--keel-device=x"}).empty());
  variable const own{"STRICT_TEST_COLOUR_OF_THE_SEA", "blue"};
  CHECK(start_with<lenient>({}).empty());
  CHECK(start_with<strict>({}) == "keel::device: STRICT_TEST_COLOUR_OF_THE_SEA is read by nothing" + why + "Unset it.");
}

TEST_CASE("device: a program that requires a device refuses to choose one, but for its help") {
  std::string const refusal = start_with<demanding>({});
  CHECK(refusal.starts_with(
      "keel::device: no device was named (this program does not choose one by itself). Write --strict-test-device="));
  CHECK(start_with<demanding>({"--strict-test-device=any"}).empty());
  CHECK(start_with<demanding>({"--strict-test-help"}).empty());
  variable const v{"STRICT_TEST_DEVICE", "any"};
  CHECK(start_with<demanding>({}).empty());
}
