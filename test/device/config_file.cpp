// SPDX-License-Identifier: MIT
#include <keel/impl/device/config_file.hpp>

#include <keel/device/runtime.hpp>

#include <doctest/doctest.h>
#include "command_line.hpp"
#include "text_file.hpp"

#include <support/folder.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <sys/stat.h>

namespace kd = keel::device;

namespace {

using file = keel::test::text_file;

/// A device that this Kokkos was built with.
using host = std::conditional_t<keel::supported<keel::serial>, keel::serial, keel::openmp>;

struct app : keel::defaults {
  static constexpr std::string_view prefix = "conf";
  using ranks = keel::machine::alone;
};

/// The knobs of a text, as `id device text` each.
std::string knobs(std::string_view text) {
  std::string all;
  for (auto const& a : kd::parse_config("conf", "f", text)) {
    CHECK(a.from == kd::source::file);
    all += std::string{kd::facts(a.id).option} + "/" + std::string{a.device} + "/" + a.text + ";";
  }
  return all;
}

std::string refusal(std::string_view text) {
  try {
    return knobs(text);
  } catch (keel::error const& e) {
    return e.what();
  }
}

/// What the runtime says to its options: the message, or the level of its log and who set it.
std::string start_with(std::vector<std::string> words, std::string const& proposed = {}) {
  keel::test::command_line line{std::move(words)};
  auto const before = line.left();
  try {
    keel::start<app> code;
    code.set_log_level(kd::log_level::off);
    if (!proposed.empty()) code.set_config(proposed);
    keel::runtime<app> run{line.count, line.data(), code};
    return std::string{kd::log_level_words[std::size_t(run.program().log_level)]} + ", " +
           std::string{kd::name(run.program().source(kd::knob::log_level))};
  } catch (keel::error const& e) {
    CHECK(line.left() == before);
    return e.what();
  }
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
  CHECK(refusal("# x\nnum-thread = 4") ==
        "keel::device: f:2: unknown knob 'num-thread' (no knob has this name). Did you mean num-threads?");
  CHECK(refusal("[tbb]\nlog-level = off") == "keel::device: f:2: unknown knob 'log-level' of tbb (no device has a knob "
                                             "of this name). Did you mean log-level?");
  CHECK(refusal("[tbb") == "keel::device: f:1: '[tbb' is not a section (it has no ] at its end, or no name). Write "
                           "[serial].");
  CHECK(refusal("[]").find("f:1: '[]' is not a section") != std::string::npos);
  CHECK(refusal("\n\n[tbbb]").find("f:3: there is no device 'tbbb'") != std::string::npos);
  CHECK(refusal("help").find("f:1: 'help' is not a setting (it has no =)") != std::string::npos);
  CHECK(refusal("= 4").find("f:1: unknown knob ''") != std::string::npos);
  CHECK(refusal("\n" + std::string(5000, 'x')) == "keel::device: f:2: the line has 5000 bytes (no knob takes so "
                                                  "much). Is this a file of knobs?");
  CHECK(refusal("config = g").find("f:1: a configuration file names another one") != std::string::npos);
  CHECK(refusal("device=a\nnum-threads=1\n[tbb]\nnum-threads=1\n[serial]\n[tbb]\nnum-threads=2") ==
        "keel::device: f:7: num-threads is set twice (f:4: num-threads is the first). Remove one.");
  CHECK(refusal("--conf-device = serial").find("unknown knob '--conf-device'") != std::string::npos);
}

TEST_CASE("device: a file may be JSON, with an object for each device") {
  CHECK(knobs(R"({"device": "cuda,serial", "num-threads": 4, "tbb": {"num-threads": 2}})") ==
        "device//cuda,serial;num-threads//4;num-threads/tbb/2;"); // as in the guide
  CHECK(knobs("\xef\xbb\xbf\r\n {} \n") == "");
  CHECK(knobs("{\"strict\" : true,\n\t\"copy-back-all-levels\":false, \"tbb\": {} , \"tbb-stack-size\":\"3M\"}") ==
        "strict//true;copy-back-all-levels//false;stack-size/tbb/3M;");
  CHECK(knobs(R"({"trace-file": "\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\udea2"})") ==
        "trace-file//\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\xa2;");
  CHECK(knobs(R"({"trace-file": "\u007f\u0080\u07ff\u0800\uffff\ud800\udc00"})") == // the ends of each length
        "trace-file//\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80;");
  CHECK(knobs(R"({"num-threads": -1.5e3})") == "num-threads//-1.5e3;"); // for the knob to refuse
}

TEST_CASE("device: what is wrong in JSON is refused with file and line") {
  struct row {
    std::string_view text, told;
  };
  for (auto const& one : {
           row{"{", "f:1: this is not a configuration (a \" is missing)"},
           row{"{\"num-threads\": 4", "f:1: this is not a configuration (a } is missing)"},
           row{"{\"num-threads\": 4,}", "(a \" is missing)"},
           row{"{\"num-threads\" 4}", "(a : is missing)"},
           row{"{\"num-threads\": }", "(a value is missing, or is neither a text, a number, true nor false)"},
           row{"{\"num-threads\": null}", "(a value is missing"},
           row{"{\"num-threads\": [4]}", "(a value is missing"},
           row{"{\"num-threads\": 4}\n\n}", "f:3: this is not a configuration (something follows the last })"},
           row{"{\"num-threads\": 4}{}", "something follows"},
           row{"{'num-threads': 4}", "(a \" is missing)"},
           row{"{// four\n}", "(a \" is missing)"},
           row{"{\n\"num-thread\": 4}",
               "f:2: unknown knob 'num-thread' (no knob has this name). Did you mean num-threads?"},
           row{"{\"tbbb\": {}}", "f:1: there is no device 'tbbb'"},
           row{"{\"tbb\": {\"log-level\": \"off\"}}", "unknown knob 'log-level' of tbb"},
           row{"{\"tbb\": {\"num-threads\": {}}}", "(a value is missing"},
           row{"{\"num-threads\": 1,\n\"num-threads\": 2}",
               "f:2: num-threads is set twice (f:1: num-threads is the first)"},
           row{"{\"config\": \"g\"}", "a configuration file names another one"},
           row{"{\"trace-file\": \"a", "(a text has no \" at its end)"},
           row{"{\"trace-file\": \"a\nb\"}", "(a text has no \" at its end)"},
           row{"{\"trace-file\": \"\\x\"}", "(a \\ stands before a character that it does not change)"},
           row{"{\"trace-file\": \"\\", "(a \\ stands before"},
           row{"{\"trace-file\": \"\\u12\"}", "(\\u has no four digits)"},
           row{"{\"trace-file\": \"\\u12g4\"}", "(\\u has no four digits)"},
           row{"{\"trace-file\": \"\\u0000\"}", "(a text has a zero)"},
           row{"{\"trace-file\": \"\\ud800\"}", "(half a character stands alone)"},
           row{"{\"trace-file\": \"\\ude00\\ud800\"}", "(half a character stands alone)"},
           row{"{\"knobs\": 4}", "unknown knob 'knobs'"},
           row{"{\"knobs\": [4]}", "(a { is missing)"},
           row{"{\"knobs\": [{\"size\": 4}]}", "('size' is no part of a knob)"},
           row{"{\"knobs\": [{\"option\": \"--other-help\"}]}",
               "(the option is '--other-help', and those of this program begin with --conf-)"},
           row{"{\"knobs\": [{\"option\": \"--conf-helm\", \"value\": \"1\"}]}", "unknown knob 'helm'"},
       }) {
    std::string const message = refusal(one.text);
    CAPTURE(one.text);
    CAPTURE(message);
    CHECK(message.starts_with("keel::device: f:"));
    CHECK(message.find(one.told) != std::string::npos);
  }
}

TEST_CASE("device: the configuration that is printed as JSON is read back from a file") {
  auto const rows = [](std::vector<std::string> words) {
    keel::test::command_line line{std::move(words)};
    keel::runtime<app> run{line.count, line.data()};
    return run.knobs();
  };
  auto const first = rows({"app", "--conf-num-devices=2", "--conf-trace-file=a \"b\"\t\xc3\xa9", "--conf-end-timeout=7",
                           "--conf-copy-back-vars=", "--conf-log-level=error", "--conf-tbb-num-threads=1",
                           "--conf-copy-back-every=never", "--conf-device=" + std::string{host::name}});
  file const printed{kd::json(first)};
  auto const again = rows({"app", "--conf-config=" + printed.path});
  REQUIRE(again.size() == first.size());
  int set = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    CAPTURE(first[i].option);
    CHECK(again[i].device == first[i].device);
    if (first[i].option == "--conf-config") continue;
    CHECK(again[i].value == first[i].value);
    bool const was_set = first[i].from != kd::source::unset;
    CHECK(again[i].from == (was_set ? kd::source::file : kd::source::unset));
    set += was_set;
  }
  CHECK(set >= 7);
}

TEST_CASE("device: the words that are shown for nothing, or for all, are read as that") {
  keel::test::command_line line{
      {"app", "--conf-copy-back-vars=none", "--conf-topology-cache=off", "--conf-num-devices=all"}};
  keel::runtime<app> run{line.count, line.data()};
  CHECK(run.residency_settings().copy_back_vars.empty());
  CHECK(run.program().topology_cache.empty());
  CHECK(run.program().num_devices == std::nullopt);
  CHECK(run.program().source(kd::knob::num_devices) == kd::source::command_line);
}

TEST_CASE("device: a file is stronger than the code and weaker than the environment and the command line") {
  file const f{"log-level = error\n"};
  CHECK(start_with({"app"}) == "off, code");
  CHECK(start_with({"app", "--conf-config", f.path}) == "error, file");
  CHECK(start_with({"app"}, f.path) == "error, file");
  CHECK(start_with({"app", "--conf-config=/no/such/file", "--conf-config=" + f.path}) == "error, file");
  CHECK(start_with({"app", "--conf-config=" + f.path, "--conf-log-level=information"}) == "information, command line");
  CHECK(start_with({"app", "--conf-log-level=information", "--conf-config=" + f.path}) == "information, command line");
  {
    keel::test::variable const v{"CONF_CONFIG", f.path.c_str()};
    CHECK(start_with({"app"}) == "error, file");
    CHECK(start_with({"app"}, "/no/such/file") == "error, file");
    keel::test::variable const level{"CONF_LOG_LEVEL", "warning"};
    CHECK(start_with({"app"}) == "warning, environment");
  }
}

TEST_CASE("device: a file that cannot be read, or holds a bad value, is refused whole") {
  CHECK(
      start_with({"app", "x", "--conf-config=/no/such/file"}) ==
      "keel::device: --conf-config: the configuration file '/no/such/file' cannot be read (No such file or directory). "
      "Name another file.");
  {
    keel::test::variable const v{"CONF_CONFIG", "/no/such/file"};
    CHECK(start_with({"app"}).find(" CONF_CONFIG: the configuration file '/no/such/file'") != std::string::npos);
  }
  CHECK(start_with({"app", "--conf-config=/"}).find("(Is a directory)") != std::string::npos);
  CHECK(start_with({"app", "--conf-config=/dev/zero"}).find("cannot be read (it ") != std::string::npos);
  keel::test::folder const pipes("keel-config-pipe");
  auto const pipe = (pipes.path / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(start_with({"app", "--conf-config", pipe}).find("cannot be read (it is not a regular file)") !=
        std::string::npos);
  CHECK(start_with({"app", "--conf-config="}).find("--conf-config is empty (it names a file)") != std::string::npos);
  file const bad{"log-level = error\n\nnum-devices = 4x\n"};
  CHECK(start_with({"app", "--conf-config", bad.path}) ==
        "keel::device: " + bad.path +
            ":3: num-devices='4x' is not a value for this knob ('x' follows the number). Give "
            "a whole number from 1 on, or all.");
  CHECK(start_with({"app"}) == "off, code");
  file const binary{std::string_view{"log-level\0", 10}};
  CHECK(start_with({"app", "--conf-config", binary.path}).find("it is not a text") != std::string::npos);
}

TEST_CASE("device: a file holds a megabyte at most, and a line 4,096 bytes") {
  std::string const long_line = "# " + std::string(5000, 'x') + "\n";
  CHECK(knobs(long_line).empty());
  CHECK(refusal("trace-file = " + std::string(4096 - 13, 'x')).starts_with("trace-file//xxx"));
  CHECK(refusal("trace-file = " + std::string(4097 - 13, 'x')).find("the line has 4097 bytes") != std::string::npos);
  auto const of_size = [](std::size_t bytes) {
    std::string text = "log-level = details\n#";
    text.resize(bytes, ' ');
    file const large{text};
    return start_with({"app", "--conf-config=" + large.path});
  };
  CHECK(of_size(std::size_t{1} << 20) == "details, file");
  CHECK(of_size((std::size_t{1} << 20) + 1).find("it has more than 1048576 bytes") != std::string::npos);
}

TEST_CASE("device: characters behind \\u become UTF-8, and half of one is refused") {
  CHECK(knobs(R"({"trace-file": "\u0042\u00e9\u20ac\ud83d\udea2"})") ==
        "trace-file//B\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\xa2;");
  for (char const* half : {R"(\udc00\udc00)", R"(\ud800)", R"(\ud800x)", R"(\ud800\u0041)", R"(\udfff)"})
    CHECK(refusal(R"({"trace-file": ")" + std::string{half} + "\"}").find("half a character stands alone") !=
          std::string::npos);
}
