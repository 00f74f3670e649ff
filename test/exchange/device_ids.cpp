// SPDX-License-Identifier: MIT
// Partitions made of ids in views are those of the same ids on the host, and have the same mistakes.
#include <keel/exchange/device_ids.hpp>

#include <keel/machine/collectives.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/space/simulated.hpp>

#include <support/test.hpp>

#include <climits>
#include <random>

namespace krd = keel::residency::detail;
using ids = std::vector<std::int64_t>;
struct cells : keel::residency::mesh<"cells"> {};

static int answered = 0; // by kernels, as a directory
template <class Space>
static std::optional<krd::owner_search::owners> answers(krd::owner_search::runs const& asked, bool may_repeat) {
  auto made = krd::ids_in_views<Kokkos::View<std::int64_t*, Space>>::answers(asked, may_repeat);
  answered += made ? 1 : 0;
  return made;
}

TEST_CASE_TEMPLATE("residency: a partition of ids in views is that of ids on the host", Space,
                   Kokkos::DefaultExecutionSpace, keel::space::simulated) {
  using view = Kokkos::View<std::int64_t*, Space>;
  auto const view_of = [](ids const& all) {
    view made("ids", all.size());
    Kokkos::deep_copy(made, Kokkos::View<std::int64_t const*, Kokkos::HostSpace>(all.data(), all.size()));
    return made;
  };
  keel::machine::environment const world;
  auto const me = std::size_t(world.rank()), last = std::size_t(world.size() - 1);
  for (unsigned seed = 0; seed != 240; ++seed) {
    CAPTURE(seed);
    unsigned const kind = seed % 4, mistake = seed / 4 % 5; // ids of the last kind are in order
    auto const what = seed % 3 == 0 ? krd::search_for::images : krd::search_for::owners;
    std::mt19937_64 random(seed);
    std::set<std::int64_t> drawn;
    for (auto left = 1 + std::int64_t(random() % 3000); left != 0; --left)
      drawn.insert(kind == 0   ? std::int64_t(random())
                   : kind == 1 ? std::int64_t(random() % 4000 << 50)
                               : INT64_MIN + left);
    ids all(drawn.begin(), drawn.end());
    std::vector<ids> owned(last + 1), ghosts(seed / 7 % 4);
    if (kind != 3) std::shuffle(all.begin(), all.end(), random);
    auto const owning = 1 + random() % (last + 1); // the others own none
    for (std::size_t n = 0; n != all.size(); ++n) owned[n * owning / all.size()].push_back(all[n]);
    if (mistake == 1) owned[last].push_back(all[0]); // which rank 0 owns
    random.seed(seed * (last + 1) + me);
    if (kind != 3) std::shuffle(all.begin(), all.end(), random);
    for (std::size_t n = 0; ids & layer : ghosts)
      for (auto left = random() % 900; left != 0 && n != all.size(); --left) layer.push_back(all[n++]);
    if (mistake == 2 && me == last) ghosts.push_back({all[0] ^ 1 << 20});
    if (mistake == 3 && me == last) ghosts.push_back({all[0]}), ghosts.push_back({all[0]});
    std::vector<view> layers;
    for (ids const& layer : ghosts) layers.push_back(view_of(layer));
    auto const give = [&](auto const& make) {
      auto const spy = [&](auto const& own, auto const& others, auto* by_device) {
        CHECK((by_device == nullptr) == std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>);
        make(own, others, &answers<Space>);
      };
      krd::ids_in_views<view>::give(spy, view_of(owned[me]), layers);
    };
    std::shared_ptr<krd::elements const> here, there;
    answered = 0;
    auto const wrong = keel::test::message_of([&] { here = krd::find_owners(world, "", owned[me], ghosts, what); });
    CHECK(keel::test::message_of([&] { there = krd::find_owners(world, "", give, what); }) == wrong);
    CHECK(keel::machine::min(world, answered) == (wrong.empty() ? 1 : 0));
    auto const content = [](krd::elements const& e) {
      auto const& [partners, own_ghosts, own_elements] = e.lists;
      return std::tie(e.ids, e.owned, e.ends, e.digest, e.owners, e.at_owner, partners, own_ghosts, own_elements);
    };
    if (here && there) CHECK((content(*here) == content(*there)));
  }
  auto const one = view_of({world.rank()}), next = view_of({(world.rank() + 1) % world.size()});
  CHECK(keel::residency::partition<cells>(world, one, next).owners()[0] == (world.rank() + 1) % world.size());
  CHECK(keel::residency::partition<cells>(world, one, std::vector{next, view()}).layers() == 2);
  CHECK_FALSE(answers<Space>(krd::owner_search::runs(5000, {0, {{0, INT_MAX, 0}}}), false)); // more than any memory has
}
