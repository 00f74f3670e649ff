// SPDX-License-Identifier: MIT
#include <keel/space/start.hpp>

#include <keel/policy/error.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

namespace {

namespace ks = keel::space;
using range = Kokkos::RangePolicy<ks::simulated>;
using keel::test::check_child;
using keel::test::in_child;
using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::tbb, keel::simulated>>;

struct no_device {};
static_assert(!ks::detail::has_plugin<no_device> && ks::detail::has_plugin<keel::simulated>);

template <class View>
void touch(View const& v) {
  v(0) = 1;
}

bool has(std::string const& text, std::string const& words) { return text.find(words) != std::string::npos; }

/// Checks that `f` ends a child in which Kokkos runs, by an abort whose message has these words.
template <class F>
void check_abort(std::string const& words, F const& f) {
  auto const child = in_child([&] {
    ks::start<devices>();
    f();
    return 0;
  });
  CHECK(child.aborted);
  CHECK_MESSAGE(has(child.said, words), child.said);
}

/// How a process ends that asks for a team of `size` threads on the space that `make` makes.
template <class Space>
keel::test::ended_child ask_for_team(int size, Space (*make)()) {
  return in_child([&] {
    Kokkos::initialize();
    Space const space = make();
    using policy = Kokkos::TeamPolicy<Space>;
    Kokkos::parallel_for(policy(space, 4, size), [](typename policy::member_type const&) {});
    space.fence();
    Kokkos::finalize();
    return 0;
  });
}
template <class Space>
void check_team_sizes(int threads, Space (*make)()) {
  CHECK(ask_for_team(1, make).status == 0);
  CHECK(ask_for_team(threads, make).status == 0);
  auto const more = ask_for_team(threads + 1, make);
  CHECK(more.aborted);
  CHECK(has(more.said, "keel::space: a team of more threads was asked for than the instance has"));
  CHECK(has(more.said, "Kokkos::AUTO"));
}

} // namespace

TEST_CASE("space: Kokkos starts when told, once, and ends, and does not start again where it cannot") {
  check_child([] {
    if (ks::is_started()) return 1;
    ks::start<devices>();
    ks::start<devices>();
    if (!ks::is_started()) return 2;
    ks::stop();
    if (ks::is_started()) return 3;
    auto const said = keel::test::message_of([] {
      ks::start<devices>();
      ks::stop();
    });
    return said.empty() == (KOKKOS_VERSION < 30700) ? 0 : 4;
  });
}

TEST_CASE("space: a Kokkos for cards that sees none does not start, and the variable that hides them is named") {
  CHECK_NOTHROW(ks::detail::require_cards("cuda", true, "KEEL_TEST_VISIBLE_DEVICES"));
  setenv("KEEL_TEST_VISIBLE_DEVICES", "", 1);
  CHECK(keel::test::message_of([] { ks::detail::require_cards("cuda", false, "KEEL_TEST_VISIBLE_DEVICES"); }) ==
        "keel::space: Kokkos cannot start (it was built for cuda, and this process sees no card; "
        "KEEL_TEST_VISIBLE_DEVICES is ''). Set KEEL_TEST_VISIBLE_DEVICES to the cards that it may use, or unset it, or "
        "take a build without cuda.");
  unsetenv("KEEL_TEST_VISIBLE_DEVICES");
  auto const unset =
      keel::test::message_of([] { ks::detail::require_cards("cuda", false, "KEEL_TEST_VISIBLE_DEVICES"); });
  CHECK(has(unset, "sees no card). Set"));
}

TEST_CASE("space: a Kokkos that the application started is used and not ended, without a device enrolled too") {
  for (bool const enrolls : {true, false})
    check_child([=] {
      Kokkos::initialize();
      if (enrolls) ks::start<devices>({"--kokkos-disable-warnings"});
      if (enrolls) ks::stop();
      bool const runs = ks::is_started();
      int sum = 0;
      {
        Kokkos::View<int*, ks::simulated> const v("v", 10);
        Kokkos::parallel_for(range(0, 10), KOKKOS_LAMBDA(int i) { v(i) = i; });
        Kokkos::parallel_reduce(range(0, 10), KOKKOS_LAMBDA(int i, int& s) { s += v(i); }, sum);
      }
      Kokkos::finalize();
      return runs && sum == 45 && !ks::is_started();
    });
}

TEST_CASE("space: settings reach the devices, and an explicit option of Kokkos wins") {
  auto const run = [](std::vector<std::string> const& arguments) {
    return in_child([&] {
      int threads = 0;
#ifdef KOKKOS_ENABLE_OPENMP
      keel::device_traits<keel::openmp>::configure({.threads = 2});
      ks::start<devices>(arguments);
      threads = keel::device_traits<keel::openmp>::threads();
#elif KEEL_WITH_TBB
      if (arguments.empty()) keel::device_traits<keel::tbb>::configure({.threads = 2});
      ks::start<devices>(arguments);
      threads = keel::device_traits<keel::tbb>::threads();
#else
      threads = arguments.empty() ? 2 : 1; // no device with threads
#endif
      ks::stop();
      return threads;
    });
  };
#if KOKKOS_VERSION < 30700
  std::string const option = "--kokkos-threads=1";
#else
  std::string const option = "--kokkos-num-threads=1";
#endif
  CHECK(run({}).status == 2);
  CHECK(run({option}).status == 1);
}

#if KEEL_WITH_TBB
TEST_CASE("space: oneTBB takes more threads than there are cores where it is told to, and others at its second start") {
  check_child([] {
    int const many = keel::device_traits<keel::tbb>::max_threads() + 3;
    for (int const threads : {many, 2}) {
      if (threads != many && KOKKOS_VERSION >= 30700) return true; // later ones start once in a process
      keel::device_traits<keel::tbb>::configure({.threads = threads});
      ks::start<devices>();
      int sum = 0;
      Kokkos::parallel_reduce(Kokkos::RangePolicy<ks::tbb>(0, 1000), [](int, int& s) { ++s; }, sum);
      if (sum != 1000 || keel::device_traits<keel::tbb>::threads() != threads) return false;
      ks::stop();
    }
    return true;
  });
}

TEST_CASE("space: oneTBB that is first used after Kokkos started takes the threads that Kokkos was given") {
  for (int const n : {1, 3}) {
    auto const child = in_child([n] {
      setenv("KOKKOS_NUM_THREADS", std::to_string(n).c_str(), 1);
      Kokkos::initialize();
      int const threads = ks::tbb().threads();
      Kokkos::finalize();
      return threads;
    });
    CHECK(child.status == n);
  }
}
#endif

TEST_CASE("space: an option of Kokkos whose number is none is refused with its name") {
  for (std::string const word : {"--kokkos-threads=abc", "--kokkos-num-threads=2abc", "--kokkos-numa=",
                                 "--kokkos-device-id=-2", "--kokkos-device", "--kokkos-num-threads=4294967298",
                                 "--kokkos-num-devices=2,x1", "--kokkos-ndevices=,1", "--kokkos-threads=1,1"}) {
    std::string const name = word.substr(0, word.find('='));
    CHECK(keel::test::message_of([&] { ks::start<devices>({word}); }) ==
          "keel::space: " + word + " is refused (Kokkos takes a whole number from 0 on here). Write " + name + "=1.");
  }
  CHECK(!ks::is_started());
}

TEST_CASE("space: an option that this Kokkos does not have is warned of once, and the others work") {
  auto const child = in_child([] {
    ks::start<devices>({"--kokkos-nonsense=3", "--kokkos-disable-warnings", "--kokkos-device-id=0"});
    ks::stop();
    return 0;
  });
  CHECK(child.status == 0);
  std::size_t const at = child.said.find("--kokkos-nonsense");
  REQUIRE(at != std::string::npos);
  CHECK(child.said.find("--kokkos-nonsense", at + 1) == std::string::npos);
#if KOKKOS_VERSION < 30700
  CHECK(child.said == "keel: warning: --kokkos-nonsense=3 is read by nothing in this Kokkos. Leave it out.\n");
#endif
}

TEST_CASE("space: host code that touches an element of simulated memory aborts") {
  std::string const words = "attempt to access inaccessible memory space";
  check_abort(KOKKOS_VERSION >= 30700 ? words + " (label=\"touched\")" : words,
              [] { touch(Kokkos::View<int*, ks::simulated_memory>("touched", 10)); });
}

TEST_CASE("space: with closed pages a raw pointer faults, kernels and copies do not, and are done when they return") {
  enum class touch { nothing, before, after }; // a kernel has opened and closed the pages
  auto const work = [](touch when) {
    return in_child([=] {
      ks::set_guard(ks::guard::pages);
      ks::start<devices>();
      if (when == touch::before) *static_cast<int*>(Kokkos::kokkos_malloc<ks::simulated_memory>("raw", 4)) = 1;
      Kokkos::View<int*, ks::simulated_memory> v("v", 3000);
      Kokkos::View<int, ks::simulated_memory> one("one"); // Kokkos 3 does not check views without index
      Kokkos::parallel_for(range(0, 3000), KOKKOS_LAMBDA(int i) { v(i) = one() + i; });
      auto const host = Kokkos::create_mirror_view(v);
      Kokkos::deep_copy(host, v);
      Kokkos::resize(v, 4000);
      int ran = 0;
      Kokkos::parallel_for(range(0, 10), [&](int) { ++ran; });
      bool const good = ran == 10 && host(2999) == 2999 && v.label() == "v" && v.use_count() == 1;
      int const* const raw = v.data();
      return !good ? 1 : when == touch::after ? (raw[0] == 0 ? 2 : 3) : 0;
    });
  };
  auto const calm = work(touch::nothing);
  CHECK_MESSAGE(calm.status == 0, calm.said);
  CHECK_FALSE(calm.aborted);
  for (auto const when : {touch::before, touch::after}) {
    auto const caught = work(when);
    CHECK(caught.aborted);
    CHECK(caught.status == SIGSEGV);
  }
}

TEST_CASE("space: a team of more threads than there are aborts with a word of advice") {
  check_team_sizes<ks::simulated>(1, [] { return ks::simulated(); });
#if KEEL_WITH_TBB
  check_team_sizes<ks::tbb>(3, [] { return ks::tbb(3); });
#endif
}
