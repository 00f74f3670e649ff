// SPDX-License-Identifier: MIT
/// @file
/// Programs that refuse settings without effect, and programs whose user has to name the device.

#include <keel/device/runtime.hpp>

#include <doctest/doctest.h>
#include <support/said_to_stderr.hpp>
#include "command_line.hpp"

#include <string>
#include <vector>

namespace {

using keel::test::variable;

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
std::string start_with(std::vector<std::string> words) {
  keel::test::command_line line{std::move(words)};
  auto const before = line.left();
  std::string refusal;
  auto const said = keel::test::said_to_stderr([&] {
    try {
      keel::runtime<App> run{line.count, line.data()};
    } catch (keel::error const& e) {
      CHECK(line.left() == before);
      refusal = e.what();
    }
  });
  return refusal + said;
}

std::string const why = " (in strict mode, settings without effect are refused). ";

} // namespace

TEST_CASE("device: what is warned of is refused in strict mode, by the policy or by the knob") {
  auto const all = [](std::vector<std::string> words, std::string const& text, std::string const& hint) {
    CHECK(start_with<lenient>(words) == "keel: warning: " + text + ". " + keel::policy::as_sentence(hint) + "\n");
    CHECK(start_with<strict>(words) == "keel::device: " + text + why + keel::policy::as_sentence(hint));
    words.push_back("--strict-test-strict");
    CHECK(start_with<lenient>(words) == "keel::device: " + text + why + keel::policy::as_sentence(hint));
    variable const off{"STRICT_TEST_STRICT", "off"};
    words.pop_back();
    CHECK(start_with<strict>(words) == "keel: warning: " + text + ". " + keel::policy::as_sentence(hint) + "\n");
  };
  all({"app", "--keel-device=serial"},
      "--keel-device is left to the program, because its options begin with --strict-test-",
      "Did you mean --strict-test-device");
  all({"app", "--strict-test-hip-device-instance=0"},
      "--strict-test-hip-device-instance has no effect: this program has no device hip with this knob", "Leave it out");
  all({"app", "--strict-test-only-reads-current-level=yes"},
      "--strict-test-only-reads-current-level has no effect: this program has no ledger, whose routines name no levels",
      "Leave it out");
  variable const near{"STRICT_TEST_NUM_THREDS", "2"};
  all({"app"}, "STRICT_TEST_NUM_THREDS is read by nothing", "Did you mean STRICT_TEST_NUM_THREADS");
}

TEST_CASE("device: strict mode knows every variable with the prefix, and leaves the program's own words alone") {
  CHECK(start_with<strict>({"app", "in.txt", "--own=3", "-x", "--", "--keel-device=x"}).empty());
  variable const own{"STRICT_TEST_COLOUR_OF_THE_SEA", "blue"};
  CHECK(start_with<lenient>({"app"}).empty());
  CHECK(start_with<strict>({"app"}) ==
        "keel::device: STRICT_TEST_COLOUR_OF_THE_SEA is read by nothing" + why + "Unset it.");
}

TEST_CASE("device: a program that requires a device refuses to choose one, but for its help") {
  std::string const refusal = start_with<demanding>({"app"});
  CHECK(refusal.starts_with(
      "keel::device: no device was named (this program does not choose one by itself). Write --strict-test-device="));
  CHECK(start_with<demanding>({"app", "--strict-test-device=any"}).empty());
  CHECK(start_with<demanding>({"app", "--strict-test-help"}).empty());
  variable const v{"STRICT_TEST_DEVICE", "any"};
  CHECK(start_with<demanding>({"app"}).empty());
}
