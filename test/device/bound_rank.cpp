// SPDX-License-Identifier: MIT
#include <keel/impl/device/bound_rank.hpp>
#include <keel/impl/device/mapping.hpp>

#include <keel/machine.hpp>

#include <support/test.hpp>
#include "command_line.hpp"

#include <atomic>
#include <initializer_list>

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

namespace {

kd::thread_bits bits_of(std::initializer_list<int> threads) {
  kd::thread_bits all{};
  for (int const t : threads) all[std::size_t(t) / 64] |= std::uint64_t{1} << t % 64;
  return all;
}

} // namespace

TEST_CASE("device: what two ranks may use together is what one or the other may, bit by bit") {
  std::array const ranks{bits_of({0, 63, 64}), bits_of({0, 129, 8191})};
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

TEST_CASE("device: where a rank is bound is noted, and of one that is not, nothing is") {
  keel::machine::basic_environment<keel::machine::alone> const one;
  kd::program_ranks const alone(one);
  kd::own_node const node;
  kd::common_settings common;
  kd::placed_rank me;
  me.note_places(alone, common);
  CHECK(common.remarks().empty());
  common.program.bind.place = true;
  REQUIRE(me.go(alone, "app", common.program.bind, node).empty());
  me.note_places(alone, common);
  REQUIRE_FALSE(common.remarks().empty());
  CHECK(common.remarks()[0].text == "rank 0 is bound to " + me.text());
}

namespace {

std::vector<std::string> cards; // PCI ids of those that `propose` may take

/// A device with instances and no other knob.
kd::device_facts cards_alone() {
  static std::atomic<unsigned> told{0};
  kd::device_facts facts{.name = "cards",
                         .knobs = {},
                         .told = &told,
                         .max_devices = [] { return int(cards.size()); },
                         .pci_id = [](int i) { return cards[std::size_t(i)]; }};
  facts.knobs[std::size_t(kd::knob::device_instance)] = {
      [] { return keel::space::bounds{0, std::int64_t(cards.size()) - 1}; }};
  return facts;
}

} // namespace

TEST_CASE("device: of ranks that a launcher has bound, each takes a card near its first hardware thread") {
  auto const seen = kt::node::from_xml(KEEL_TEST_DATA "/gpus8_numa4.xml");
  cards.clear();
  for (auto const& d : seen.devices())
    if (d.type == kt::device_type::gpu) cards.push_back(d.pci_id);
  auto const facts = cards_alone();
  auto const last = *seen.cores().back().hardware_threads.begin();
  std::array const told{bits_of({last}), bits_of({0})};
  keel::test::variable const file{"HWLOC_XMLFILE", KEEL_TEST_DATA "/gpus8_numa4.xml"};
  kd::own_node const node;
  kd::placed_rank const unbound;
  for (int rank = 0; rank < 2; ++rank) {
    std::array<kd::held_value, 1> value;
    kd::changeable_knobs const knobs{&facts, value.data()};
    kd::program_settings const program;
    kd::propose({&knobs, 1}, rank, {reinterpret_cast<char const*>(told.data()), sizeof told}, unbound, program, node);
    int const core = rank == 0 ? int(seen.cores().size()) - 1 : 0;
    REQUIRE(value[0].value.has_value());
    auto const& taken = cards[std::size_t(*value[0].value)];
    CAPTURE(taken);
    int nearest = 1'000, distance = -1;
    for (auto const& d : seen.devices())
      if (d.type == kt::device_type::gpu) {
        nearest = std::min(nearest, seen.distance_to_device(core, d.id));
        if (d.pci_id == taken) distance = seen.distance_to_device(core, d.id);
      }
    CHECK(distance == nearest);
  }
}

TEST_CASE("device: ranks that may run on the same hardware threads share them, and others do not count") {
  auto facts = cards_alone();
  facts.knobs = {};
  facts.knobs[std::size_t(kd::knob::threads)] = {[] { return keel::space::bounds{1, 8}; }};
  facts.default_threads = [] { return 8; };
  facts.max_devices = nullptr;
  std::array const told{bits_of({0}), bits_of({0}), bits_of({4})};
  kd::own_node const node;
  kd::placed_rank const unbound;
  kd::program_settings const program;
  for (int rank = 0; rank < 3; ++rank) {
    std::array<kd::held_value, 1> value;
    kd::changeable_knobs const knobs{&facts, value.data()};
    kd::propose({&knobs, 1}, rank, {reinterpret_cast<char const*>(told.data()), sizeof told}, unbound, program, node);
    CHECK(value[0].value == (rank < 2 ? 4 : 8));
  }
}
