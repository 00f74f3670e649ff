// SPDX-License-Identifier: MIT
#include <keel/device/together.hpp>

#include <keel/machine.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

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

TEST_CASE("device: what two ranks may use together is what one or the other may, bit by bit") {
  std::vector<kd::thread_bits> ranks(2);
  auto const allow = [&](std::size_t rank, std::size_t t) { ranks[rank][t / 64] |= std::uint64_t{1} << t % 64; };
  for (std::size_t const t : {0, 63, 64}) allow(0, t);
  for (std::size_t const t : {0, 129, 8191}) allow(1, t);
  auto const* const bytes = reinterpret_cast<char const*>(ranks.data());
  CHECK(kd::threads_of_any({bytes, 2 * sizeof(kd::thread_bits)}) == kt::id_set{0, 63, 64, 129, 8191});
  CHECK(kd::threads_of_any({bytes, sizeof(kd::thread_bits)}) == kt::id_set{0, 63, 64});
  CHECK(kd::threads_of_any({}).empty());
}

TEST_CASE("device: a variable by which OpenMP binds its threads itself is found, unless it says false") {
  if (kd::bound_rank::openmp_variable() != nullptr) return;
  setenv("OMP_PROC_BIND", "false", 1);
  CHECK(kd::bound_rank::openmp_variable() == nullptr);
  setenv("OMP_PROC_BIND", "spread", 1);
  CHECK(kd::bound_rank::openmp_variable() == std::string_view{"OMP_PROC_BIND"});
  unsetenv("OMP_PROC_BIND");
}
