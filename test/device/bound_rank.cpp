// SPDX-License-Identifier: MIT
#include <keel/device/together.hpp>

#include <keel/machine.hpp>

#include <doctest/doctest.h>

#include <cstdlib>

namespace kd = keel::device;
namespace kt = keel::topology;

TEST_CASE("device: a bound rank runs on its hardware threads, tells where, and is free again at its end") {
  auto const here = kt::node::here();
  auto const before = kt::bound_hardware_threads();
  auto const places = here.place(int(before.size()), kd::placing_of({.place = true}, before));
  {
    kd::bound_rank const bound{here, places.back()};
    CHECK(kt::bound_hardware_threads() == places.back().hardware_threads);
    CHECK(bound.text().starts_with("hardware threads " + to_string(places.back().hardware_threads) + ", memory "));
  }
  CHECK(kt::bound_hardware_threads() == before);
  auto const other = kt::node::from_synthetic("numa:2 core:2 pu:1");
  CHECK_THROWS_AS((kd::bound_rank{other, other.place(1)[0]}), keel::error);
  CHECK(kt::bound_hardware_threads() == before);
}

TEST_CASE("device: the rule of --keel-bind becomes one of placement") {
  auto const rule = kd::placing_of({.place = true, .smt = 3, .gpu = true, .greedy = false}, {1, 2});
  CHECK(rule.order == kt::order::by_device);
  CHECK(rule.threads_per_core == 3);
  CHECK_FALSE(rule.greedy);
  CHECK(rule.hardware_threads == kt::id_set{1, 2});
  CHECK(kd::placing_of({.place = true}, {1}).order == kt::order::spread);
}

TEST_CASE("device: what the ranks of a node may use together contains what each may") {
  keel::machine::environment const world;
  auto const mine = kt::bound_hardware_threads();
  CHECK((mine - kd::allowed_together(world.node())).empty());
  CHECK(kd::allowed_together(keel::machine::basic_environment<keel::machine::alone>{}) == mine);
}

TEST_CASE("device: a variable by which OpenMP binds its threads itself is found, unless it says false") {
  if (kd::bound_rank::openmp_variable() != nullptr) return;
  setenv("OMP_PROC_BIND", "false", 1);
  CHECK(kd::bound_rank::openmp_variable() == nullptr);
  setenv("OMP_PROC_BIND", "spread", 1);
  CHECK(kd::bound_rank::openmp_variable() == std::string_view{"OMP_PROC_BIND"});
  unsetenv("OMP_PROC_BIND");
}
