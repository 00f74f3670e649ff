// SPDX-License-Identifier: MIT
#include <keel/device/print.hpp>

#include <keel/impl/device/device_knobs.hpp>
#include <keel/device/runtime.hpp>
#include <keel/impl/device/kinds.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include "command_line.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kd = keel::device;

namespace {

struct app : keel::defaults {
  static constexpr std::string_view prefix = "print";
  using ranks = keel::machine::alone;
};

int configured = 0; // how often

/// A device with threads, of which two run, and instances; it is not running.
kd::device_facts with_threads() {
  static std::atomic<unsigned> told{0};
  kd::device_facts facts{.name = "runs",
                         .knobs = {},
                         .starts_itself = false,
                         .configure = [](keel::space::settings const&) { ++configured; },
                         .is_running = [] { return false; },
                         .default_threads = nullptr,
                         .max_devices = nullptr,
                         .pci_id = nullptr,
                         .told = &told};
  facts.knobs[std::size_t(kd::knob::threads)] = {[] { return keel::space::bounds{1, 8}; },
                                                 []() -> std::optional<std::int64_t> { return 2; }};
  return facts;
}

} // namespace

TEST_CASE("device: the configuration as JSON is one line, whatever bytes a value has") {
  std::string const awkward = "\"\\\n\t\x01\x7f/\xc3\xa9\xff\xed\xa0\x80\xf0\x9f\x9a\xa2";
  auto const text = kd::json({{"--x", "X", "", awkward, kd::source::file}, {"--y", "Y", "tbb", "", kd::source::unset}});
  CHECK(text.find('\n') == text.size() - 1);
  auto const all = nlohmann::json::parse(text).at("knobs");
  REQUIRE(all.size() == 2);
  CHECK(all[0].at("value") == "\"\\\n\t\x01\x7f/\xc3\xa9????\xf0\x9f\x9a\xa2");
  CHECK(all[0].at("device").is_null());
  CHECK(all[0].at("source") == "file");
  CHECK(all[1].at("device") == "tbb");
  CHECK(nlohmann::json::parse(kd::json({})).at("knobs").empty());
}

TEST_CASE("device: the JSON of a runtime has every knob with its source") {
  keel::test::command_line line{{"app", "--print-num-devices=3", "--print-trace-file=a\"b"}};
  keel::runtime<app> run{line.count, line.data()};
  auto const all = nlohmann::json::parse(kd::json(run.knobs())).at("knobs");
  CHECK(all.size() == run.knobs().size());
  int found = 0;
  for (auto const& one : all) {
    if (one.at("option") == "--print-num-devices")
      found += one == nlohmann::json{{"option", "--print-num-devices"},
                                     {"variable", "PRINT_NUM_DEVICES"},
                                     {"device", nullptr},
                                     {"value", "3"},
                                     {"source", "command line"}};
    if (one.at("option") == "--print-trace-file") found += one.at("value") == "a\"b";
  }
  CHECK(found == 2);
}

TEST_CASE("device: the configuration is printed as a table or as JSON, and as nothing else") {
  auto const form = [](std::string const& option) {
    keel::test::command_line line{{"app", option, "json"}};
    auto const taken = kd::read_arguments({"print"}, line.count, line.data());
    REQUIRE(taken.knobs.size() == 1);
    CHECK(taken.rest.size() == 2); // it takes no word after it
    return kd::kinds::form.parse(taken.knobs[0].where, taken.knobs[0].text);
  };
  CHECK(form("--print-print-configuration") == kd::print_form::text);
  CHECK(form("--print-print-configuration=json") == kd::print_form::json);
  CHECK(form("--print-print-configuration=text") == kd::print_form::text);
  for (std::string const word : {"text", "1", "true", "on", "yes"})
    CHECK(form("--print-print-configuration=" + word) == kd::print_form::text);
  for (std::string const word : {"off", "0", "false", "no"})
    CHECK(form("--print-print-configuration=" + word) == kd::print_form::off);
  CHECK_THROWS_WITH_AS(
      form("--print-print-configuration=xml"),
      "keel::device: --print-print-configuration='xml' is not a value for this knob (the known words are "
      "json, text, 1, true, on, yes, 0, false, off, no). Take one of them.",
      keel::error);
  CHECK(kd::help_text({"print"}).find("--print-print-configuration[=json]") != std::string::npos);
}

TEST_CASE("device: of a device that runs, a knob is lost if it was set and something else runs") {
  kd::device_facts facts = with_threads();
  facts.is_running = [] { return true; };
  std::array<kd::held_value, 2> values;
  kd::device_knobs const knobs{facts, values.data()};
  CHECK(knobs.lost().empty());
  values[0].value = 4; // keel proposes it, so nobody misses it
  CHECK(knobs.lost().empty());
  values[0].set(4, kd::source::environment);
  CHECK(knobs.lost() == std::vector<std::string>{"num-threads=4 of runs"});
  values[0].set(2, kd::source::environment);
  CHECK(knobs.lost().empty());
  facts.is_running = [] { return false; };
  values[0].set(4, kd::source::environment);
  CHECK(knobs.lost().empty());
}

TEST_CASE("device: a value is refused or taken, and a device that starts itself is told at once") {
  kd::device_facts facts = with_threads();
  facts.knobs[std::size_t(kd::knob::device_instance)] = {[] { return keel::space::bounds{0, 3}; }};
  CHECK_FALSE(facts.has(kd::knob::numa_regions));
  std::array<kd::held_value, 2> values;
  kd::changeable_knobs const knobs{&facts, values.data()};
  CHECK(knobs.set(kd::knob::threads, 0) == kd::outcome::invalid_value);
  CHECK(knobs.set(kd::knob::threads, -1) == kd::outcome::invalid_value);
  CHECK(knobs.set(kd::knob::threads, 9) == kd::outcome::out_of_bounds);
  CHECK(knobs.set(kd::knob::numa_regions, 1) == kd::outcome::invalid_for_device);
  CHECK(knobs.set(kd::knob::device_instance, -1) == kd::outcome::invalid_value);
  CHECK(knobs.set(kd::knob::device_instance, 0) == kd::outcome::success);
  CHECK(knobs.read().value(kd::knob::device_instance) == 0);
  configured = 0;
  CHECK(knobs.set(kd::knob::threads, 4) == kd::outcome::success);
  CHECK(configured == 0);
  facts.starts_itself = true;
  CHECK(knobs.set(kd::knob::threads, 3) == kd::outcome::success);
  CHECK(configured == 1);
  CHECK(knobs.set(kd::knob::threads, 9) == kd::outcome::out_of_bounds);
  CHECK(configured == 1);
}

TEST_CASE("device: a device is told what was set and what keel proposes, or what was set alone") {
  kd::device_facts const facts = with_threads();
  std::array<kd::held_value, 1> values;
  kd::device_knobs const knobs{facts, values.data()};
  CHECK(knobs.told() == keel::space::settings{});
  values[0].value = 4;
  CHECK(knobs.told() == keel::space::settings{.threads = 4});
  CHECK(knobs.told(true) == keel::space::settings{});
  values[0].set(3, kd::source::code);
  CHECK(knobs.told() == keel::space::settings{.threads = 3});
  CHECK(knobs.told(true) == keel::space::settings{.threads = 3});
}

TEST_CASE("device: the columns of the table are as wide as their longest text, and two blanks apart") {
  CHECK(kd::table({{"--x", "X", "", "1", kd::source::unset}, {"--longer", "LONGER", "tbb", "2", kd::source::file}}) ==
        "  knob      device  value  source\n"
        "  --x       -       1      unset\n"
        "  --longer  tbb     2      file\n");
}
