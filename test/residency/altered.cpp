// SPDX-License-Identifier: MIT
// Goes on from checkpoints that altered.py has changed; says of each whether it is refused, and what the fields hold.
#define DOCTEST_CONFIG_IMPLEMENT
#include <support/ranks.hpp>

#include "meshes.hpp"
#include "routines.hpp"
#include "run.hpp"

#include <keel/layout/partition.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/residency/fields.hpp>
#include <keel/schedule/checkpoint.hpp>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>

#include <unistd.h>

namespace {

namespace kr = keel::residency;
namespace km = keel::machine;
using test::meshes::cells;

struct app : test::meshes::app<Kokkos::LayoutRight, kr::on_host> {};
struct mass : kr::variable<"mass", double**, kr::levels<2>> {};
struct spot : kr::variable<"spot", float* [2], kr::on_mesh<cells>> {};
struct tick : kr::variable<"tick", std::int64_t, kr::off_grid> {};
using fields = kr::fields<app, mass, spot, tick>;
using all_parts = kr::writes<kr::everywhere<mass>, kr::everywhere<kr::past<mass, 1>>, spot, tick>;
using all_owned = kr::reads<kr::owned<mass>, kr::owned<kr::past<mass, 1>>, kr::owned<spot>, tick>;

/// Calls f(element, its number) for what this rank has.
void for_each(auto v, bool owned_only, auto const& f) {
  for (int c = 0; c < v.components(); ++c) {
    auto const s = v.local(kr::component{c});
    auto const part = owned_only ? s.owned() : s.everywhere();
    auto const now = v(mass{}, kr::component{c}), before = v(kr::past<mass, 1>{}, kr::component{c});
    for (auto i = part.begin[0]; i < part.end[0]; ++i)
      for (auto j = part.begin[1]; j < part.end[1]; ++j) {
        auto const x = s.global_begin[0] + i - s.owned().begin[0], y = s.global_begin[1] + j - s.owned().begin[1];
        double const n = double(x) * 31 + double((y + 7) % 7) + 1000 * c;
        f(now(i, j), n), f(before(i, j), -n);
      }
    for (auto e = v.owned(cells{}).begin; e < v.owned(cells{}).end; ++e)
      for (int k = 0; k < 2; ++k) f(v(spot{}, kr::component{c})(e, k), double(10 * e + k + 5 * c));
    f(v(tick{}, kr::component{c})(), 77. + c);
  }
}
/// Each element has its number, and `more`.
void fill(fields& f, double more) {
  f.run(test::call<all_parts>{}, [&](auto v) {
    for_each(v, false, [&](auto& element, double n) { element = std::remove_cvref_t<decltype(element)>(n + more); });
  });
}
/// How many elements have not.
std::int64_t wrong(fields& f, double more) {
  std::int64_t bad = 0;
  f.run(test::call<all_owned>{}, [&](auto v) {
    for_each(v, true, [&](auto const& element, double n) {
      bad += element == std::remove_cvref_t<decltype(element)>(n + more) ? 0 : 1;
    });
  });
  return bad;
}

} // namespace

int main(int argc, char** argv) {
  keel::test::ranks const world(argc, argv);
  Kokkos::initialize();
  {
    test::run<km::mpi> run(test::host::name);
    auto const& env = run.environment();
    kr::partition<cells> const c(env, std::vector<std::int64_t>{3 * env.rank(), 3 * env.rank() + 1});
    kr::grid const first{{6, 7}, kr::ghost_width{1}, kr::periodic{false, true}},
        second{{8, 7}, kr::ghost_width{1}, kr::periodic{false, true}};
    auto const make = [&](bool is_regridded) {
      auto f = std::make_unique<fields>(run, first, c);
      if (is_regridded) f->regrid({{first, 0, {}}, {second, -1, {}}});
      return f;
    };
    if (argc == 1) { // makes the file
      auto const f = make(true);
      fill(*f, 0);
      f->set_steps(3);
      f->run(kr::checkpoint<"whole">{});
    }
    std::ifstream names(argc == 1 ? "" : argv[1]);
    for (std::string name; std::getline(names, name);) {
      ::alarm(60);
      auto const f = make(name.size() % 2 == 0);
      fill(*f, 0.5);
      int const components = f->components();
      std::string said = "taken";
      try {
        f->restart(name);
      } catch (keel::error const& e) {
        said = e.what();
      }
      bool const is_refused = said != "taken";
      bool const is_lost =
          is_refused && !(f->is_valid<mass>(kr::region::owned) && f->is_valid<spot>(kr::region::owned) &&
                          f->is_valid<tick>(kr::region::owned));
      std::int64_t bad = is_lost ? 0 : wrong(*f, is_refused ? 0.5 : 0);
      bad += is_refused && !is_lost && f->components() != components ? 1 : 0;
      bool const are_alike = km::sum(env, std::int64_t(is_refused)) % env.size() == 0;
      bad = km::sum(env, bad);
      if (env.rank() == 0)
        std::printf("%s\t%s\t%lld\t%s\n", name.c_str(),
                    !are_alike   ? "apart"
                    : bad != 0   ? "WRONG"
                    : is_refused ? "refused"
                                 : "taken",
                    static_cast<long long>(f->steps()), said.c_str());
      std::fflush(stdout);
    }
  }
  Kokkos::finalize();
}
