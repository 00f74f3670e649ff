// SPDX-License-Identifier: MIT
// A periodic box that is smaller than what its elements see: ghosts are images of few elements, each of them several
// times.
#include <keel/residency/fields.hpp>

#include <residency/model.hpp>

namespace {

using namespace test;

struct atoms : kr::mesh<"atoms", kr::with_images> {};
struct charge : kr::variable<"charge", double* [2], kr::on_mesh<atoms>> {};
struct force : kr::variable<"force", double*, kr::on_mesh<atoms>> {};

/// `count` atoms on a ring, in equal shares; each rank sees so many beyond its own on either side, turn after turn. The
/// layers are as many as an atom may be there, and in each it is once.
struct ring {
  std::int64_t count, begin, end, sight;
  std::vector<std::int64_t> owned;
  std::vector<std::vector<std::int64_t>> ghosts;

  ring(std::int64_t n, std::int64_t far, int rank, int ranks)
      : count(n), begin(n * rank / ranks), end(n * (rank + 1) / ranks), sight(far) {
    for (std::int64_t i = begin; i < end; ++i) owned.push_back(i);
    for (std::int64_t i = begin - sight; i < end + sight; ++i)
      if (i < begin || i >= end) add((i + 10 * n) % n);
  }

private:
  void add(std::int64_t id) {
    for (auto& layer : ghosts)
      if (std::find(layer.begin(), layer.end(), id) == layer.end()) return layer.push_back(id);
    ghosts.push_back({id});
  }
};

} // namespace

TEST_CASE("images: ghosts are copies of their element, and all go back to it") {
  for (auto const device : either_device)
    for (std::int64_t const sight : {1, 5, 13, 30}) {
      CAPTURE(sight);
      run<km::mpi> r(device);
      auto const& env = r.environment();
      ring const all(12, sight, env.rank(), env.size());
      kr::partition<atoms> const part(env, all.owned, all.ghosts);
      kr::fields<app_left, charge, force> f(r, kr::grid{{16, 8}}, part);
      f.run(call<kr::writes<kr::owned<charge>, kr::everywhere<force>>>{}, [&](auto v) {
        for (std::int64_t e = 0; e < part.size(); ++e) {
          if (e < all.end - all.begin)
            for (int k = 0; k < 2; ++k) v(charge{})(e, k) = double(2 * part.ids()[std::size_t(e)] + k);
          v(force{})(e) = 1;
        }
      });
      touch<kr::owned<charge>>(f);
      f.run(kr::exchange<charge>{}), f.run(kr::accumulate<force>{});
      std::vector<std::int64_t> seen(part.ids().begin(), part.ids().end());
      auto everywhere = km::gather(env, seen, 0);
      share(env, everywhere);
      CHECK(f.run(call<kr::reads<kr::inside<charge>, kr::owned<force>>>{}, [&](auto v) {
        int wrong = 0;
        for (std::int64_t e = 0; e < part.size(); ++e) {
          std::int64_t const id = part.ids()[std::size_t(e)];
          for (int k = 0; k < 2; ++k) wrong += v(charge{})(e, k) == double(2 * id + k) ? 0 : 1;
          if (e < all.end - all.begin)
            wrong += v(force{})(e) == double(std::count(everywhere.begin(), everywhere.end(), id)) ? 0 : 1;
        }
        return wrong;
      }) == 0);
    }
}

TEST_CASE("images: a ghost is once in a layer, and elsewhere in one layer") {
  run<km::mpi> r(host::name);
  auto const& env = r.environment();
  std::vector<std::int64_t> const owned{env.rank()}, twice{0, 0};
  std::vector<std::vector<std::int64_t>> const layers{{0}, {0}};
  CHECK(refuses([&] { kr::partition<atoms>(env, owned, twice); }, "twice (it lies in one layer)"));
  CHECK(kr::partition<atoms>(env, owned, layers).size() == 3);
  CHECK(refuses([&] { kr::partition<meshes::cells>(env, owned, layers); }, "twice (it lies in one layer)"));
}
