// SPDX-License-Identifier: MIT
#include <keel/device/help.hpp>
#include <keel/impl/device/read.hpp>
#include <keel/impl/device/kinds.hpp>
#include <keel/policy/error.hpp>

#include <doctest/doctest.h>
#include "command_line.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

using arguments = keel::test::command_line;
using words = std::vector<std::string>;
using keel::device::knob;

/// What the command line holds, which is taken out of it.
keel::device::taken_arguments take(char const* prefix, arguments& a) {
  auto taken = keel::device::read_arguments({prefix}, a.count, a.data());
  keel::device::leave_rest(taken.rest, a.count, a.data());
  return taken;
}

std::string refusal(words all) {
  arguments a{all};
  try {
    (void)keel::device::read_arguments({"keel"}, a.count, a.data());
    return "accepted";
  } catch (keel::error const& e) {
    CHECK(a.left() == all);
    return e.what();
  }
}

} // namespace

TEST_CASE("device: only keel's and Kokkos' options leave the command line") {
  arguments a{{"app", "in.txt", "--keel-num-threads", "4", "-v", "--keel-device=cuda", "--kokkos-print-configuration",
               "--keel", "--keel-help", "out.txt"}};
  auto const taken = take("keel", a);
  CHECK(a.left() == words{"app", "in.txt", "-v", "--keel", "out.txt"});
  CHECK(a.ends_with_null());
  REQUIRE(taken.knobs.size() == 3);
  CHECK(taken.knobs[0].row == &keel::device::facts("num-threads"));
  CHECK(taken.knobs[0].text == "4");
  CHECK(taken.knobs[0].where == "--keel-num-threads");
  CHECK(taken.knobs[0].from == keel::device::source::command_line);
  CHECK(taken.knobs[1].row == &keel::device::facts("device"));
  CHECK(taken.knobs[1].text == "cuda");
  CHECK(taken.knobs[2].row == &keel::device::facts("help"));
  CHECK(taken.for_kokkos == words{"--kokkos-print-configuration"});
}

TEST_CASE("device: two dashes end the reading and stay") {
  arguments a{{"app", "--keel-num-threads=2", "--", "--keel-num-threads=3", "--kokkos-threads=4"}};
  auto const taken = take("keel", a);
  CHECK(taken.knobs.size() == 1);
  CHECK(taken.for_kokkos.empty());
  CHECK(a.left() == words{"app", "--", "--keel-num-threads=3", "--kokkos-threads=4"});
  CHECK(a.ends_with_null());
}

TEST_CASE("device: an empty command line and one without options are left alone") {
  arguments none{{}};
  CHECK(take("keel", none).knobs.empty());
  CHECK(none.count == 0);
  arguments a{{"app", "x"}};
  CHECK(take("keel", a).knobs.empty());
  CHECK(a.left() == words{"app", "x"});
  CHECK(a.ends_with_null());
}

TEST_CASE("device: the policy's prefix makes the names") {
  arguments a{{"app", "--my-app-num-threads=2", "--keel-num-threads=3"}};
  auto const taken = take("my-app", a);
  CHECK(taken.knobs.size() == 1);
  CHECK(a.left() == words{"app", "--keel-num-threads=3"});
  CHECK(keel::device::variable_prefix("my-app") == "MY_APP_");
}

TEST_CASE("device: a value may be written apart, be empty, or look like an option") {
  arguments a{{"app", "--keel-device", "--keel-device", "--keel-num-threads="}};
  auto const taken = take("keel", a);
  REQUIRE(taken.knobs.size() == 2);
  CHECK(taken.knobs[0].text == "--keel-device");
  CHECK(taken.knobs[1].text.empty());
}

TEST_CASE("device: a wrong option is an error that leaves the command line as it was") {
  CHECK(refusal({"app", "--keel-num-thread=4", "x"}) ==
        "keel::device: unknown option --keel-num-thread (no knob has this name). Did you mean --keel-num-threads?");
  CHECK(refusal({"app", "--keel-device=cuda", "--keel-"}).find("unknown option --keel-") != std::string::npos);
  CHECK(refusal({"app", "--keel-num-threads"}) ==
        "keel::device: --keel-num-threads has no value (it is the last argument). Write --keel-num-threads=N.");
  CHECK(refusal({"app", "--keel-help=yes"}).find("is a switch") != std::string::npos);
}

TEST_CASE("device: the environment is read by name, an empty value counts") {
  std::vector<keel::device::assignment> found;
  {
    keel::test::variable const threads{"READTEST_NUM_THREADS", "3"}, device{"READTEST_DEVICE", ""};
    found = keel::device::read_environment({"readtest"}).knobs;
  }
  std::sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.row < b.row; });
  REQUIRE(found.size() == 2);
  CHECK(found[0].row == &keel::device::facts("num-threads"));
  CHECK(found[0].text == "3");
  CHECK(found[0].where == "READTEST_NUM_THREADS");
  CHECK(found[0].from == keel::device::source::environment);
  CHECK(found[1].text.empty());
  CHECK(keel::device::read_environment({"readtest"}).knobs.empty());
}

TEST_CASE("device: variables are read in the order of their names, and the last and strongest value is said") {
  keel::test::variable const b{"ORDER_NUM_THREADS", "2"}, a{"ORDER_DEVICE", "x"}, c{"ORDER_LOG_LEVEL", "off"};
  auto const found = keel::device::read_environment({"order"});
  REQUIRE(found.knobs.size() == 3);
  CHECK(found.knobs[0].where == "ORDER_DEVICE");
  CHECK(found.knobs[1].where == "ORDER_LOG_LEVEL");
  CHECK(found.knobs[2].where == "ORDER_NUM_THREADS");
  using keel::device::source;
  std::vector<keel::device::assignment> const all{
      {&keel::device::facts("device"), "strong", "--x", source::command_line},
      {&keel::device::facts("device"), "stronger", "--y", source::command_line},
      {&keel::device::facts("device"), "weak", "X", source::environment},
      {&keel::device::facts("num-threads"), "4", "--t", source::command_line}};
  CHECK(keel::device::last_said(all, keel::device::facts("device")) == "--y=stronger: ");
  CHECK(keel::device::last_said(all, keel::device::facts("bind")).empty());
}

TEST_CASE("device: the help names every option and every variable") {
  std::string const help = keel::device::help_text({"app"});
  for (auto const& k : keel::device::all_knobs) {
    CHECK(help.find("--app-" + std::string{k.option}) != std::string::npos);
    CHECK(help.find("[" + keel::device::variable_name("app", k.option) + "]") != std::string::npos);
  }
}

TEST_CASE("device: the texts of the help stand in one column, or two blanks after a long option") {
  for (char const* const prefix : {"app", "app-of-many-words"}) {
    std::string const help = keel::device::help_text({prefix});
    for (auto const& k : keel::device::all_knobs) {
      auto const variable = keel::device::variable_name(prefix, k.option);
      auto const text = help.find("  " + std::string{k.help} + "  [" + variable + "]");
      REQUIRE(text != std::string::npos);
      auto const line = help.rfind('\n', text) + 1; // 0 in the first line
      CHECK(text + 2 - line == std::max<std::size_t>(34, help.find_last_not_of(' ', text) + 3 - line));
    }
  }
}

TEST_CASE("device: an unknown variable that is nearly a device's knob is taken for that") {
  std::vector<std::string_view> const devices{"tbb"};
  auto const meant = [&](char const* written) {
    return keel::device::meant_variable({"keel", devices, true}, written);
  };
  CHECK(meant("KEEL_TBB_NUM_THREDS") == "KEEL_TBB_NUM_THREADS");
  CHECK(meant("KEEL_NUM_THREDS") == "KEEL_NUM_THREADS");
  CHECK(meant("KEEL_CUDA_NUM_THREDS").empty());
}

TEST_CASE("device: a device before the name of a knob makes it that device's, in options and variables") {
  arguments a{{"app", "--keel-cuda-device-instance=1", "--keel-my-own-num-threads", "3"}};
  std::vector<std::string_view> const own{"my-own"};
  auto const taken = keel::device::read_arguments({"keel", own, true}, a.count, a.data());
  REQUIRE(taken.knobs.size() == 2);
  CHECK(taken.knobs[0].row == &keel::device::facts("device-instance"));
  CHECK(taken.knobs[0].device == "cuda");
  CHECK(taken.knobs[0].where == "--keel-cuda-device-instance");
  CHECK(taken.knobs[1].row == &keel::device::facts("num-threads"));
  CHECK(taken.knobs[1].device == "my-own");
  CHECK(refusal({"app", "--keel-cudo-device-instance=1"}).find("unknown option") != std::string::npos);
  CHECK(refusal({"app", "--keel-cuda-log-level=error"}).find("unknown option") != std::string::npos);
  keel::test::variable const known{"READTEST_OPENMP_NUM_THREADS", "3"}, small{"READTEST_openmp_num_threads", "3"},
      misspelt{"READTEST_NUM_TREADS", "3"};
  auto const found = keel::device::read_environment({"readtest"});
  REQUIRE(found.knobs.size() == 1);
  CHECK(found.knobs[0].device == "openmp");
  CHECK(found.unknown.size() == 2);
  CHECK(keel::device::meant_variable({"readtest"}, "READTEST_NUM_TREADS") == "READTEST_NUM_THREADS");
  CHECK(keel::device::meant_variable({"readtest"}, "READTEST_HOME").empty());
  CHECK(keel::device::meant_variable({"keel"}, "KEEL_THREADS") == "KEEL_NUM_THREADS");
  CHECK(keel::device::meant_variable({"keel"}, "KEEL_FUZZ_SECONDS").empty());
  CHECK(keel::device::meant_variable({"keel"}, "KEEL_").empty());
}

TEST_CASE("device: an option without its value says what stands in its place") {
  CHECK(refusal({"app", "--keel-device"}).find("has no value (it is the last argument)") != std::string::npos);
  CHECK(refusal({"app", "--keel-device", "--"}).find("has no value (-- follows it)") != std::string::npos);
  CHECK(refusal({"app", "--keel-device", "--", "x"}).find("has no value (-- follows it)") != std::string::npos);
}

TEST_CASE("device: two dashes are no value, and a knob with keel's prefix is noticed under another prefix") {
  CHECK(refusal({"app", "--keel-num-threads", "--", "x"}) ==
        "keel::device: --keel-num-threads has no value (-- follows it). Write --keel-num-threads=N.");
  arguments a{{"app", "--keel-device=serial", "--keel-colour=red", "--keel"}};
  auto const taken = take("app", a);
  CHECK(taken.for_another == words{"--keel-device"});
  CHECK(a.left().size() == 4);
}
