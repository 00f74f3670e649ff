// SPDX-License-Identifier: MIT
/// @file
/// What the tests of Viskores ask of its devices, in keel's words: options, configurations, names, tracker, execution.

#include <keel/device/runtime.hpp>
#include <keel/device/try_execute.hpp>

#include <doctest/doctest.h>
#include "command_line.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace kd = keel::device;

namespace {

/// Two devices of the test's own: one without knobs, one with threads and cards, which can be away.
struct plain {
  static constexpr std::string_view name = "plain";
};
struct cards {
  static constexpr std::string_view name = "cards";
};

} // namespace

namespace keel {

template <>
struct device_traits<plain> : space::detail::no_knobs {
  static constexpr int preference = 10;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
};
template <>
struct device_traits<cards> : space::detail::no_knobs {
  static constexpr int preference = 20;
  static constexpr bool has_threads = true, has_instances = true;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  static bool available() { return is_here; }
  static int threads() { return 1; }
  static int default_threads() { return 2; }
  static int max_threads() { return 8; }
  static int max_devices() { return 2; }
  static int device_instance() { return 0; }
  static std::string pci_id(int i) { return "0000:0" + std::to_string(i) + ":00.0"; }
  static inline bool is_here = true;
};

} // namespace keel

namespace {

struct app : keel::defaults {
  using devices = keel::list<plain, cards>;
  using ranks = keel::machine::alone;
  static constexpr std::string_view prefix = "visk";
};

struct program {
  explicit program(std::vector<std::string> words = {}) : line(with_name(std::move(words))) {}
  static std::vector<std::string> with_name(std::vector<std::string> words) {
    words.insert(words.begin(), "app");
    return words;
  }
  keel::test::command_line line;
  keel::start<app> code;
  keel::runtime<app> run{line.count, line.data(), code};
};

using kd::knob;
using kd::outcome;
using kd::source;

} // namespace

TEST_CASE("device: as Viskores' options: unset, from the environment, from an argument, and in code, each with its source") {
  auto const threads = [](program& p) {
    auto const& c = p.run.configuration<cards>();
    return std::pair{c.source(knob::threads), *c.threads()};
  };
  program unset;
  CHECK(threads(unset).first == source::unset);
  keel::test::variable const v{"VISK_NUM_THREADS", "3"};
  program variable;
  CHECK(threads(variable) == std::pair{source::environment, 3});
  program argument{{"--visk-num-threads", "5"}};
  CHECK(threads(argument) == std::pair{source::command_line, 5});
  CHECK(argument.run.configuration<cards>().set_threads(7) == outcome::success);
  CHECK(threads(argument) == std::pair{source::code, 7});
  keel::test::variable const bad{"VISK_DEVICE_INSTANCE", "one"};
  CHECK_THROWS_AS(program{}, keel::error);
  CHECK_THROWS_AS((program{{"--visk-device-instance"}}), keel::error);
  CHECK_THROWS_AS((program{{"--visk-device-instance=1 2"}}), keel::error);
}

TEST_CASE("device: as Viskores' Initialize: own arguments stay in order, what stands behind two dashes too") {
  program p{{"first", "--visk-device", "Any", "second", "-d", "--visk-log-level=error", "--", "--visk-device=x"}};
  CHECK(p.line.left() == std::vector<std::string>{"app", "first", "second", "-d", "--", "--visk-device=x"});
  CHECK(p.run.program().log_level == kd::log_level::error);
  CHECK_THROWS_AS((program{{"--visk-device=none-such"}}), keel::error);
  CHECK_THROWS_AS((program{{"--visk-none-such"}}), keel::error);
  CHECK_THROWS_AS((program{{"--visk-log-level=none-such"}}), keel::error);
}

TEST_CASE("device: as Viskores' configurations: a device without knobs refuses all, one with them answers for each") {
  program p;
  auto& none = p.run.configuration<plain>();
  for (auto const answer : {none.set_threads(1), none.set_numa_regions(1), none.set_device_instance(0)})
    CHECK(answer == outcome::invalid_for_device);
  CHECK_FALSE((none.threads() || none.numa_regions() || none.device_instance() || none.max_threads() || none.max_devices()));
  auto& some = p.run.configuration<cards>();
  CHECK(some.max_threads() == 8);
  CHECK(some.max_devices() == 2);
  CHECK(some.set_threads(8) == outcome::success);
  CHECK(some.set_threads(9) == outcome::out_of_bounds);
  CHECK(some.set_threads(-1) == outcome::invalid_value);
  CHECK(some.set_device_instance(1) == outcome::success);
  CHECK(some.set_device_instance(2) == outcome::out_of_bounds);
  CHECK(some.set_numa_regions(1) == outcome::invalid_for_device);
  CHECK(some.threads() == 8);
  CHECK(some.device_instance() == 1);
}

TEST_CASE("device: as Viskores' device names: every device is found by its name in any case, and no other is") {
  program p;
  for (char const* name : {"plain", "Plain", "PLAIN", "cards", "cArDs"})
    CHECK(p.run.configuration(name, [](auto const&) {}));
  for (char const* name : {"", " ", "plain ", "car", "cardss", "any", "cuda", "-1", "plain,cards"})
    CHECK_FALSE(p.run.configuration(name, [](auto const&) {}));
}

TEST_CASE("device: as Viskores' scoped tracker: what a scope forces, disables or enables ends with it, on its thread alone") {
  program p;
  auto const can = [&] {
    auto const t = p.run.tracker();
    return std::string{t.can_run<plain>() ? "p" : ""} + (t.can_run<cards>() ? "c" : "");
  };
  CHECK(can() == "pc");
  {
    kd::scoped_tracker const all{p.run, kd::force<plain>{}};
    CHECK(can() == "p");
    {
      kd::scoped_tracker const inner{p.run, kd::reset{}, kd::disable<plain>{}};
      CHECK(can() == "c");
      std::string elsewhere;
      std::thread{[&] {
        kd::scoped_tracker const own{p.run, kd::enable<plain>{}};
        elsewhere = can();
      }}.join();
      CHECK(elsewhere == "pc");
      CHECK(can() == "c");
    }
    CHECK(can() == "p");
  }
  CHECK(can() == "pc");
  keel::device_traits<cards>::is_here = false;
  program without;
  CHECK_FALSE(without.run.tracker().can_run<cards>());
  CHECK_THROWS_AS(without.run.tracker().force<cards>(), keel::error);
  keel::device_traits<cards>::is_here = true;
}

TEST_CASE("device: as Viskores' TryExecute: success ends it, failing devices are left out, other exceptions leave") {
  program p;
  std::string tried;
  auto const with = [&](auto const& f) {
    tried = "";
    return kd::try_execute(p.run, [&]<class Tag>(Tag tag) {
      tried += Tag::name[0];
      return f(tag);
    });
  };
  CHECK(with([](auto) { return true; }));
  CHECK(tried == "c");
  CHECK_FALSE(with([](auto) { return false; }));
  CHECK(tried == "cp");
  CHECK_THROWS_AS(with([](auto) -> bool { throw std::logic_error{"wrong"}; }), std::logic_error);
  CHECK_THROWS_AS(with([](auto) -> bool { throw 1; }), int);
  CHECK_THROWS_AS(with([](auto) -> bool { throw keel::error{"test", "a bad value"}; }), keel::error);
  struct exhausted : std::bad_alloc {};
  CHECK(with([]<class Tag>(Tag) -> bool {
    if constexpr (std::is_same_v<Tag, cards>) throw exhausted{};
    return true;
  }));
  CHECK(tried == "cp");
  CHECK(with([](auto) { return true; }));
  CHECK(tried == "p"); // the other one stays disabled
  p.run.tracker().reset();
  kd::scoped_tracker const one{p.run, kd::force<cards>{}};
  CHECK_FALSE(with([](auto) -> bool { throw std::bad_alloc{}; }));
  CHECK(tried == "c");
}

TEST_CASE("device: as Viskores' device information: the configuration is reached from afar while the program runs") {
  CHECK_THROWS_AS(static_cast<void>(keel::here<app>()), keel::error);
  program p{{"--visk-num-threads=4"}};
  CHECK(keel::here<app>().configuration<cards>().threads() == 4);
}
