// SPDX-License-Identifier: MIT
#include <keel/impl/device/device_knobs.hpp>

#include <keel/device/runtime.hpp>

#include <support/test.hpp>
#include "command_line.hpp"
#include "every_knob.hpp"

#include <atomic>

namespace kd = keel::device;

namespace {

int configured = 0; // how often

/// A device with threads, of which two run, and instances; it is not running.
kd::device_facts with_threads() {
  static std::atomic<unsigned> told{0};
  kd::device_facts facts{
      .name = "runs", .knobs = {}, .told = &told, .configure = [](keel::space::settings const&) { ++configured; }};
  facts.knobs[std::size_t(kd::knob::threads)] = {[] { return keel::space::bounds{1, 8}; },
                                                 []() -> std::optional<std::int64_t> { return 2; }};
  return facts;
}

} // namespace

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
  CHECK(kd::facts_of<keel::test::every_knob>.pci_id(3) == "0000:03:00.0");
  std::array<kd::held_value, 2> values;
  kd::changeable_knobs const knobs{&facts, values.data()};
  CHECK(knobs.set(kd::knob::threads, -1) == kd::outcome::invalid_value);
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

TEST_CASE("device: what a device without room for one refuses is less than it takes, never more than it has") {
  static std::atomic<unsigned> told{0};
  kd::device_facts facts = kd::facts_of<keel::test::every_knob>;
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

TEST_CASE("device: Kokkos' variables are set as long as the knobs live, and are then what they were") {
  auto facts = kd::facts_of<keel::test::every_knob>;
  facts.configure = [](keel::space::settings const&) { ++configured; };
  facts.starts_itself = false;
  std::vector<kd::held_value> values(5);
  values[0].value = 2;
  values[2].set(1, kd::source::code);
  kd::device_knobs const knobs{facts, values.data()};
  auto const texts = [] { // of the variables for threads, NUMA regions and the device
    std::string all;
    for (char const* name : {"KOKKOS_NUM_THREADS", "KOKKOS_NUMA", "KOKKOS_DEVICE_ID"}) {
      char const* const found = std::getenv(name);
      all += std::string{found == nullptr ? "-" : found} + ' ';
    }
    return all;
  };
  auto const while_set = [&] {
    kd::kokkos_variables of_kokkos;
    of_kokkos.set({&knobs, 1});
    return texts();
  };
  for (char const* name : {"KOKKOS_NUM_THREADS", "KOKKOS_NUMA", "KOKKOS_DEVICE_ID"}) unsetenv(name);
  configured = 0;
  CHECK(while_set() == "2 - 1 ");
  CHECK(texts() == "- - - ");
  {
    keel::test::variable const threads{"KOKKOS_NUM_THREADS", "7"}, device{"KOKKOS_DEVICE_ID", "7"};
    CHECK(while_set() == "7 - 1 "); // the user's beats what keel proposes, not what was set
    CHECK(texts() == "7 - 7 ");
  }
  CHECK(configured == 0);
  facts.starts_itself = true;
  CHECK(while_set() == "- - - ");
  CHECK(configured == 1);
}
