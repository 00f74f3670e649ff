// SPDX-License-Identifier: MIT
#include <keel/device/runtime.hpp>

#include <keel/residency/fields.hpp>
#include <keel/schedule/explain.hpp>
#include <keel/topology.hpp>

#include <support/test.hpp>
#include <support/said_to_stderr.hpp>
#include "running.hpp"

#include <unistd.h>

// Several runtimes one after the other, because MPI is started by the test's main and Kokkos not;
// what needs either to start and end is in programs.cpp.

namespace {

/// A device of the tests' own: every knob, three cards, four threads, and no kernels.
struct three_cards {
  static constexpr std::string_view name = "three-cards";
};

} // namespace

namespace keel {

template <>
struct device_traits<three_cards> {
  static constexpr bool supported = true;
  static constexpr int preference = 300;
  static constexpr bool has_threads = true;
  static constexpr bool has_numa_regions = true;
  static constexpr bool has_instances = true;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  static bool available() { return is_here; }
  static void configure(space::settings const&) {}
  static int threads() { return 4; }
  static int default_threads() { return 2; }
  static int max_threads() { return 4; }
  static int max_numa_regions() { return 2; }
  static int max_devices() { return 3; }
  static int device_instance() { return 0; }
  static std::string pci_id(int i) { return "0000:0" + std::to_string(i) + ":00.0"; }
  static inline bool is_here = true;
};

} // namespace keel

namespace {

using keel::device::knob;
using keel::device::outcome;
using keel::device::source;
using keel::test::command_line;
using keel::test::variable;

/// A host device that this Kokkos was built with.
using host = std::conditional_t<keel::supported<keel::serial>, keel::serial, keel::openmp>;

struct app : keel::defaults {
  using devices = keel::where_supported<std::tuple<host, three_cards, keel::sycl>>;
  static constexpr bool uses_ledger = true;
  static constexpr std::string_view prefix = "rt";
};

using program = keel::test::running<app>;

std::string refusal(std::string const& option) { return keel::test::start<app>({option}).refusal; }

} // namespace

TEST_CASE("device: setting a knob says what became of it, beats the command line, and a refusal changes nothing") {
  program p{{"--rt-num-threads=3"}};
  auto& cards = p.run.configuration<three_cards>();
  CHECK(cards.max_threads() == 4);
  CHECK(cards.source(knob::numa_regions) == source::unset);
  CHECK(cards.numa_regions() == 1); // what keel proposes
  CHECK(cards.max_devices() == 3);
  CHECK_FALSE(p.run.help_requested());
  CHECK(cards.set_device_instance(2) == outcome::success);
  CHECK(cards.set_device_instance(3) == outcome::out_of_bounds);
  CHECK(cards.set_device_instance(-1) == outcome::invalid_value);
  CHECK(cards.device_instance() == 2);
  CHECK(cards.set_threads(0) == outcome::invalid_value);
  CHECK(cards.set_threads(5) == outcome::out_of_bounds);
  CHECK(cards.source(knob::threads) == source::command_line);
  CHECK(cards.set_threads(4) == outcome::success);
  CHECK(cards.threads() == 4);
  CHECK(cards.source(knob::threads) == source::code);
  CHECK(cards.set_numa_regions(3) == outcome::out_of_bounds);
  CHECK(cards.set_numa_regions(2) == outcome::success);
  CHECK(cards.numa_regions() == 2);
  auto& cpu = p.run.configuration<host>();
  CHECK(cpu.set_device_instance(0) == outcome::invalid_for_device);
  CHECK_FALSE(cpu.device_instance().has_value());
  CHECK_FALSE(cpu.max_devices().has_value());
  CHECK(cpu.source(knob::device_instance) == source::unset);
  CHECK(p.run.configuration("three-cards", [](auto& c) { c.set_device_instance(1); }));
  CHECK(cards.device_instance() == 1);
  CHECK_FALSE(p.run.configuration("sycl", [](auto&) {}));
}

// A configuration is not made or copied by users, and a knob that is lacking costs nothing.
using cards_alone = keel::device::configuration<three_cards>;
static_assert(!std::is_default_constructible_v<cards_alone> && !std::is_copy_constructible_v<cards_alone> &&
              !std::is_move_constructible_v<cards_alone>);
static_assert(sizeof(cards_alone) == 3 * sizeof(keel::device::setting<std::optional<std::int64_t>>));
static_assert(std::is_empty_v<keel::device::configuration<host>> == !keel::device_traits<host>::has_threads);

namespace {

/// A second device with the same knobs and other bounds; more threads than it has places for are taken with a warning.
struct two_threads {
  static constexpr std::string_view name = "two-threads";
};

} // namespace

namespace keel {

template <>
struct device_traits<two_threads> : device_traits<three_cards> {
  static constexpr int preference = 200;
  static bool available() { return true; }
  static constexpr bool has_instances = false;
  static constexpr bool has_numa_regions = false;
  static int default_threads() { return 1; }
  static int max_threads() { return 2; }
  static int most_threads() { return 100; }
};

} // namespace keel

namespace {

struct both : keel::defaults {
  using devices = keel::list<host, three_cards, two_threads>;
  static constexpr std::string_view prefix = "rt";
};

/// What a program says at its start, and the threads of both devices.
struct started : keel::test::started {
  explicit started(std::vector<std::string> words = {}) {
    keel::device::set_log_level(keel::device::log_level::information);
    static_cast<keel::test::started&>(*this) = keel::test::start<both>(std::move(words), [&](auto& run) {
      auto const& c = run.template configuration<three_cards>();
      cards = c.threads(), instance = c.device_instance(), device = run.device_name();
      threads = run.template configuration<two_threads>().threads();
    });
    keel::device::set_log_level(keel::device::log_level::warning);
  }
  std::optional<int> cards, threads, instance;
  std::string device;
};

std::string const on_host = "--rt-device=" + std::string{host::name};

} // namespace

TEST_CASE("device: a general value is bounded by the chosen device; others take what they can, and tell") {
  started const other{{"--rt-device=two-threads", "--rt-num-threads=50", "--rt-log-level=information"}};
  CHECK(other.refusal.empty());
  CHECK(other.threads == 50);
  CHECK(other.cards == 4);
  CHECK(other.says("information: --rt-num-threads=50 is not what three-cards can take; it gets 4"));
  CHECK(other.says("warning: num-threads of two-threads is 50, more than the 2 that this process may use"));
  CHECK(started{{"--rt-num-threads=50"}}.refuses(
      "--rt-num-threads=50 is more than three-cards has (the largest value here is 4)"));
  started const neither{{on_host, "--rt-num-threads=50", "--rt-device-instance=7"}};
  CHECK(neither.refusal.empty());
  if (host::name == "serial") CHECK(neither.cards == 4);
  CHECK(neither.threads == 2);
  CHECK(neither.instance == 2);
  CHECK_FALSE(neither.says("it gets"));
  CHECK(started{{"--rt-device=two-threads", "--rt-num-threads=101"}}.refuses("largest value here is 100"));
}

TEST_CASE("device: what is said of one device beats what is said of all in the same source, and is strict") {
  started const order{{"--rt-two-threads-num-threads=1", "--rt-num-threads=2"}};
  CHECK(order.threads == 1);
  CHECK(order.cards == 2);
  variable const v{"RT_TWO_THREADS_NUM_THREADS", "2"};
  CHECK(started{}.threads == 2);
  CHECK(started{{"--rt-num-threads=1"}}.threads == 1);
  CHECK(started{{"--rt-two-threads-num-threads=1"}}.threads == 1);
  CHECK(started{{"--rt-device=two-threads", "--rt-three-cards-num-threads=5"}}.refuses(
      "--rt-three-cards-num-threads=5 is more than three-cards has"));
  started const absent{{"--rt-sycl-device-instance=1", "--rt-two-threads-device-instance=0"}};
  for (std::string const device : {"sycl", "two-threads"})
    CHECK(absent.says("--rt-" + device + "-device-instance has no effect: this program has no device " + device +
                      " with this knob"));
}

TEST_CASE("device: the best device is chosen, or the first available one of those that are named, in any case") {
  CHECK(started{}.device == "three-cards");
  CHECK(started{{on_host}}.device == host::name);
  CHECK(started{{"--rt-device=Two-THREADS"}}.device == "two-threads");
  CHECK(started{{"--rt-device=two-threads,three-cards"}}.device == "two-threads");
  CHECK(started{{"--rt-device=any"}}.device == host::name);
  keel::device_traits<three_cards>::is_here = false;
  CHECK(started{}.device == (host::name == "serial" ? "two-threads" : std::string{host::name}));
  CHECK(started{{"--rt-device=three-cards,two-threads"}}.device == "two-threads");
  CHECK(refusal("--rt-device=three-cards").find("not available") != std::string::npos);
  keel::device_traits<three_cards>::is_here = true;
  for (auto const& [names, reason] : {std::pair{"cuba", "'cuba' (its list of devices"},
                                      {"cuba", ", three-cards, two-threads)"},
                                      {"three-card", "Did you mean three-cards?"},
                                      {"two-threads,quantum", "Take one of them."}})
    CHECK(started{{std::string{"--rt-device="} + names}}.refuses(reason));
}

TEST_CASE("device: the table shows the knobs that devices here have, and those of the program") {
  std::string const table = keel::device::table(program{}.run.knobs());
  for (auto const& k : keel::device::all_knobs)
    CHECK((table.find("--rt-" + std::string{k.option}) != std::string::npos) ==
          (k.is_printed && k.option != "stack-size" && k.option != "hugepages")); // no device here has them
}

TEST_CASE("device: the knobs of residency reach their settings, which else are the original's") {
  namespace kr = keel::residency;
  keel::start<app> before;
  CHECK(before.set(&kr::settings::copy_back_every, 0) == outcome::invalid_value);
  CHECK(before.set(&kr::settings::copy_back_all_levels, true) == outcome::success);
  auto const values = [](program const& p) {
    auto const& how = p.run.residency_settings();
    return std::tuple{how.copy_back_every,
                      how.copy_back_vars,
                      how.copy_back_all_levels,
                      how.copy_back_written_in_analysis,
                      how.only_reads_current_level,
                      how.only_writes_current_level,
                      how.trace_file,
                      how.tracking,
                      how.exchange_through,
                      how.exchange_together,
                      how.graphs,
                      how.restart,
                      how.checkpoint_every,
                      how.checkpoint_before_end};
  };
  using time = std::optional<int>;
  CHECK(values(program{}) == std::tuple{time{1}, "all", false, true, false, false, "keel-trace", "", "measured", true,
                                        true, "", time{}, time{}});
  program const p{{"--rt-copy-back-every=never", "--rt-copy-back-vars=", "--rt-copy-back-written-in-analysis", "no",
                   "--rt-only-reads-current-level=yes", "--rt-trace-file=mine", "--rt-tracking=checked",
                   "--rt-exchange-through=staged", "--rt-exchange-together=no", "--rt-graphs=no", "--rt-restart=file",
                   "--rt-checkpoint-every=3", "--rt-checkpoint-before-end=2m"},
                  before};
  CHECK(values(p) == std::tuple{time{}, "", true, false, true, false, "mine", "checked", "staged", false, false, "file",
                                time{3}, time{120}});
  CHECK(p.run.program().source(&kr::settings::copy_back_every) == source::command_line);
  CHECK(p.run.program().source(&kr::settings::copy_back_all_levels) == source::code);
  CHECK(p.run.program().source(&kr::settings::only_writes_current_level) == source::unset);
}

namespace {

struct x : keel::residency::variable<"x", double*> {};
struct fill : keel::residency::routine<"fill", keel::residency::on_device, keel::residency::writes<x>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v.execution_space(), v(x{}), 1.0);
  }
};
struct look
    : keel::residency::routine<"look", keel::residency::on_host, keel::residency::reads<keel::residency::owned<x>>> {
  template <class V>
  static void run(V) {}
};
struct show : keel::residency::output<"show"> {
  template <class V>
  static void run(V) {}
};

struct with_card : keel::defaults {
  using devices = keel::list<host, keel::simulated>;
  static constexpr std::string_view prefix = "rt";
};
// What a step on the simulated device says.
std::string said_by_a_step(std::vector<std::string> words, bool set_in_code = false) {
  namespace kr = keel::residency;
  words.push_back("--rt-device=simulated");
  keel::start<with_card> before;
  if (set_in_code) CHECK(before.set(&kr::settings::verbose, true) == outcome::success);
  keel::test::running<with_card> p{std::move(words), before};
  kr::fields<with_card, x> f{p.run, kr::grid{{4}}};
  return keel::test::said_to_stderr([&] { f.step(kr::schedule<fill, show, fill, look>{}); });
}

} // namespace

TEST_CASE("device: a plan is explained for the device that the running program chose") {
  namespace kr = keel::residency;
  auto const explained = [] {
    std::ostringstream text;
    kr::explain<with_card, kr::schedule<fill, show>>(text);
    return text.str().substr(0, text.str().find(','));
  };
  CHECK(explained() == "on simulated"); // the first with memory of its own
  {
    keel::test::running<with_card> const outer{{on_host}};
    CHECK(explained() == "on " + std::string(host::name));
    {
      keel::test::running<with_card> const inner{{"--rt-device=simulated"}};
      CHECK(explained() == "on simulated");
    }
    CHECK(explained() == "on " + std::string(host::name));
  }
  CHECK(explained() == "on simulated");
}

TEST_CASE("device: verbose and veryverbose tell of copies, whether code, environment or command line set them") {
  Kokkos::initialize(); // for all of them: newer ones start once in a process
  std::string const copied_back = "keel: information: residency: step 1: 32 bytes of 1 variable copied back for show\n";
  std::string const needed = "keel: details: residency: step 1: look needed 32 bytes on the host, 0 on a device\n";
  CHECK(said_by_a_step({}).empty());
  CHECK(said_by_a_step({}, true) == copied_back);
  CHECK(said_by_a_step({"--rt-log-level=warning"}, true).empty());
  CHECK(said_by_a_step({"--rt-veryverbose"}) == copied_back + needed);
  variable const v{"RT_VERBOSE", "on"};
  CHECK(said_by_a_step({}) == copied_back);
  auto const wrong = [](std::string const& named, std::vector<std::string> const& words = {}) {
    CHECK(keel::test::message_of([&] {
            (void)said_by_a_step(words);
          }).starts_with("keel::residency: " + named + " names 'pear' ("));
  };
  wrong("--rt-copy-back-vars", {"--rt-copy-back-vars=pear"});
  for (std::string const knob : {"exchange-through", "tracking"}) { // what only the fields can tell is wrong
    wrong("--rt-" + knob, {"--rt-" + knob + "=pear"});
    keel::test::text_file const named{knob + " = pear\n"};
    wrong(named.path + ":1: " + knob, {"--rt-config=" + named.path});
    variable const written{keel::device::variable_name("rt", knob), "pear"};
    wrong(written.name);
  }
  variable const w{"RT_VERYVERBOSE", "on"};
  CHECK(said_by_a_step({}) == copied_back + needed);
  variable const off{"RT_VERYVERBOSE", "off"};
  CHECK(said_by_a_step({}) == copied_back);
  Kokkos::finalize();
}

TEST_CASE("device: a coupled runtime works in a duplicate of its parent") {
  command_line line{{"app", "--rt-device=three-cards"}};
  keel::machine::basic_environment<app::ranks> const parent;
  keel::start<app> before;
  keel::runtime<app> run{line.count, line.data(), before, parent.comm()};
  CHECK(run.environment().size() == parent.size());
  CHECK(run.environment().rank() == parent.rank());
#if KEEL_WITH_MPI
  CHECK(run.environment().comm() != parent.comm());
#endif
}

TEST_CASE("device: the running program is found from afar, and where nothing runs that is said") {
  auto const from_afar = [] { return keel::here<app>().configuration<three_cards>().threads(); };
  CHECK_THROWS_WITH_AS(from_afar(),
                       "keel::here: no runtime of this application runs (it was not made yet, or has ended). Make a "
                       "keel::runtime in main, and ask while it lives.",
                       keel::error);
  {
    keel::start<app> before;
    CHECK(before.set_threads<three_cards>(3) == outcome::success);
    variable const v{"RT_DEVICE_INSTANCE", "1"};
    keel::runtime<app> run{before}; // without a command line
    CHECK(&keel::here<app>() == &run);
    CHECK(&keel::machine::default_environment<app::ranks>() == &run.environment());
    CHECK(from_afar() == 3);
    CHECK(run.configuration<three_cards>().device_instance() == 1);
    {
      keel::runtime<app> inner;
      CHECK(&keel::here<app>() == &inner);
    }
    CHECK(&keel::here<app>() == &run);
    CHECK_THROWS_AS((void)keel::here<both>(), keel::error);
  }
  CHECK_THROWS_AS((void)keel::machine::default_environment<app::ranks>(), keel::error);
  CHECK_THROWS_AS(from_afar(), keel::error);
  CHECK_FALSE(refusal("--rt-num-threads=x").empty());
  CHECK_THROWS_AS(from_afar(), keel::error); // what was refused does not run
}
