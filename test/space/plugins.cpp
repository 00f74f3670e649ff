// SPDX-License-Identifier: MIT
#include <keel/space/plugins.hpp>

#include <keel/space/start.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

namespace {

using keel::test::check_child;
using keel::test::in_child;
std::string story;

/// Tells what happens to it; `Throws` in its initialize.
template <int Order, bool Throws = false>
struct teller {
  static constexpr std::string_view name = "teller";
  static constexpr int order = Order;
  static void initialize(keel::space::settings const&) {
    story += "+" + std::to_string(Order);
    if (Throws) throw std::runtime_error("no");
  }
  static void finalize() { story += "-" + std::to_string(Order); }
  static void fence(std::string const&) { story += "|" + std::to_string(Order); }
  static void print_configuration(std::ostream& out, bool) { out << "teller " << Order << '\n'; }
};

/// Whether Kokkos' own host space runs by now; Kokkos 5 does not say.
template <class Space = Kokkos::DefaultHostExecutionSpace>
char const* own() {
  if constexpr (requires { Space::impl_is_initialized(); }) return Space::impl_is_initialized() ? " own" : " no";
  else return " ?";
}

/// Tells that as well.
template <int Order>
struct onlooker : teller<Order> {
  static void initialize(keel::space::settings const& wanted) {
    teller<Order>::initialize(wanted);
    story += own();
  }
  static void finalize() {
    teller<Order>::finalize();
    story += own();
  }
};

bool check(std::string const& wanted) {
  if (story != wanted) std::fprintf(stderr, "%s\n", story.c_str());
  return story == wanted;
}

} // namespace

TEST_CASE("space: plug-ins start by number, not by text, among Kokkos' own, fence while they run, and end in reverse") {
  check_child([] {
    keel::space::plugins<onlooker<150>, onlooker<49>, onlooker<1000>,
                         onlooker<20>>::enroll(); // OpenMP has 50, Serial 100
    Kokkos::initialize();
    std::ostringstream printed; // in the same order
    Kokkos::print_configuration(printed);
    auto const at = [&](std::string const& text) { return printed.str().find(text); };
    auto const kokkos = std::min(at("KOKKOS_ENABLE_SERIAL:"), at("KOKKOS_ENABLE_OPENMP:"));
    if (!(at("teller 20\n") < at("teller 49\n") && at("teller 49\n") < kokkos && kokkos < at("teller 150\n") &&
          at("teller 150\n") < at("teller 1000\n") && at("teller 1000\n") != std::string::npos)) {
      std::fprintf(stderr, "%s\n", printed.str().c_str());
      return false;
    }
    Kokkos::fence();
    Kokkos::finalize();
    return std::string(own()) == " ?"
               ? check("+20 ?+49 ?+150 ?+1000 ?|20|49|150|1000-1000 ?-150 ?-49 ?-20 ?")
               : check("+20 no+49 no+150 own+1000 own|20|49|150|1000-1000 own-150 own-49 own-20 own");
  });
}

TEST_CASE("space: a plug-in that throws at its start ends those before it, in reverse") {
  check_child([] {
    keel::space::plugins<teller<10>, teller<20>, teller<30, true>, teller<40>>::enroll();
    try {
      Kokkos::initialize();
    } catch (std::runtime_error const&) {
      return check("+10+20+30-20-10");
    }
    return false;
  });
}

TEST_CASE("space: registering twice, or after the start, is an error that names the plug-in") {
  check_child([] {
    keel::space::plugins<teller<1>>::enroll();
    auto const twice = keel::test::message_of([] { keel::space::plugins<teller<2>, teller<1>>::enroll(); });
    keel::space::plugins<teller<2>>::enroll(); // the refused list registered none
    Kokkos::initialize();
    auto const late = keel::test::message_of([] { keel::space::plugins<teller<3>>::enroll(); });
    Kokkos::finalize();
    return twice.find("teller") != std::string::npos && !late.empty();
  });
}

#if KOKKOS_VERSION < 30700
TEST_CASE("space: a plug-in is told what Kokkos was given, threads of all NUMA regions together") {
  auto const told = [](int threads, int regions, int device) {
    Kokkos::InitArguments given;
    given.num_threads = threads, given.num_numa = regions, given.device_id = device;
    return keel::space::detail::settings_in(given);
  };
  CHECK(told(-1, -1, -1) == keel::space::settings{});
  CHECK(told(0, 0, -1) == keel::space::settings{});
  CHECK(told(3, -1, -1) == keel::space::settings{.threads = 3});
  CHECK(told(1, 1, -1) == keel::space::settings{.threads = 1, .numa_regions = 1});
  CHECK(told(3, 2, -1) == keel::space::settings{.threads = 6, .numa_regions = 2});
  CHECK(told(-1, -1, 0) == keel::space::settings{.device_instance = 0});
  CHECK(told(-1, -1, 1) == keel::space::settings{.device_instance = 1});
}

TEST_CASE("space: settings are words of Kokkos' command line, threads for each NUMA region") {
  using words = std::vector<std::string>;
  using keel::space::detail::kokkos_words;
  CHECK(kokkos_words({}) == words{});
  CHECK(kokkos_words({.threads = 3}) == words{"--kokkos-threads=3"});
  CHECK(kokkos_words({.threads = 6, .numa_regions = 2}) == words{"--kokkos-threads=3", "--kokkos-numa=2"});
  CHECK(kokkos_words({.threads = 1, .numa_regions = 2}) == words{"--kokkos-threads=1", "--kokkos-numa=2"});
  CHECK(kokkos_words({.device_instance = 1}) == words{"--kokkos-device-id=1"});
}
#endif
