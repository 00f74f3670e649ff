// SPDX-License-Identifier: MIT
#include <keel/validity/settings.hpp>

#include "cases.hpp"

#include <support/said_to_stderr.hpp>

namespace settings_cases {

using namespace test;

using devices = keel::list<host, keel::simulated>;

struct a : kr::variable<"a", double**, kr::levels<2>, kr::in_group<"pair">> {};
struct b : kr::variable<"b", double**, kr::in_group<"pair">> {};
struct c : kr::variable<"c", double**> {};

// What a device has computed: numbers that tell the variable.
struct compute : kr::routine<"compute", kr::on_device, kr::writes<a, b>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v.execution_space(), v(a{}), 1.0);
    Kokkos::deep_copy(v.execution_space(), v(b{}), 2.0);
  }
};
struct diagnose : kr::routine<"diagnose", kr::on_device, kr::reads<kr::owned<a>>, kr::writes<c>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v.execution_space(), v(c{}), 3.0);
  }
};
double sum = 0;
template <class... Xs>
struct show : kr::output<"show"> {
  template <class V>
  static void run([[maybe_unused]] V v) {
    sum = (v(Xs{})(1, 1) + ... + 0);
  }
};
template <class Output>
struct program : kr::schedule<kr::cycle<a>, compute, Output> {};

constexpr std::uint64_t field_bytes = 4 * 4 * 8;

// Bytes that came to the host in two steps with an output.
template <class Output>
std::uint64_t bytes_copied_back(kr::settings const& how, std::string_view device = "simulated") {
  test::run<> run{device, how};
  kr::fields<application<devices>, a, b, c> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}};
  f.step(program<Output>{});
  f.step(program<Output>{});
  return f.traffic().bytes(kr::way::to_host);
}

TEST_CASE("residency: a list of names means variables and groups, and nothing else") {
  std::vector<kr::names> const known{{"eta", ""}, {"u", "velocity"}, {"v", "velocity"}};
  using chosen = std::vector<bool>;
  CHECK(kr::chosen_by("all", known) == chosen{true, true, true});
  CHECK(kr::chosen_by("", known) == chosen{false, false, false});
  CHECK(kr::chosen_by(" , ", known) == chosen{false, false, false});
  CHECK(kr::chosen_by("velocity", known) == chosen{false, true, true});
  CHECK(kr::chosen_by("v, eta", known) == chosen{true, false, true});
  CHECK(
      message_of([&] { (void)kr::chosen_by("eta velocty", known); }) ==
      "keel::residency: copy-back-vars names 'velocty' (no variable and no group is called so). Did you mean velocity?");
  CHECK(message_of([&] {
          (void)kr::chosen_by("x", known, "APP_COPY_BACK_VARS");
        }).starts_with("keel::residency: APP_COPY_BACK_VARS names 'x' ("));
  std::vector<kr::names> const without_groups{{"temperature", ""}};
  CHECK(message_of([&] { (void)kr::chosen_by("z", without_groups); }).ends_with("Did you mean all?"));
}

TEST_CASE("residency: a routine that names no levels means all of them, but for what is set") {
  auto const levels_of = [](kr::settings const& how, kr::region reads, kr::region writes) {
    std::vector<int> found;
    for (kr::request const& r : kr::all_levels(7, 3, reads, writes, how))
      found.push_back(10 * r.level + int(r.reads != kr::region::none) + 2 * int(r.writes != kr::region::none));
    return found;
  };
  auto const all = kr::region::everywhere, none = kr::region::none;
  CHECK(levels_of({}, all, all) == std::vector<int>{3, 13, 23});
  CHECK(levels_of({.only_reads_current_level = true}, all, none) == std::vector<int>{1});
  CHECK(levels_of({.only_reads_current_level = true}, all, all) == std::vector<int>{3, 12, 22});
  CHECK(levels_of({.only_writes_current_level = true}, none, all) == std::vector<int>{2});
  CHECK(levels_of({.only_reads_current_level = true, .only_writes_current_level = true}, all, all) ==
        std::vector<int>{3});
}

TEST_CASE("residency: for output that declares nothing the current levels come to the host, every step") {
  CHECK(bytes_copied_back<show<a, b>>({}) == 2 * 2 * field_bytes);
  CHECK(sum == 3);
  CHECK(bytes_copied_back<show<a, b>>({}, host::name) == 0);
  CHECK(sum == 3);
}

TEST_CASE("residency: copy-back-every, -vars and -all-levels say how much of it") {
  CHECK(bytes_copied_back<show<>>({.copy_back_every = 2}) == 2 * field_bytes);
  CHECK(bytes_copied_back<show<>>({.copy_back_every = std::nullopt}) == 0);
  CHECK(bytes_copied_back<show<>>({.copy_back_vars = ""}) == 0);
  CHECK(bytes_copied_back<show<b>>({.copy_back_vars = "b"}) == 2 * field_bytes);
  CHECK(bytes_copied_back<show<a, b>>({.copy_back_vars = "pair"}) == 2 * 2 * field_bytes);
  CHECK(bytes_copied_back<show<>>({.copy_back_every = 2, .copy_back_all_levels = true}) == 3 * field_bytes);
}

TEST_CASE("residency: an output that asks for what was not copied back is refused, not served stale data") {
  CHECK(refuses([] { (void)bytes_copied_back<show<a>>({.copy_back_vars = "b"}); },
                "output show asks for a, level 0, which the host does not have (copy-back-every"));
  CHECK(refuses([] { (void)bytes_copied_back<show<c>>({}); }, "output show asks for c"));
}

TEST_CASE("residency: what an analysis wrote is copied back, unless somebody says no") {
  using looked_at = kr::schedule<compute, kr::analysis<diagnose>>;
  test::run<> run{"simulated"};
  kr::fields<application<devices>, a, b, c> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}};
  f.step(looked_at{});
  CHECK(f.is_valid<c>(kr::region::owned));
  CHECK_FALSE(f.is_valid<b>(kr::core));
  CHECK(f.traffic().bytes(kr::way::to_host) == field_bytes);
  f.set({.copy_back_written_in_analysis = false});
  f.step(looked_at{});
  CHECK_FALSE(f.is_valid<c>(kr::core));
  CHECK(f.traffic().bytes(kr::way::to_host) == field_bytes);
}

TEST_CASE("residency: an output may ask for a level of the past where all levels are copied back") {
  test::run<> run{"simulated"};
  kr::fields<application<devices>, a, b, c> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}};
  f.step(program<show<>>{});
  CHECK(message_of([&] { f.step(program<show<kr::past<a, 1>>>{}); }).find("asks for a, level 1") == std::string::npos);
  f.step(program<kr::every<100, compute>>{});
  f.step(program<kr::every<100, compute>>{});
  CHECK(refuses([&] { f.step(program<show<kr::past<a, 1>>>{}); }, "asks for a, level 1"));
  f.set({.copy_back_all_levels = true});
  f.step(program<show<kr::past<a, 1>>>{});
  CHECK(sum == 1);
}

struct look : empty<"look", kr::on_host, kr::reads<kr::owned<c>>> {};
struct telling : kr::schedule<kr::cycle<a>, compute, kr::exchange<b>, diagnose, look, show<>> {};

// What a step with all kinds of copies says, and the next one.
std::string said_by_two_steps(kr::settings const& how, std::string_view device = "simulated") {
  test::run<> run{device, how};
  kr::fields<application<devices>, a, b, c> f{run, kr::grid{{4, 4}, kr::ghost_width{1}, kr::periodic{true, true}}};
  return keel::test::said_to_stderr([&] {
    f.step(telling{});
    f.step(telling{});
  });
}

TEST_CASE("residency: nothing is said about copies where nobody asks") {
  CHECK(said_by_two_steps({}) == "");
  CHECK(said_by_two_steps({.copy_back_every = std::nullopt, .veryverbose = true}, host::name) == "");
}

TEST_CASE("residency: verbose is a line for each copying back, with step, bytes, variables and the output") {
  CHECK(said_by_two_steps({.verbose = true}) ==
        "keel: information: residency: step 1: 160 bytes of 3 variables copied back for show\n"
        "keel: information: residency: step 2: 160 bytes of 3 variables copied back for show\n");
  CHECK(said_by_two_steps({.copy_back_every = 2, .copy_back_vars = "a", .verbose = true}) ==
        "keel: information: residency: step 2: 128 bytes of 1 variable copied back for show\n");
  CHECK(said_by_two_steps({.copy_back_every = std::nullopt, .copy_back_vars = "all", .verbose = true}) == "");
  test::run<> run{"simulated"};
  kr::fields<application<devices>, a, b, c> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}};
  using looked_at = kr::schedule<compute, kr::analysis<diagnose>>;
  CHECK(keel::test::said_to_stderr([&] { f.step(looked_at{}); }) == "");
  f.set({.verbose = true});
  CHECK(keel::test::said_to_stderr([&] { f.step(looked_at{}); }) ==
        "keel: information: residency: step 2: 128 bytes of 1 variable copied back for analysis\n");
  f.set({});
  CHECK(keel::test::said_to_stderr([&] { f.step(looked_at{}); }) == "");
}

TEST_CASE("residency: veryverbose is also a line for each routine and exchange that needed copies") {
  CHECK(said_by_two_steps({.copy_back_vars = "b", .veryverbose = true}) ==
        "keel: details: residency: step 1: exchange needed 96 bytes on the host, 0 on a device\n"
        "keel: details: residency: step 1: look needed 128 bytes on the host, 0 on a device\n"
        "keel: information: residency: step 1: 32 bytes of 1 variable copied back for show\n"
        "keel: details: residency: step 2: exchange needed 96 bytes on the host, 0 on a device\n"
        "keel: details: residency: step 2: look needed 128 bytes on the host, 0 on a device\n"
        "keel: information: residency: step 2: 32 bytes of 1 variable copied back for show\n");
  test::run<> run{"simulated"};
  kr::fields<application<devices>, a, b, c> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}};
  f.set({.veryverbose = true});
  CHECK(keel::test::said_to_stderr(
            [&] { f.run(call<kr::writes<a>>{}, [](auto v) { Kokkos::deep_copy(v(a{}), 4.0); }); }) == "");
  CHECK(keel::test::said_to_stderr([&] { f.run(diagnose{}); }) ==
        "keel: details: residency: step 0: diagnose needed 0 bytes on the host, 128 on a device\n");
  CHECK(keel::test::said_to_stderr([&] { f.run(diagnose{}); }) == "");
}

} // namespace settings_cases
