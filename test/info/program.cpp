// SPDX-License-Identifier: MIT
/// @file
/// keel-info from outside: what it prints, what it refuses, and with which exit code.

#include "said.hpp"

#include <keel/policy/macros.hpp>

#include <support/refused_call.hpp>
#include <support/test.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include <sys/syscall.h>

namespace {

using keel::test::folder, test::info, test::said;

/// What of a document breaks a JSON schema: the words of the standard that schema.json uses.
std::string broken(nlohmann::json const& schema, nlohmann::json const& value, std::string const& at = "$") {
  auto const is = [&](std::string const& type) {
    return type == "object"    ? value.is_object()
           : type == "array"   ? value.is_array()
           : type == "integer" ? value.is_number_integer()
           : type == "string"  ? value.is_string()
           : type == "boolean" ? value.is_boolean()
                               : type == "null" && value.is_null();
  };
  if (schema.contains("const") && schema["const"] != value) return at + " is another constant";
  if (auto const among = schema.find("enum"); among != schema.end())
    if (std::find(among->begin(), among->end(), value) == among->end()) return at + " is not in the enumeration";
  if (auto const type = schema.find("type"); type != schema.end()) {
    bool const good =
        type->is_string() ? is(*type) : std::any_of(type->begin(), type->end(), [&](auto& t) { return is(t); });
    if (!good) return at + " is of another type";
  }
  if (value.is_object()) {
    for (auto const& name : schema["required"])
      if (!value.contains(name)) return at + " has no " + name.get<std::string>();
    for (auto const& [name, member] : value.items()) {
      if (!schema["properties"].contains(name)) return at + " has " + name;
      if (auto wrong = broken(schema["properties"][name], member, at + '.' + name); !wrong.empty()) return wrong;
    }
  }
  if (value.is_array())
    for (auto const& item : value)
      if (auto wrong = broken(schema["items"], item, at + "[]"); !wrong.empty()) return wrong;
  return {};
}

std::string machine(char const* file) { return std::string{"--xml '"} + KEEL_TEST_DATA + '/' + file + '\''; }

} // namespace

TEST_CASE("info: without options it shows node, devices and knobs with value and source") {
  auto const heard = info("", "KEEL_LOG_LEVEL=error");
  CHECK(heard.code == 0);
  CHECK(heard.err.empty());
  for (char const* words : {"node: this machine, ", "devices of this keel: ", "--keel-device ", "unset", "environment"})
    CHECK_MESSAGE(heard.out.find(words) != std::string::npos, words);
}

TEST_CASE("info: the JSON is JSON, says its schema, and holds what the tables do") {
  auto const heard = info("--json --keel-log-level=error --map 8 " + machine("gpus8_numa4.xml"));
  REQUIRE(heard.code == 0);
  auto const all = nlohmann::json::parse(heard.out);
  CHECK(all["schema"] == 2);
  CHECK(all["node"]["cores"].size() == 32);
  CHECK(all["node"]["memories"].size() == 4);
  CHECK(all["node"]["devices"].size() == 12);
  CHECK(all["node"]["devices"][0]["pci_id"] == "0000:01:00.0");
  CHECK(all["node"]["devices"][0]["type"] == "gpu");
  CHECK(all["node"]["this_machine"] == false);
  CHECK(all["node"]["memories"][0]["base_address"].is_null());
  CHECK(all["map"].size() == 8);
  CHECK(all["map"][7]["cores"] == nlohmann::json{28, 29, 30, 31});
  CHECK(all["map"][7]["memory"] == 3);
  CHECK(all["devices"].size() >= 1);
  bool found = false;
  for (auto const& knob : all["knobs"])
    if (knob["option"] == "--keel-log-level") {
      found = true;
      CHECK(knob["value"] == "error");
      CHECK(knob["source"] == "command line");
      CHECK(knob["variable"] == "KEEL_LOG_LEVEL");
    }
  CHECK(found);
  CHECK(nlohmann::json::parse(info("--json").out)["map"].is_null());
}

TEST_CASE("info: the JSON keeps its schema on every machine") {
  auto const schema = nlohmann::json::parse(std::ifstream{KEEL_INFO_SCHEMA});
  CHECK(broken(schema, nlohmann::json::parse(info("--json").out)) == "");
  for (auto const& file : std::filesystem::directory_iterator{KEEL_TEST_DATA})
    if (auto const name = file.path().filename().string(); // hwloc 3 refuses those of hwloc 1
        name.ends_with(".xml") && !name.starts_with("hwloc1_")) {
      CAPTURE(file.path());
      auto document = nlohmann::json::parse(info("--json --map 3 --xml '" + file.path().string() + "'").out);
      CHECK(broken(schema, document) == "");
      document["node"]["cores"][0]["speed"] = 1;
      CHECK(broken(schema, document) == "$.node.cores[] has speed");
    }
}

TEST_CASE("info: --map shows where every rank runs, on what, and how far that is") {
  auto const heard = info("--map 2 " + machine("gpus_one_side.xml"));
  CHECK(heard.code == 0);
  CHECK(heard.out.find("rank  cores  hardware threads  memory  steps  device  PCI id        steps") !=
        std::string::npos);
  CHECK(heard.out.find("0     0-5    0-11              0       1      1       0000:01:00.0  2") != std::string::npos);
  CHECK(heard.out.find("1     6-11   12-23             1       1      0       0000:00:00.0  1") != std::string::npos);
}

TEST_CASE("info: latencies and bandwidths are shown where the system tells them") {
  auto const heard = info("--map 2 " + machine("latencies.xml"));
  CHECK(heard.out.find("rank  cores  hardware threads  memory  steps  latency  device") != std::string::npos);
  CHECK(heard.out.find("0     0-3    0-3               0       1      10       -") != std::string::npos);
  CHECK(info("--map 2 " + machine("attributes.xml")).out.find("latency (ns)") != std::string::npos);
  CHECK(info("--map 2 " + machine("gpus8_numa4.xml")).out.find("latency") == std::string::npos);
  auto const node = nlohmann::json::parse(info("--json " + machine("attributes.xml")).out)["node"];
  CHECK(node["latency_unit"] == "nanoseconds");
  CHECK(node["latencies"][3] == nlohmann::json{140, 160, 90, 110});
  CHECK(node["bandwidths"][0] == nlohmann::json{200000, 800000, 80000, 90000});
  auto const without = nlohmann::json::parse(info("--json " + machine("gpus8_numa4.xml")).out)["node"];
  CHECK(without["latency_unit"] == "unknown");
  CHECK(without["latencies"].is_null());
}

TEST_CASE("info: --by chooses the rule of the map") {
  auto const map = [](char const* rule) {
    auto const heard = info("--json --map 3 --by " + std::string{rule} + ' ' + machine("gpus_one_side.xml"));
    REQUIRE(heard.code == 0);
    return nlohmann::json::parse(heard.out)["map"];
  };
  CHECK(map("spread")[2]["cores"] == nlohmann::json{6, 7, 8, 9, 10, 11});
  CHECK(map("compact")[2]["cores"] == nlohmann::json::array({2}));
  CHECK(map("by_device")[0]["cores"] == nlohmann::json{6, 7});
  CHECK(info("--map 2 --by_device").code == 2);
  CHECK(info("--map 2 --by by_device " + machine("no_io.xml")).code == 2);
}

TEST_CASE("info: --explain says what a knob is, --help what there is") {
  auto const heard = info("--explain device --keel-device=simulated");
  CHECK(heard.code == 0);
  CHECK(heard.out.find("--keel-device, KEEL_DEVICE: ") == 0);
  CHECK(heard.out.find("now simulated, source: command line") != std::string::npos);
  CHECK(info("--explain bind").out.ends_with("now none, source: unset\n"));
  CHECK(info("--explain numa-regions").code == 0); // also where no device has it
  auto const threads = info("--explain num-threads").out;
  for (char const* name : {"--keel-num-threads", "keel-num-threads", "KEEL_NUM_THREADS", "=--keel-num-threads"})
    CHECK(info(std::string{"--explain"} + (*name == '=' ? "" : " ") + name).out == threads);
  for (char const* knob : {"only-reads-current-level", "copy-back-every"}) { // of ledgers, and of residency
    CHECK(info(std::string{"--explain "} + knob).out.starts_with(std::string{"--keel-"} + knob + ", KEEL_"));
    CHECK(info("--help").out.find(std::string{"--keel-"} + knob) != std::string::npos);
  }
  auto const help = info("--help");
  CHECK(help.code == 0);
  CHECK(help.out.starts_with("usage: keel-info"));
  CHECK(help.out.find("--keel-num-threads") != std::string::npos);
}

TEST_CASE("info: --version is that of keel") {
  auto const heard = info("--version");
  CHECK(heard.code == 0);
  CHECK(heard.out == "keel " + std::to_string(KEEL_VERSION / 10000) + '.' + std::to_string(KEEL_VERSION / 100 % 100) +
                         '.' + std::to_string(KEEL_VERSION % 100) + '\n');
}

TEST_CASE("info: output that is lost is an error, whatever was asked for") {
  for (std::string const& asked :
       std::vector<std::string>{"", "--help", "--json", "--map 2", "--explain device", "--version", "--check",
                                "--keel-help", "trace --help", "report --help"}) {
    CAPTURE(asked);
    auto const heard = info(asked + " >/dev/full");
    CHECK(heard.code == 2);
    CHECK(heard.err.find("keel::info: the output cannot be written (") != std::string::npos);
  }
}

TEST_CASE("info: control characters of a name or a value do not reach the terminal") {
  folder const here;
  std::ofstream{here / "config"} << "\033[2Jnum = 1\n";
  for (std::string const& asked : {"--keel-config=" + (here / "config").string(), std::string{"'--keel-\033[2Jx=1'"},
                                   std::string{"'--keel-num-threads=\033[2J'"}}) {
    auto const heard = info(asked);
    CHECK(heard.code == 2);
    CHECK(heard.err.find("?[2J") != std::string::npos);
    CHECK(heard.err.find('\033') == std::string::npos);
    CHECK(info(asked + " --check").out.find('\033') == std::string::npos);
  }
}

TEST_CASE("info: --check says what is wrong here, with exit code 1, and nothing where all is well") {
  struct {
    std::string arguments, variables;
    char const* line;
  } const wrong[]{
      {"", "KEEL_NUM_THREAD=1",
       "wrong: keel::info: KEEL_NUM_THREAD is read by nothing. Did you mean KEEL_NUM_THREADS?\n"},
      {"--keel-hip-device-instance=1", "",
       "wrong: keel::info: --keel-hip-device-instance has no effect: this program has no device hip with this knob. Leave it out.\n"},
      {"", "HWLOC_SYNTHETIC=pu:3",
       "wrong: keel::info: HWLOC_SYNTHETIC=pu:3 stands in the place of this machine (nothing can be bound there)."},
      {"", "HWLOC_SYNTHETIC=pu:3", "note: keel::info: HWLOC_SYNTHETIC=pu:3 is set ("},
      {"--map 60000", "",
       "wrong: keel::info: there is no room for 60000 ranks of 1 thread (hardware threads allowed: "},
  };
  for (auto const& w : wrong) {
    CAPTURE(w.line);
    auto const heard = info("--check " + w.arguments, w.variables);
    CHECK(heard.code == 1);
    CHECK(heard.out.find(w.line) != std::string::npos);
    CHECK(heard.out.ends_with(" wrong\n"));
    CHECK(heard.out.find("nothing is wrong") == std::string::npos);
  }
  auto const malformed = info("--check", "KEEL_NUM_THREADS=4x");
  CHECK(malformed.code == 1);
  CHECK(malformed.out ==
        "wrong: keel::device: KEEL_NUM_THREADS='4x' is not a value for this knob ('x' follows the number). "
        "Give a whole number from 1 on.\n1 thing is wrong\n");
  CHECK(info("--check --keel-device=quantum").code == 1);
  CHECK(info("--check --bogus").code == 2);
  auto const plain = info("--check");
  CHECK(plain.code == (plain.out.find("wrong: ") == std::string::npos ? 0 : 1));
  CHECK(plain.out.ends_with(plain.code == 0 ? "nothing is wrong\n" : " wrong\n"));
}

TEST_CASE("info: --check finds a system that refuses to bind processes and memory") {
  said heard;
  bool const filtered = keel::test::with_refused_call(SYS_sched_setaffinity, [&] { // as containers do it
    keel::test::with_refused_call(SYS_mbind, [&] { heard = info("--check"); });
  });
  if (!filtered) return keel::test::skip("no seccomp filters");
  CHECK(heard.code == 1);
  CHECK(heard.out.find("wrong: keel::info: this process cannot be bound to cores (") != std::string::npos);
  CHECK(heard.out.find("wrong: keel::info: memory cannot be bound to NUMA node 0 (") != std::string::npos);
}

TEST_CASE("info: wrong input is a message in keel's grammar, exit code 2, and no output") {
  std::string const endless = "HWLOC_SYNTHETIC='node:999999 pu:9999'";
  struct {
    std::string arguments;
    char const* message;
    std::string variables = {};
  } const wrong[]{
      {"--frob", "keel::info: unknown option --frob. See keel-info --help."},
      {"stray", "keel::info: unknown option stray."},
      {"--map 0", "keel::info: --map 0 cannot be drawn"},
      {"--map 4x", "keel::info: --map 4x cannot be drawn"},
      {"--map", "keel::info: --map has no value"},
      {"--map=", "keel::info: --map is empty"},
      {"--map 1,smt=x", "keel::device: --map: smt='x' is not a value"},
      {"--map 1,", "keel::device: --map"},
      {"--map 2 --by luck", "keel::info: --by luck is no rule."},
      {"--xml=", "keel::info: --xml is empty (it needs a value). See keel-info --help."},
      {"--xml ''", "keel::info: --xml is empty"},
      {"--explain=", "keel::info: --explain is empty"},
      {"--explain nothing", "keel::info: no knob is called nothing."},
      {"--check --xml file", "keel::info: --check goes with --map and keel's knobs alone"},
      {"--keel-num-thread 3", "keel::device: unknown option --keel-num-thread"},
      {"--keel-num-threads 4x", "keel::device: --keel-num-threads='4x'"},
      {"", "keel::device: KEEL_NUM_THREADS='4x'", "KEEL_NUM_THREADS=4x"},
      {"--xml /no/such/file", "keel::topology: /no/such/file cannot be read (No such file or directory)."},
      {"--xml /etc/passwd", "keel::topology: /etc/passwd is not a topology ("},
      {"--xml /dev/zero", "keel::topology: /dev/zero is not a topology (it is larger than 32 MiB)."},
      {"--json --xml /tmp", "keel::topology: /tmp cannot be read (Is a directory)."},
      {"", "keel::topology: HWLOC_XMLFILE=/no/such/file", "HWLOC_XMLFILE=/no/such/file"},
      {"--check", "keel::topology: HWLOC_XMLFILE=/no/such/file", "HWLOC_XMLFILE=/no/such/file"},
      {"", "keel::topology: HWLOC_SYNTHETIC=nonsense", "HWLOC_SYNTHETIC=nonsense"},
      {"", "keel::info: HWLOC_SYNTHETIC=node:999999 pu:9999 is not read (", endless},
      {"--check", "keel::info: HWLOC_SYNTHETIC=node:999999 pu:9999 is not read (", endless},
  };
  for (auto const& w : wrong) {
    CAPTURE(w.arguments);
    CAPTURE(w.variables);
    auto const heard = info(w.arguments, w.variables);
    CHECK(heard.code == 2);
    CHECK(heard.out.empty());
    CHECK_MESSAGE(heard.err.starts_with(w.message), heard.err);
    CHECK((heard.err.ends_with(".\n") || heard.err.find("Did you mean") != heard.err.npos));
  }
}

TEST_CASE("info: hwloc's variables stand for another machine, and a map follows the options of --keel-bind") {
  CHECK(info("", "HWLOC_SYNTHETIC='core:3 pu:1'").out.starts_with("node: HWLOC_SYNTHETIC=core:3 pu:1, 3 cores"));
  auto const threads = [](std::string const& options) {
    auto const heard = info("--json --map 1" + options + ' ' + machine("numa8_gpus4.xml"));
    return nlohmann::json::parse(heard.out)["map"][0]["hardware_threads"];
  };
  CHECK(threads("").size() == 96);
  CHECK(threads(",greedy=no") == nlohmann::json{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(threads(",greedy=no,smt=1") == nlohmann::json{0, 2, 4, 6, 8, 10});
  CHECK(threads(",gpu").size() < 96);
}
