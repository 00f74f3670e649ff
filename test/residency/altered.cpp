// SPDX-License-Identifier: MIT
// Goes on from checkpoints that altered.py has changed; says of each whether it is refused, and what the fields hold.
#define DOCTEST_CONFIG_IMPLEMENT
#include <support/ranks.hpp>

#include "model.hpp"

#include <keel/schedule/checkpoint.hpp>

#include <fstream>

#include <unistd.h>

namespace {

using namespace test;
using meshes::cells;

struct written_app : meshes::app<Kokkos::LayoutRight, kr::on_host> {};
struct mass : kr::variable<"mass", double**, kr::levels<2>> {};
struct spot : kr::variable<"spot", float* [2], kr::on_mesh<cells>> {};
struct tick : kr::variable<"tick", std::int64_t, kr::off_grid> {};
using fields = kr::fields<written_app, mass, spot, tick>;
using past_mass = kr::past<mass, 1>;

void fill_all(fields& f, int stamp) {
  for (int c = 0; c < f.components(); ++c, stamp += 10)
    fill<kr::everywhere<mass>>(f, stamp, c), fill<kr::everywhere<past_mass>>(f, stamp + 1, c), fill<spot>(f, stamp, c),
        fill<tick>(f, stamp, c);
}
std::int64_t wrong_in_all(fields& f, int stamp) {
  std::int64_t all = 0;
  for (int c = 0; c < f.components(); ++c, stamp += 10)
    all += wrong<kr::owned<mass>>(f, stamp, c) + wrong<kr::owned<past_mass>>(f, stamp + 1, c) +
           wrong<kr::owned<spot>>(f, stamp, c) + wrong<tick>(f, stamp, c);
  return all;
}

} // namespace

int main(int argc, char** argv) {
  keel::test::ranks const world(argc, argv);
  Kokkos::initialize();
  {
    run<km::mpi> run(host::name);
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
      fill_all(*f, 1);
      f->set_steps(3);
      f->run(kr::checkpoint<"whole">{});
    }
    std::ifstream names(argc == 1 ? "" : argv[1]);
    for (std::string name; std::getline(names, name);) {
      ::alarm(60);
      auto const f = make(name.size() % 2 == 0);
      fill_all(*f, 5);
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
      std::int64_t bad = is_lost ? 0 : wrong_in_all(*f, is_refused ? 5 : 1);
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
