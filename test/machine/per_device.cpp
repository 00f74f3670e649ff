// SPDX-License-Identifier: MIT
#include <keel/machine/per_device.hpp>
#include <keel/topology/binding.hpp>

#include <support/test.hpp>

namespace km = keel::machine;
namespace kt = keel::topology;

namespace {

/// A selection as users model it: the ranks of even number, the last first.
struct even_backwards {
  int extent;
  void check(int size) const {
    if (size != km::unknown && extent > size) throw keel::error("test", "too many");
  }
  [[nodiscard]] int count() const { return (extent + 1) / 2; }
  [[nodiscard]] int rank_in_parent(int rank) const { return 2 * (count() - 1 - rank); }
  [[nodiscard]] int find(int rank) const {
    return rank < 0 || rank % 2 != 0 || rank >= extent ? -1 : count() - 1 - rank / 2;
  }
};
static_assert(km::Selection<even_backwards>);

/// Those of a user's that ask all ranks.
struct those_who_want {
  bool wants;
  template <class Environment>
  [[nodiscard]] km::chosen choose(Environment const& parent) const {
    auto const all = km::all_gather(parent, char(wants));
    std::vector<int> ranks;
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r] != 0) ranks.push_back(int(r));
    return km::chosen{ranks};
  }
};

kt::node saved(std::string const& name) { return kt::node::from_xml(std::string{KEEL_TEST_DATA} + "/" + name); }

} // namespace

TEST_CASE_TEMPLATE("machine: a selection of the user's own picks ranks, and so does one that asks all of them", R,
                   km::mpi, km::alone) {
  km::basic_environment<R> const world;
  km::basic_environment<R> const even{world, even_backwards{world.size()}};
  CHECK(even.is_member() == (world.rank() % 2 == 0));
  if (even.is_member()) CHECK(even.rank() == (world.size() - 1) / 2 - world.rank() / 2);
  CHECK_THROWS_AS((km::basic_environment<R>{world, even_backwards{world.size() + 1}}), keel::error);
  km::basic_environment<R> const last{world, those_who_want{world.rank() == world.size() - 1}, km::master{0}};
  CHECK(last.is_member() == (world.rank() == world.size() - 1));
  if (last.is_member()) CHECK(last.size() == 1);
}

TEST_CASE("machine: one rank for each GPU is selected, and those that are near one") {
  km::environment const world;
  for (char const* name : {"gpus8_numa4.xml", "gpus_one_side.xml"}) {
    CAPTURE(name);
    auto const node = saved(name);
    auto const places = node.place(world.size());
    std::set<int> devices;
    for (auto const& p : places)
      if (p.device >= 0) devices.insert(p.device);
    REQUIRE(!devices.empty());
    km::environment const one{world, km::one_per_device.on(node)};
    auto const mine = places[std::size_t(world.rank())].device;
    auto const all = km::all_gather(world, one.is_member() ? mine : -1);
    std::multiset<int> taken(all.begin(), all.end());
    taken.erase(-1);
    CHECK(std::multiset<int>(devices.begin(), devices.end()) == taken);
    km::environment const near{world, km::near_device.on(node)};
    auto const& cores = places[std::size_t(world.rank())].cores;
    bool is_near = false;
    if (mine >= 0) {
      int best = node.distance_to_device(0, mine);
      for (auto const& c : node.cores()) best = std::min(best, node.distance_to_device(c.id, mine));
      is_near =
          std::any_of(cores.begin(), cores.end(), [&](int c) { return node.distance_to_device(c, mine) == best; });
    }
    CHECK(near.is_member() == is_near);
  }
  auto const none = kt::node::from_synthetic("core:2 pu:1");
  CHECK_THROWS_WITH_AS((km::environment{world, km::one_per_device.on(none)}),
                       "keel::machine::one_per_device: no rank is selected (no node has a GPU). Start without it.",
                       keel::error);
  CHECK_THROWS_AS((km::environment{world, km::near_device.on(none)}), keel::error);
}

TEST_CASE("machine: of ranks that are bound to one core, those are near their GPU whose GPU is near that core") {
  setenv("HWLOC_XMLFILE", KEEL_TEST_DATA "/gpus8_numa4.xml", 1);
  setenv("HWLOC_THISSYSTEM", "1", 1);
  auto const node = kt::node::here();
  unsetenv("HWLOC_XMLFILE"), unsetenv("HWLOC_THISSYSTEM");
  auto const bound = kt::bound_cores(node);
  if (bound.empty()) return; // of a larger machine the last threads
  auto const& core = node.cores()[std::size_t(*bound.begin())];
  kt::binding const one{node,
                        {.cores = {core.id}, .hardware_threads = core.hardware_threads & kt::bound_hardware_threads()}};
  int near = 0;
  for (int rank = 0; rank < 8; ++rank) near += km::detail::device_of(&node, rank, 8).is_near ? 1 : 0;
  CHECK(near == 2);
}
