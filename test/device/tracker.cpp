// SPDX-License-Identifier: MIT
/// @file
/// Which devices may run. What the tests of Viskores ask of its devices stands in the cases here and in test/space, but
/// for two things: numbers of devices cannot be said, and an exception of no known kind leaves.

#include <keel/device/tracker.hpp>

#include <keel/device/runtime.hpp>
#include <keel/device/try_execute.hpp>

#include <support/test.hpp>
#include "running.hpp"

#include <new>
#include <thread>

namespace kd = keel::device;

namespace {

/// A device of the tests' own, that can be taken away; `Number` makes several of them.
template <int Number>
struct numbered {
  static constexpr std::string_view name = Number == 1 ? "one" : Number == 2 ? "two" : "three";
};
using one = numbered<1>;
using two = numbered<2>;
using three = numbered<3>;

} // namespace

namespace keel {

template <int Number>
struct device_traits<numbered<Number>> : space::detail::no_knobs {
  static constexpr int preference = Number == 1 ? 100 : 200;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  static bool available() { return Number != 3 || is_here; }
  static inline bool is_here = true;
};

} // namespace keel

namespace {

struct app : keel::defaults {
  using devices = keel::list<one, two, three>;
  static constexpr std::string_view prefix = "track";
};

using program = keel::test::running<app>;

/// The devices that are tried where none succeeds.
std::string tried(keel::runtime<app>& run) {
  std::string all;
  CHECK_FALSE(kd::try_execute(run, [&]<class Tag>(Tag) { return all.append(Tag::name).append(" "), false; }));
  return all;
}

} // namespace

TEST_CASE("device: the devices are tried in order until one succeeds: the best first, then those of the list") {
  program p;
  CHECK(p.run.device_name() == "two");
  CHECK(tried(p.run) == "two one three ");
  program chain{{"--track-device=three,ONE"}};
  CHECK(tried(chain.run) == "three one ");
  program any{{"--track-device=Any"}};
  CHECK(tried(any.run) == "one two three ");
  std::string ran;
  CHECK(kd::try_execute(any.run, [&]<class Tag>(Tag) { ran += Tag::name; })); // void is a success
  CHECK(ran == "one");
}

TEST_CASE("device: memory exhausted or a device lost disables it and goes on, any other exception leaves") {
  program p;
  std::string ran;
  CHECK(kd::try_execute(p.run, [&]<class Tag>(Tag) {
    if constexpr (std::is_same_v<Tag, two>) throw std::bad_alloc{};
    if constexpr (std::is_same_v<Tag, one>)
      throw std::runtime_error{"cudaDeviceSynchronize() error( cudaErrorECCUncorrectable): gone"};
    ran += Tag::name;
  }));
  CHECK(ran == "three");
  CHECK(p.run.device_name() == "three");
  CHECK_FALSE(p.run.tracker().can_run<two>());
  CHECK_FALSE(p.run.tracker().can_run<one>());
  CHECK(p.run.tracker().can_run<three>());
  CHECK(tried(p.run) == "three ");
  CHECK(p.run.summary() == "one: ran 0 times, failed 1 time (cudaDeviceSynchronize() error( "
                           "cudaErrorECCUncorrectable): gone), may not run\n"
                           "two: ran 0 times, failed 1 time (std::bad_alloc), may not run\n"
                           "three: ran 1 time, failed 0 times, may run\n");
  auto const after = [&](auto const& f) -> std::string {
    try {
      if (kd::try_execute(p.run, [&](auto) { return f(); })) return "succeeds";
    } catch (...) {
      return p.run.tracker().can_run<three>() ? "throws" : "throws and disables";
    }
    return p.run.tracker().can_run<three>() ? "fails" : "disables";
  };
  auto const thrown = [&](auto const& what) { return after([&]() -> bool { throw what; }); };
  CHECK(thrown(std::logic_error{"a mistake"}) == "throws");
  CHECK(thrown(std::runtime_error{"a mistake"}) == "throws");
  CHECK(thrown(std::string{"a mistake"}) == "throws");
  CHECK(thrown(keel::error{"test", "the file failed to allocate a cudaError"}) == "throws"); // whatever its words
  CHECK(after([] { return false; }) == "fails");
  CHECK(after([] { return true; }) == "succeeds");
  CHECK(thrown(keel::out_of_memory_error{"test", "no room", 0}) == "disables"); // keel's own is known by its type
  p.run.tracker().enable<three>();
  p.run.tracker().report_failure(three{}, "it is too hot");
  CHECK_FALSE(p.run.tracker().can_run<three>());
  CHECK(tried(p.run).empty());
  p.run.tracker().reset();
  CHECK(tried(p.run) == "two one three ");
  CHECK(p.run.summary().find("it is too hot), may run") != std::string::npos);
}

TEST_CASE("device: what is said in a scope is restored at its end, whatever was found out in between") {
  program p;
  auto tracker = p.run.tracker();
  {
    kd::scoped_tracker t{p.run, kd::force<one>{}};
    CHECK(tried(p.run) == "one ");
    CHECK_FALSE(tracker.can_run("two"));
    {
      kd::scoped_tracker inner{p.run, kd::enable<three>{}, kd::disable{"ONE"}};
      CHECK(tried(p.run) == "three ");
      tracker.report_failure(three{}, "lost");
      CHECK(tried(p.run).empty());
    }
    CHECK(tried(p.run) == "one ");
    kd::scoped_tracker again{p.run, kd::reset{}, kd::disable<two>{}};
    CHECK(tried(p.run) == "one three ");
    kd::scoped_tracker none{p.run, kd::tracker<keel::runtime<app>>::allowed_devices{}};
    CHECK(tried(p.run).empty());
  }
  CHECK(tried(p.run) == "two one three ");
  try {
    kd::scoped_tracker t{p.run, kd::force{"three"}};
    throw 1;
  } catch (int) {
  }
  CHECK(tried(p.run) == "two one three ");
  tracker.disable<two>();
  tracker.disable(one{});
  tracker.disable("three");
  CHECK(tried(p.run).empty());
  tracker.enable("two");
  CHECK(tried(p.run) == "two ");
  program next; // another runtime begins anew
  CHECK(tried(next.run) == "two one three ");
  CHECK(next.run.summary().find("failed 1") == std::string::npos);
}

TEST_CASE("device: a thread starts with what the runtime's own has, and is on its own from there on") {
  program p;
  p.run.tracker().disable<two>();
  std::string at_first, later, handed_on;
  std::thread{[&] {
    at_first = tried(p.run);
    p.run.tracker().enable<two>();
    p.run.tracker().disable<one>();
    later = tried(p.run);
    auto const mine = p.run.tracker().allowed();
    std::thread{[&] {
      kd::scoped_tracker t{p.run, mine};
      handed_on = tried(p.run);
    }}.join();
  }}.join();
  CHECK(at_first == "one three ");
  CHECK(later == "two three ");
  CHECK(handed_on == "two three ");
  CHECK(tried(p.run) == "one three ");
}

TEST_CASE("device: a device that is not here or not in the list cannot be forced, and its name is told") {
  keel::device_traits<three>::is_here = false;
  program p;
  CHECK(tried(p.run) == "two one ");
  CHECK_THROWS_WITH_AS(p.run.tracker().force<three>(),
                       "keel::device::tracker: the device 'three' cannot run (it is compiled in, but none is here). "
                       "Ask keel::available first.",
                       keel::error);
  keel::device_traits<three>::is_here = true;
  CHECK_THROWS_AS(p.run.tracker().force("four"), keel::error);
  CHECK_FALSE(p.run.tracker().can_run<keel::sycl>());
  CHECK_FALSE(p.run.tracker().can_run("four"));
  CHECK(tried(p.run) == "two one ");
  program narrow{{"--track-device=one"}};
  narrow.run.tracker().force<three>(); // the program, after the start, beats the command line
  CHECK(tried(narrow.run) == "three ");
}
