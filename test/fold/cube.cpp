// SPDX-License-Identifier: MIT
// Fields on a cubed sphere.
#include <keel/residency/fields.hpp>

#include "sphere.hpp"
#include "spread.hpp"

#include <store/python.hpp>

#include <cmath>

namespace {

struct depth : kr::variable<"depth", double**> {};
struct wind : kr::variable<"wind", float*** [2], kr::turns> {};
struct flux : kr::variable<"flux", double** [2], kr::turns_on_faces> {};
template <class App>
using cube_fields = kr::fields<App, depth, wind, flux>;

kr::grid cube(int n, int width, int ranks, int times = 1, int corners = -1) {
  return {{6 * n, n}, kr::ghost_width{width}, kr::blocks{6 / std::gcd(6, ranks) * times}, kr::cubed_sphere{corners}};
}

/// Calls f(element, wanted) for what a part has of a variable; 0 is wanted where nobody has anything.
template <class V, class Part>
void each(auto& fields, kr::grid const& g, auto const& f) {
  std::int64_t const n = g.extents()[1];
  bool const has_parts = V::about.on.turns;
  sphere const all{n, V::about.on.turns_faces, g.folds().corners_along};
  fields.run(call<Part>{}, [&](auto v) {
    auto const values = v(V{});
    kr::share const s = v.local(V{});
    int const panel = int(s.global_begin[0] / n);
    for_all(s.everywhere(), 2, [&](kr::indices const& i) {
      std::int64_t const row = s.global_begin[0] - panel * n + i[0] - s.width[0],
                         column = s.global_begin[1] + i[1] - s.width[1];
      auto const wanted = [&](int part) { return all.value(panel, row, column, has_parts ? part : -1); };
      bool const is_owned = is_in(s.owned(), 2, i);
      for (int c = 0; c < (has_parts ? 2 : 1); ++c) {
        if constexpr (std::is_same_v<V, depth>) f(values(i[0], i[1]), wanted(c), is_owned);
        if constexpr (std::is_same_v<V, flux>) f(values(i[0], i[1], c), wanted(c), is_owned);
        for (int k = 0; k < 3; ++k)
          if constexpr (std::is_same_v<V, wind>) f(values(i[0], i[1], k, c), (k + 1) * wanted(c), is_owned);
      }
    });
  });
}

template <class App>
void try_cube(kr::grid const& g, std::string_view device) {
  run<km::mpi> r(device);
  auto const& env = r.environment();
  cube_fields<App> f(r, g, kr::extra<wind>{3});
  auto const try_one = [&]<class V>(V) {
    CAPTURE(V::about.name);
    double sums[2]{}, numbers[2]{};
    each<V, kr::writes<kr::everywhere<V>>>(f, g, [](auto& e, double, bool) { e = 0; });
    each<V, kr::writes<kr::owned<V>>>(f, g, [](auto& e, double wanted, bool is_owned) {
      if (is_owned) e = std::remove_cvref_t<decltype(e)>(wanted);
    });
    touch<kr::owned<V>>(f); // so that copies between memories have a part in it
    f.run(kr::exchange<V>{});
    int wrong = 0;
    each<V, kr::reads<kr::inside<V>>>(f, g, [&](auto const& e, double wanted, bool) {
      wrong += wanted == 0 || e == std::remove_cvref_t<decltype(e)>(wanted) ? 0 : 1;
      sums[0] += double(e) * wanted, numbers[0] += wanted != 0;
    });
    CHECK(wrong == 0);
    // Copies of a value go back to it with its sign: as many times its square as there are copies.
    f.run(kr::accumulate<V>{});
    each<V, kr::reads<kr::owned<V>>>(f, g, [&](auto const& e, double wanted, bool is_owned) {
      if (!is_owned) return;
      sums[1] += double(e) * wanted, numbers[1] += std::abs(double(e)) / std::abs(wanted);
    });
    CHECK(km::sum(env, numbers[0]) == doctest::Approx(km::sum(env, numbers[1])));
    CHECK(km::sum(env, sums[0]) == doctest::Approx(km::sum(env, sums[1])).epsilon(1e-6));
    if constexpr (std::is_same_v<V, depth>) CHECK(sends_least<V>(env, f));
  };
  try_one(depth{}), try_one(wind{}), try_one(flux{});
}

} // namespace

TEST_CASE("cube: ghosts are what lies at their place in space, and go back to it") {
  int const ranks = km::basic_environment<km::mpi>().size();
  for (int const width : {1, 2, 3})
    for (int const corners : {-1, 0, 1}) {
      kr::grid const g = cube(9 + width, width, ranks, corners == 0 ? 1 : 2, corners);
      if (corners == 0) try_cube<app_left>(g, "simulated");
      else try_cube<app_right>(g, host::name);
    }
}

TEST_CASE("cube: what spreads keeps its amount, and has equal bits on any ranks and devices") {
  try_spreading([](int ranks) { return cube(8, 1, ranks); }, 6 * 8 * 8, 0);
}

TEST_CASE("cube: files, on other ranks") {
  try_restarts<flux>([](int ranks) { return cube(8, 1, ranks); }, {{48, 8}, kr::ghost_width{1}, kr::periodic{true}});
}

TEST_CASE("cube: what is saved is a sphere, whatever the order of its arrays") {
  auto const try_order = [](auto app, std::string_view device) {
    run<km::mpi> r(device);
    in_folder const here(r.environment());
    kr::grid const g = cube(5, 1, r.environment().size());
    {
      kr::fields<decltype(app), depth, flux> f(r, g);
      each<depth, kr::writes<kr::owned<depth>>>(f, g, [](double& e, double wanted, bool is_owned) {
        if (is_owned) e = wanted;
      });
      each<flux, kr::writes<kr::owned<flux>>>(f, g, [](double& e, double wanted, bool is_owned) {
        if (is_owned) e = wanted;
      });
      f.run(kr::save<"sea", depth, flux>{});
    }
    km::barrier(r.environment());
    auto const python = keel::test::python_with_h5py();
    if (r.environment().rank() != 0) return;
    if (python.empty()) return keel::test::skip("no h5py");
    // A number says where on the cube its cell lies; the middle of its corners is near there.
    CHECK(keel::test::said_by_h5py(python, "sea.000000.vtkhdf", R"(
  import numpy as np
  f = f["VTKHDF"]
  corners, place = f["Points"][:].reshape(-1, 4, 3), (f["CellData/depth"][:] - 1) // 3
  middle = np.tan(np.pi / 20 * (np.stack([place % 100, place // 100 % 100, place // 10000], 1) - 5))
  middle /= np.linalg.norm(middle, axis=1, keepdims=True)
  print(abs(np.linalg.norm(corners, axis=2) - 1).max() < 1e-12, abs(corners.mean(1) - middle).max() < 0.05,
        len(np.unique(place)), f["CellData/flux"].shape, set(map(int, f["Types"][:])),
        (f["Offsets"][:] == np.arange(0, 604, 4)).all())
)") == "True True 150 (150, 2) {9} True\n");
  };
  try_order(app_left{}, "simulated"), try_order(app_right{}, host::name);
}

TEST_CASE("cube: what cannot be is refused in words, on every rank") {
  run<km::mpi> r(host::name);
  auto const refused = [&](auto const& make, std::string_view why) { CHECK(keel::test::refuses(make, why)); };
  refused([] { kr::grid({24, 5}, kr::cubed_sphere{}); }, "its extents are 24 x 5");
  refused([] { kr::grid({24, 4}, kr::cubed_sphere{}, kr::periodic{true, false}); }, "its panels join each other");
  refused([] { kr::grid({24, 4}, kr::cubed_sphere{2}); }, "corners_along is 2 (panels have dimensions 0 and 1");
  refused([] { (void)kr::processes_for(kr::grid{{24, 4}, kr::cubed_sphere{}}, 4); },
          "Give blocks that are, times the ranks, a multiple of 6");
  struct corner : kr::variable<"corner", double**, kr::at<kr::vertex>> {};
  refused([&] { kr::fields<app_left, corner>(r, cube(24, 1, r.environment().size())); },
          "variable corner lies otherwise than cells do");
}
