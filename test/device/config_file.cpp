// SPDX-License-Identifier: MIT
#include <keel/impl/device/read.hpp>

#include <keel/device/runtime.hpp>

#include <doctest/doctest.h>
#include "command_line.hpp"
#include "text_file.hpp"

#include <support/folder.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace kd = keel::device;

namespace {

using file = keel::test::text_file;

struct app : keel::defaults {
  static constexpr std::string_view prefix = "conf";
  using ranks = keel::machine::alone;
};

/// The knobs of a text, as `id device text` each.
std::string knobs(std::string_view text) {
  std::string all;
  for (auto const& a : kd::parse_config({"conf"}, "f", text)) {
    CHECK(a.from == kd::source::file);
    all += std::string{a.row->option} + "/" + std::string{a.device} + "/" + a.text + ";";
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
           std::string{kd::name(run.program().source(&kd::program_settings::log_level))};
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
  CHECK(refusal("{\"num-threads\": 4}").find("f:1: '{\"num-threads\": 4}' is not a setting") != std::string::npos);
  CHECK(refusal("= 4").find("f:1: unknown knob ''") != std::string::npos);
  CHECK(refusal("\n" + std::string(5000, 'x')) == "keel::device: f:2: the line has 5000 bytes (no knob takes so "
                                                  "much). Is this a file of knobs?");
  CHECK(refusal("config = g").find("f:1: a configuration file names another one") != std::string::npos);
  CHECK(refusal("device=a\nnum-threads=1\n[tbb]\nnum-threads=1\n[serial]\n[tbb]\nnum-threads=2") ==
        "keel::device: f:7: num-threads is set twice (f:4: num-threads is the first). Remove one.");
  CHECK(refusal("--conf-device = serial").find("unknown knob '--conf-device'") != std::string::npos);
}

TEST_CASE("device: the words that are shown for nothing, or for all, are read as that") {
  keel::test::command_line line{{"app", "--conf-copy-back-vars=none", "--conf-num-devices=all"}};
  keel::runtime<app> run{line.count, line.data()};
  CHECK(run.residency_settings().copy_back_vars.empty());
  CHECK(run.program().num_devices == std::nullopt);
  CHECK(run.program().source(&kd::program_settings::num_devices) == kd::source::command_line);
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
