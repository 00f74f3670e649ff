// SPDX-License-Identifier: MIT
#include <keel/device/print.hpp>

#include <keel/device/runtime.hpp>
#include <keel/impl/device/kinds.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include "command_line.hpp"

#include <string>
#include <vector>

namespace kd = keel::device;

namespace {

struct app : keel::defaults {
  static constexpr std::string_view prefix = "print";
  using ranks = keel::machine::alone;
};

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
    auto const taken = kd::read_arguments("print", line.count, line.data());
    REQUIRE(taken.knobs.size() == 1);
    CHECK(taken.rest.size() == 2); // it takes no word behind it
    return kd::kinds::form.parse(taken.knobs[0].where, taken.knobs[0].text);
  };
  CHECK(form("--print-print-configuration") == kd::print_form::text);
  CHECK(form("--print-print-configuration=json") == kd::print_form::json);
  CHECK(form("--print-print-configuration=text") == kd::print_form::text);
  CHECK(form("--print-print-configuration=off") == kd::print_form::off);
  CHECK_THROWS_WITH_AS(form("--print-print-configuration=xml"),
                       "keel::device: --print-print-configuration='xml' is not a value for this knob (the known words are "
                       "json, text, 1, true, on, yes, 0, false, off, no). Take one of them?",
                       keel::error);
  CHECK(kd::help_text("print").find("--print-print-configuration[=json]") != std::string::npos);
}
