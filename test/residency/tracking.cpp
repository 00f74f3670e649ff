// SPDX-License-Identifier: MIT
#include <keel/validity/tracking.hpp>

#include "cases.hpp"

#include <keel/validity/trace.hpp>

#include <space/in_child.hpp>

namespace tracking_cases {

using namespace test;

using checked = application<keel::list<host, keel::simulated>, kr::checked>;
using automatic = application<keel::list<host, keel::simulated>>;

static_assert(kr::Tracking<kr::off> && kr::Tracking<kr::automatic> && kr::Tracking<kr::checked> &&
              kr::Tracking<kr::traced>);

struct eta : kr::variable<"eta", double**, kr::levels<2>> {};
struct depth : kr::variable<"depth", float**> {};
struct flag : kr::variable<"flag", char*, kr::off_grid> {};

// What a routine of the test does behind the back of its declarations.
double* stolen = nullptr;
float* depth_data = nullptr;
enum class mischief { none, past_level, ghosts, other_variable, other_memory } planned = mischief::none;

struct init : kr::routine<"init", kr::on_host, kr::writes<kr::everywhere<eta>, kr::everywhere<depth>, flag>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v(eta{}), 1.0);
    Kokkos::deep_copy(v(depth{}), 2.0F);
    Kokkos::deep_copy(v(flag{}), char(3));
    stolen = v(eta{}).data();
    depth_data = v(depth{}).data();
  }
};
struct use_depth : kr::routine<"use_depth", kr::on_device, kr::reads<depth, flag>> {
  template <class V>
  static void run(V v) {
    depth_data = const_cast<float*>(v(depth{}).data());
  }
};
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>, flag>, kr::writes<eta>> {
  template <class V>
  static void run(V v) {
    auto e1 = v(kr::past<eta, 1>{});
    auto e = v(eta{});
    bool const in_past = planned == mischief::past_level, in_ghosts = planned == mischief::ghosts;
    float* const depth_at = planned == mischief::other_variable ? depth_data : nullptr;
    double* const host_at = planned == mischief::other_memory ? stolen : nullptr;
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          e(i, j) = 2 * e1(i, j);
          if (in_past) const_cast<double&>(e1(3, 3)) = 5;
          if (in_ghosts) e(0, 0) = 5;
          if (depth_at) depth_at[0] = 5;
          if (host_at) host_at[0] = 5;
        });
  }
};
using show = see<kr::owned<kr::past<eta, 1>>>;

template <class App>
struct fields_on {
  test::run<> run;
  kr::fields<App, eta, depth, flag> f{run, kr::grid{{6, 5}, kr::ghost_width{1}}, kr::extra<flag>{3}};
  explicit fields_on(std::string_view device) : run(device) { planned = mischief::none; }
};

template <class App>
std::string after(mischief m, std::string_view device) {
  fields_on<App> on{device};
  auto& f = on.f;
  f.run(init{});
  f.run(kr::cycle<eta>{});
  f.run(use_depth{});
  f.run(rhs{});
  planned = m;
  return message_of([&] { f.run(rhs{}); });
}

// Regions that a tool was told of, in the order of their beginnings.
std::string regions;
int depth_of_regions = 0;
void begin_region(char const* name) {
  if (std::string_view(name).starts_with("keel: "))
    regions += std::string(std::size_t(depth_of_regions), ' ') + name + '\n';
  ++depth_of_regions;
}
void end_region() { --depth_of_regions; }

TEST_CASE("residency: checked tracking finds what a routine wrote undeclared, and names it") {
  for (std::string_view device : {host::name, std::string_view("simulated")}) {
    std::string const memory = device == "simulated" ? "the device simulated" : "the host";
    CHECK(after<checked>(mischief::none, device).empty());
    CHECK(after<checked>(mischief::past_level, device)
              .find("keel::residency::checked: routine rhs changed eta, level 1, core, on " + memory) == 0);
    CHECK(after<checked>(mischief::ghosts, device).find("routine rhs changed eta, level 0, walls, on " + memory) !=
          std::string::npos);
    CHECK(after<checked>(mischief::other_variable, device)
              .find("routine rhs changed depth, level 0, walls, on " + memory) != std::string::npos);
    CHECK(after<automatic>(mischief::past_level, device).empty());
  }
  CHECK(after<checked>(mischief::other_memory, "simulated")
            .find("routine rhs changed eta, level 1, walls, on the host") != std::string::npos);
}

TEST_CASE("residency: checked tracking says in which step data became stale") {
  fields_on<checked> on{"simulated"};
  auto& f = on.f;
  f.set_steps(11);
  f.step(kr::schedule<init, kr::cycle<eta>>{});
  planned = mischief::past_level;
  CHECK_FALSE(message_of([&] { f.run(rhs{}); }).empty());
  CHECK(refuses([&] { f.run(show{}); }, "reads eta, level 1, core, valid nowhere (routine rhs failed in step 12"));
  planned = mischief::none;
  f.step(kr::schedule<init, kr::cycle<eta>>{});
  f.run(rhs{});
  f.run(kr::cycle<eta>{});
  CHECK(refuses(
      [&] { f.run(rhs{}); },
      "reads eta, level 1, halo, valid nowhere (routine rhs wrote the cells that it copies, on simulated in step 13, and there was no "
      "exchange since)"));
  f.run(kr::cycle<eta>{});
  CHECK(refuses([&] { f.run(show{}); },
                "level 1, core, valid nowhere (the levels cycled in step 13, and it was not written since)"));
  f.run(kr::rewind<eta>{});
  CHECK(refuses([&] { f.run(show{}); }, "the levels went back in step 13"));
}

TEST_CASE("residency: checked tracking closes the simulated device's memory to raw pointers") {
  {
    fields_on<checked> on{"simulated"};
    auto& f = on.f;
    f.run(init{});
    f.run(use_depth{});
    auto const child = keel::test::in_child([] {
      *depth_data = 1; // all that the child does: it has no device thread
      return 0;
    });
    CHECK(child.aborted);
    CHECK(child.status == SIGSEGV);
  }
  CHECK(keel::space::chosen_guard() == keel::space::guard::views);
}

TEST_CASE("residency: Kokkos' tools see routines, the exchange and copies by name") {
  Kokkos::Tools::Experimental::set_push_region_callback(begin_region);
  Kokkos::Tools::Experimental::set_pop_region_callback(end_region);
  {
    test::run run{"simulated"};
    kr::fields<automatic, eta, depth, flag> f{run, kr::grid{{6, 5}, kr::ghost_width{1}, kr::periodic{true, true}},
                                              kr::extra<flag>{3}};
    planned = mischief::none;
    f.run(init{});
    f.run(kr::cycle<eta>{});
    f.run(rhs{});
    f.run(kr::exchange<eta>{});
  }
  Kokkos::Tools::Experimental::set_push_region_callback(nullptr);
  Kokkos::Tools::Experimental::set_pop_region_callback(nullptr);
  CHECK(regions == "keel: routine init\n"
                   "keel: copy eta[1] inside, flag[0] core host to simulated\n"
                   "keel: routine rhs\n"
                   "keel: exchange\n"
                   " keel: copy eta[0] rim simulated to host\n");
  CHECK(depth_of_regions == 0);
  std::string const heard = regions;
  {
    test::run run{"simulated"};
    kr::fields<automatic, eta, depth, flag> f{run, kr::grid{{6, 5}, kr::ghost_width{1}}, kr::extra<flag>{3}};
    f.run(init{});
  }
  CHECK(regions == heard);
}

} // namespace tracking_cases
