// SPDX-License-Identifier: MIT
#include <keel/impl/device/rank_place.hpp>

#include <keel/impl/device/runtime_core.hpp>
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

namespace {

std::vector<std::string> cards; // PCI ids of those that `propose` may take

/// A device with one knob, whose bounds are these.
kd::device_facts with_knob(kd::knob id, keel::space::bounds (*bounds)()) {
  static std::atomic<unsigned> told{0};
  kd::device_facts facts{.name = "one", .knobs = {}, .told = &told};
  facts.knobs[std::size_t(id)] = {bounds};
  return facts;
}

/// What an unbound rank takes of a device with one knob where the ranks of the node told these threads.
std::optional<std::int64_t> proposed(kd::device_facts const& facts, int rank, auto const& told) {
  kd::own_node const node;
  std::array<kd::held_value, 1> value;
  kd::changeable_knobs const knobs{&facts, value.data()};
  kd::propose({&knobs, 1}, rank, {reinterpret_cast<char const*>(told.data()), sizeof told}, kd::placed_rank{},
              kd::program_settings{}, node);
  return value[0].value;
}

} // namespace

TEST_CASE("device: of ranks that a launcher has bound, each takes a card near its first hardware thread") {
  auto const seen = kt::node::from_xml(KEEL_TEST_DATA "/gpus8_numa4.xml");
  cards.clear();
  for (auto const& d : seen.devices())
    if (d.type == kt::device_type::gpu) cards.push_back(d.pci_id);
  auto facts =
      with_knob(kd::knob::device_instance, [] { return keel::space::bounds{0, std::int64_t(cards.size()) - 1}; });
  facts.max_devices = [] { return int(cards.size()); };
  facts.pci_id = [](int i) { return cards[std::size_t(i)]; };
  auto const last = *seen.cores().back().hardware_threads.begin();
  keel::test::variable const file{"HWLOC_XMLFILE", KEEL_TEST_DATA "/gpus8_numa4.xml"};
  for (int rank = 0; rank < 2; ++rank) {
    auto const instance = proposed(facts, rank, std::array{bits_of({last}), bits_of({0})});
    REQUIRE(instance.has_value());
    int const nearest = kd::nearest_gpu(seen, std::array{last, 0}, std::size_t(rank));
    CHECK(cards[std::size_t(*instance)] == seen.devices()[std::size_t(nearest)].pci_id);
  }
}

TEST_CASE("device: ranks that may run on the same hardware threads share them, and others do not count") {
  auto facts = with_knob(kd::knob::threads, [] { return keel::space::bounds{1, 8}; });
  facts.default_threads = [] { return 8; };
  std::array const told{bits_of({0}), bits_of({0}), bits_of({4})};
  for (int rank = 0; rank < 3; ++rank) CHECK(proposed(facts, rank, told) == (rank < 2 ? 4 : 8));
  CHECK(kd::share_of_threads(2, 4) == 1);
  CHECK(kd::share_of_threads(0, 0) == 1);
}

TEST_CASE("device: a card is dealt round robin, or the one that placement gave is taken, if it is there") {
  std::array<std::string, 4> const all{"0000:07:00.0", "0000:0b:00.0", "0000:48:00.0", "0000:4c:00.0"};
  std::array<std::string, 1> const own{all[3]}; // a list that the launcher has cut
  using how = kd::device_mapping;
  struct {
    how mapping;
    kd::mapping_facts facts;
    std::optional<int> instance;
  } const rows[]{
      {how::rank, {.node_rank = 3, .visible = all}, 3},
      {how::rank, {.node_rank = 5, .visible = all}, 1},
      {how::rank, {.node_rank = 3, .visible = all, .limit = 2}, 1},
      {how::rank, {.node_rank = 3, .visible = all, .limit = 64}, 3},
      {how::rank, {.node_rank = 0, .visible = all, .nearest = all[2]}, 0},
      {how::rank, {.visible = all, .limit = 0}, {}},
      {how::nearest, {.node_rank = 0, .visible = all, .nearest = all[2]}, 2},
      {how::nearest, {.node_rank = 3, .visible = all, .nearest = all[2], .limit = 2}, 1},
      {how::nearest, {.node_rank = 2, .visible = own, .nearest = all[2]}, 0},
      {how::nearest, {.nearest = all[0]}, {}},
      {how::none, {.visible = all}, {}},
  };
  for (auto const& row : rows) CHECK(kd::map_device(row.mapping, row.facts) == row.instance);
}

TEST_CASE("device: ranks that are bound take near cards, and every card before they double one") {
  auto const node = kt::node::from_xml(KEEL_TEST_DATA "/gpus8_numa4.xml");
  auto const taken_on = [](kt::node const& on, std::vector<int> const& threads) {
    std::vector<int> all;
    for (std::size_t rank = 0; rank < threads.size(); ++rank) all.push_back(kd::nearest_gpu(on, threads, rank));
    return all;
  };
  auto const is_near = [&](int core, int card, int wanted) {
    return node.distance_to_device(core, card) <= node.distance_to_device(core, wanted);
  };
  std::vector<int> threads, wanted;
  for (auto const& p : node.place(8)) {
    threads.push_back(*p.hardware_threads.begin());
    wanted.push_back(p.device);
  }
  CHECK(taken_on(node, threads) == wanted);
  std::swap(threads[0], threads[7]);
  std::swap(threads[2], threads[5]);
  auto swapped = taken_on(node, threads);
  CHECK(is_near(31, swapped[0], wanted[7]));
  auto crowded = taken_on(node, std::vector<int>(8, *node.cores()[0].hardware_threads.begin()));
  CHECK(is_near(0, crowded[1], wanted[0]));
  for (auto* all : {&wanted, &swapped, &crowded}) std::sort(all->begin(), all->end());
  CHECK(swapped == wanted);
  CHECK(crowded == wanted);
  CHECK(taken_on(node, {-1}).size() == 1);
  auto const contexts = kt::node::from_xml(KEEL_TEST_DATA "/contexts.xml"); // GPUs of 4, 2 and unknown
  CHECK(taken_on(contexts, std::vector<int>(8, 0)) == std::vector{0, 1, 0, 1, 0, 0, 2, 2});
  CHECK(taken_on(kt::node::from_synthetic("core:2 pu:1"), {0}) == std::vector{-1});
}
