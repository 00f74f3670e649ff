// SPDX-License-Identifier: MIT
/// @file
/// What the tests of Viskores ask of its devices, in keel's words: options, configurations, names, tracker, execution.
///
/// | test there, `UnitTest…` | what it asks | here, "device: …" |
/// |---|---|---|
/// | `RuntimeConfigurationOptions` | sources of a value and their order; three bad values by name; both options in argv | "as Viskores' options" |
/// | `InitializeNoOptions`, `ZeroArgs` | a start without options, and without argv | "as Viskores' Initialize" |
/// | `InitializeCustomOptions`, `…WithArgs`, `MixedOptions` | what stays in argv | the same; levels are written small, `off` |
/// | `InitializeStandardOptions` | strict, and any device | the same |
/// | `InitializeRuntimeDeviceConfigurationWithArgs` | 100 threads and card 0, whatever is here | the same |
/// | `InitializeWithHelp` | help ends the program | "help prints every option once": the program ends itself, keel never calls `exit` |
/// | `OpenMPRuntimeDeviceConfiguration`, `TBB…` | all threads unless told; half of them where told | "as Viskores' OpenMP and TBB", in programs.cpp |
/// | `KokkosRuntimeDeviceConfiguration` | Kokkos starts with its own options; then a knob comes too late | "in every order of starting", in programs.cpp; "as Viskores' Kokkos" |
/// | `CudaRuntimeDeviceConfiguration` | the last card is chosen, and all are counted | "as Viskores' Cuda"; the table of cards' properties cannot be asked for: a pointer to Kokkos' space has them |
/// | `RuntimeDeviceInformation` | what is compiled in is here, and nothing else is | "as Viskores' device information" |
/// | `RuntimeDeviceNames` | each name in any case | "as Viskores' device names"; numbers of devices cannot be said: a type or a name is the identity |
/// | `ScopedRuntimeDeviceTracker` | force, enable, disable, for each device and for all; a thread takes it over | "as Viskores' scoped tracker" |
/// | `DeviceSelectOnThreads` | the option holds on other threads | "as Viskores' selection on threads" |
/// | `TryExecute` | which exception leaves, fails or disables | "as Viskores' TryExecute"; a list is not given with the call: the tracker narrows the program's |
/// | | an exception of no known kind is a failure there, and the next device is tried | leaves here: only memory exhausted or a device lost are a device's |

#include <keel/device/runtime.hpp>
#include <keel/device/try_execute.hpp>

#include <doctest/doctest.h>
#include "command_line.hpp"

#include <future>
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
  static bool is_running() { return runs; }
  static inline bool is_here = true, runs = false;
};

} // namespace keel

namespace {

struct app : keel::defaults {
  using devices = keel::list<plain, cards>;
  using ranks = keel::machine::alone;
  static constexpr std::string_view prefix = "visk";
};

struct strict_app : app {
  static constexpr bool is_strict = true;
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

TEST_CASE("device: as Viskores' options: unset, environment, argument and code, each with its source") {
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
  keel::test::variable const instance{"VISK_DEVICE_INSTANCE", "0"};
  program both{{"--visk-num-threads", "6", "--visk-device-instance", "1"}};
  CHECK(threads(both) == std::pair{source::command_line, 6});
  CHECK(both.run.configuration<cards>().device_instance() == 1);
  CHECK_THROWS_AS((program{{"--visk-device-instance"}}), keel::error);
  CHECK_THROWS_AS((program{{"--visk-device-instance=1 2"}}), keel::error);
}

TEST_CASE("device: as Viskores' bad values: each is refused with the name of its variable and the reason") {
  for (auto const& [text, reason] : {std::pair{"bad", "'b' is not a digit"},
                                     {"9938489298493882949384989", "the number is larger than 2147483647"},
                                     {"100bad", "'bad' follows the number"}}) {
    keel::test::variable const v{"VISK_NUM_THREADS", text};
    std::string told;
    try {
      program{};
    } catch (keel::error const& e) {
      told = e.what();
    }
    CHECK(told.find("VISK_NUM_THREADS='" + std::string{text} + "' is not a value for this knob (" + reason) !=
          std::string::npos);
  }
}

TEST_CASE("device: as Viskores' Initialize: own arguments stay in order, what stands after two dashes too") {
  using words = std::vector<std::string>;
  struct line {
    words given, left;
  };
  for (line const& one :
       {line{{}, {}},
        {{"--foo", "-bar", "--", "baz", "buz"}, {"--foo", "-bar", "--", "baz", "buz"}},
        {{"--foo=bar", "--baz", "--visk-device", "Any", "--biz"}, {"--foo=bar", "--baz", "--biz"}},
        {{"--foo", "--visk-log-level", "off", "--", "--visk-device", "Any", "--bar", "baz"},
         {"--foo", "--", "--visk-device", "Any", "--bar", "baz"}},
        {{"--visk-device", "Any", "--visk-log-level=off", "--visk-num-threads", "100", "--visk-device-instance", "0"},
         {}}}) {
    program p{one.given};
    CHECK(p.line.left() == program::with_name(one.left));
    CHECK(p.line.ends_with_null());
    CHECK(&keel::here<app>() == &p.run);
  }
  keel::runtime<app> const without_words;
  CHECK(&keel::here<app>() == &without_words);
  keel::test::command_line any{{"app", "--visk-device", "Any"}}, other{{"app", "--keel-device=any"}};
  CHECK_NOTHROW((keel::runtime<strict_app>{any.count, any.data()}));
  CHECK(any.left() == words{"app"});
  CHECK_THROWS_AS((keel::runtime<strict_app>{other.count, other.data()}), keel::error);
  CHECK_THROWS_AS((program{{"--visk-device=none-such"}}), keel::error);
  CHECK_THROWS_AS((program{{"--visk-none-such"}}), keel::error);
  CHECK_THROWS_AS((program{{"--visk-log-level=none-such"}}), keel::error);
}

TEST_CASE("device: as Viskores' configurations: a device refuses all knobs that it lacks, and answers for each") {
  program p;
  auto& none = p.run.configuration<plain>();
  for (auto const answer : {none.set_threads(1), none.set_numa_regions(1), none.set_device_instance(0)})
    CHECK(answer == outcome::invalid_for_device);
  CHECK_FALSE(
      (none.threads() || none.numa_regions() || none.device_instance() || none.max_threads() || none.max_devices()));
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

TEST_CASE("device: as Viskores' Cuda: the last card is chosen, all are counted, and none beyond them is taken") {
  program p;
  auto& c = p.run.configuration<cards>();
  int const last = *c.max_devices() - 1;
  CHECK(c.set_device_instance(last) == outcome::success);
  CHECK(c.device_instance() == last);
  CHECK(c.max_devices() == keel::device_traits<cards>::max_devices());
  CHECK(c.set_device_instance(last + 1) == outcome::out_of_bounds);
  CHECK(c.device_instance() == last);
}

TEST_CASE("device: as Viskores' Kokkos: once a device runs its knobs answer that they came too late, and stand") {
  program p{{"--visk-num-threads=8", "--visk-device-instance=0"}};
  auto& c = p.run.configuration<cards>();
  CHECK((c.threads() == 8 && c.device_instance() == 0));
  keel::device_traits<cards>::runs = true;
  CHECK(c.set_threads(1) == outcome::not_applied);
  CHECK(c.set_device_instance(1) == outcome::not_applied);
  keel::device_traits<cards>::runs = false;
  CHECK((c.threads() == 8 && c.device_instance() == 0));
}

TEST_CASE("device: as Viskores' device names: every device is found by its name in any case, and no other is") {
  program p;
  for (char const* name : {"plain", "Plain", "PLAIN", "cards", "cArDs"})
    CHECK(p.run.configuration(name, [](auto const&) {}));
  for (char const* name : {"", " ", "plain ", "car", "cardss", "any", "cuda", "-1", "plain,cards"})
    CHECK_FALSE(p.run.configuration(name, [](auto const&) {}));
  using all = keel::list<keel::serial, keel::openmp, keel::threads, keel::tbb, keel::cuda, keel::hip, keel::sycl,
                         keel::simulated>;
  keel::for_each_device<all>([]<class Tag>(Tag) { // from a tag to its name and back
    std::string capitals{Tag::name};
    for (char& c : capitals) c = char(c - 'a' + 'A');
    for (std::string_view const name : {std::string_view{Tag::name}, std::string_view{capitals}})
      CHECK(keel::with_device<all>(name, []<class Found>(Found) { CHECK(std::is_same_v<Found, Tag>); }));
  });
  for (char const* name : {"undefined", "any", "kokkos", "1"}) CHECK_FALSE(keel::with_device<all>(name, [](auto) {}));
}

TEST_CASE("device: as Viskores' selection on threads: the option's device is the only one, on every thread") {
  program p{{"--visk-device=plain"}};
  auto const is_alone = [&] {
    auto const t = p.run.tracker();
    return t.can_run<plain>() && !t.can_run<cards>();
  };
  CHECK(is_alone());
  CHECK(std::async(std::launch::async, is_alone).get());
}

TEST_CASE("device: as Viskores' scoped tracker: what a scope changes ends with it, on its thread alone") {
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
  // Each way of saying it, for each device and for all of them, seen by a thread that takes it over.
  auto const taken_over = [&](auto const&... what) {
    kd::scoped_tracker const t{p.run, what...};
    std::string there;
    std::thread{[&, allowed = p.run.tracker().allowed()] {
      kd::scoped_tracker const same{p.run, allowed};
      there = can();
    }}.join();
    CHECK(there == can());
    return there;
  };
  using nothing = kd::tracker<keel::runtime<app>>::allowed_devices;
  CHECK(taken_over(kd::force<plain>{}) == "p");
  CHECK(taken_over(kd::force<cards>{}) == "c");
  CHECK(taken_over(kd::enable<plain>{}) == "pc");
  CHECK(taken_over(kd::disable<plain>{}) == "c");
  CHECK(taken_over(kd::disable<cards>{}) == "p");
  CHECK(taken_over(kd::reset{}) == "pc"); // any device
  CHECK(taken_over(nothing{}) == "");     // none
  CHECK(can() == "pc");
  keel::device_traits<cards>::is_here = false;
  program without;
  CHECK_FALSE(without.run.tracker().can_run<cards>());
  CHECK_THROWS_AS(without.run.tracker().force<cards>(), keel::error);
  keel::device_traits<cards>::is_here = true;
}

TEST_CASE("device: as Viskores' TryExecute: success ends it, failing devices are left out, other errors leave") {
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

TEST_CASE("device: as Viskores' TryExecute: what a failure does: fails, throws, disables") {
  auto const after = [](auto const& f) -> std::string {
    program p;
    kd::scoped_tracker const one{p.run, kd::force<plain>{}};
    try {
      if (kd::try_execute(p.run, [&](auto) { return f(); })) return "succeeds";
    } catch (...) {
      return p.run.tracker().can_run<plain>() ? "throws" : "throws and disables";
    }
    return p.run.tracker().can_run<plain>() ? "fails" : "disables";
  };
  CHECK(after([]() -> bool { throw std::bad_alloc{}; }) == "disables");
  CHECK(after([]() -> bool { throw std::runtime_error{"cudaErrorECCUncorrectable"}; }) == "disables");
  CHECK(after([] { return false; }) == "fails"); // for this device alone
  CHECK(after([]() -> bool { throw keel::error{"test", "a bad value"}; }) == "throws");
  CHECK(after([]() -> bool { throw std::runtime_error{"a mistake"}; }) == "throws"); // fails there
  CHECK(after([]() -> bool { throw std::string{"a mistake"}; }) == "throws");        // fails there
  CHECK(after([] { return true; }) == "succeeds");
}

TEST_CASE("device: as Viskores' device information: what is compiled in is here, and nothing else is") {
  keel::for_each_device<keel::list<keel::serial, keel::openmp, keel::threads, keel::tbb, keel::simulated>>(
      []<class Tag>(Tag) { CHECK(keel::available<Tag>() == keel::supported<Tag>); });
  keel::for_each_device<keel::list<keel::cuda, keel::hip, keel::sycl>>( // these may be compiled in and away
      []<class Tag>(Tag) { CHECK((!keel::available<Tag>() || keel::supported<Tag>)); });
}

TEST_CASE("device: as Viskores' device information: the configuration is reached while the program runs") {
  CHECK_THROWS_AS((void)keel::here<app>(), keel::error);
  program p{{"--visk-num-threads=4"}};
  CHECK(keel::here<app>().configuration<cards>().threads() == 4);
}
