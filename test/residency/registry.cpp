// SPDX-License-Identifier: MIT
// Variables named at run time: random calls beside a plain model, arrays of both owners, then what is refused.
#include "meshes.hpp"

#include <keel/residency/registry.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace registry_cases {

namespace kr = keel::residency;
using test::meshes::cells;

template <class Exchange>
struct run_of : test::run<keel::machine::mpi> {
  using application = test::meshes::app<Kokkos::LayoutRight, Exchange>;
  run_of() : test::run<keel::machine::mpi>("simulated") {}
};

constexpr int levels = 3; // of elements beyond the mesh

/// A variable, and what it holds as a plain program would know it: of each time level the number of the write that its
/// owned elements and its ghosts have, 0 if they are valid nowhere.
struct known {
  kr::registered_variable handle;
  bool is_strided;
  std::vector<std::array<int, 2>> level;
};

double value(int write, std::int64_t id, int k) { return write * 1000. + double(id % 997) + k / 8.; }

template <class View>
void fill(View const& v, kr::partition<cells> const& c, std::int64_t end, int write) {
  auto const there = Kokkos::create_mirror_view(v);
  Kokkos::View<double**, Kokkos::HostSpace> const all("all", v.extent(0), v.extent(1));
  (void)there;
  std::vector<std::int64_t> const ids(c.ids().begin(), c.ids().end());
  using space = typename View::execution_space;
  Kokkos::View<std::int64_t*, typename View::memory_space> const on_device("ids", ids.size());
  Kokkos::deep_copy(on_device, Kokkos::View<std::int64_t const*, Kokkos::HostSpace>(ids.data(), ids.size()));
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<space>(0, end), KOKKOS_LAMBDA(std::int64_t e) {
        for (int k = 0; k < levels; ++k) v(e, k) = value(write, on_device(e), k);
      });
}
template <class View>
int wrong(View const& v, kr::partition<cells> const& c, std::int64_t begin, std::int64_t end, int write) {
  Kokkos::View<double**, Kokkos::LayoutRight, typename View::memory_space> const packed("packed", v.extent(0),
                                                                                        v.extent(1));
  using space = typename View::execution_space;
  Kokkos::parallel_for(
      "pack", Kokkos::RangePolicy<space>(0, std::int64_t(v.extent(0))), KOKKOS_LAMBDA(std::int64_t e) {
        for (int k = 0; k < levels; ++k) packed(e, k) = v(e, k);
      });
  Kokkos::fence();
  auto const here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), packed);
  int found = 0;
  for (std::int64_t e = begin; e < end; ++e)
    for (int k = 0; k < levels; ++k) found += here(e, k) == value(write, c.ids()[std::size_t(e)], k) ? 0 : 1;
  return found;
}

template <class Exchange>
void play(unsigned seed) {
  run_of<Exchange> run;
  std::mt19937 draw(seed); // the same on every rank
  auto const g = test::meshes::hexagons(8, 6, run.environment().size());
  kr::partition<cells> const c(run.environment(), g.ids_of(run.environment().rank()));
  kr::registry f{run, c};
  auto const n = std::size_t(c.size());
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const mine("mine", n, levels), both("both", n, levels);
  Kokkos::View<double**, Kokkos::LayoutRight, keel::space::simulated_memory> const both_there("both", n, levels),
      there("there", n, levels);
  Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> const wide("wide", n, levels, 2);
  auto const section = Kokkos::subview(wide, Kokkos::ALL, Kokkos::ALL, 1);
  Kokkos::deep_copy(wide, -1);
  std::vector<known> all{
      {f.template adopt<cells>("mine", mine), false, {{0, 0}}},
      {f.template adopt<cells>("both", both, both_there), false, {{0, 0}}},
      {f.template adopt<cells>("there", there), false, {{0, 0}}},
      {f.template adopt<cells>("section", section), true, {{0, 0}}},
      {f.template add<double**, cells>("own", kr::extents{levels}, kr::levels<2>{}), false, {{0, 0}, {0, 0}}}};
  CHECK(f.template adopt<cells>("mine", mine).number == 0);
  int writes = 0;
  for (int n_calls = 0; n_calls < 60; ++n_calls) {
    known& x = all[draw() % all.size()];
    int const level = int(draw() % x.level.size());
    bool const is_on_device = draw() % 2 == 0;
    unsigned const call = draw() % 6;
    auto const h = x.handle.past(level);
    int &owned = x.level[std::size_t(level)][0], &ghosts = x.level[std::size_t(level)][1];
    auto const with = [&](auto const& use, auto const& body) {
      if (x.is_strided) body(use.template view<double**, Kokkos::LayoutStride>(h));
      else body(use.template view<double**>(h));
    };
    auto const on_place = [&](auto const& body) {
      if (is_on_device) body(kr::on<keel::simulated>{});
      else body(kr::on_host{});
    };
    bool is_refused = false;
    try {
      if (call == 0 || call == 1) { // writes
        bool const all_of_it = call == 1;
        ++writes;
        on_place([&](auto place) {
          auto const u =
              f.use("write", place, kr::writing{h.only(all_of_it ? kr::region::everywhere : kr::region::owned)});
          with(u, [&](auto const& v) { fill(v, c, all_of_it ? c.size() : c.owned().end, writes); });
        });
        owned = writes, ghosts = all_of_it ? writes : 0;
      } else if (call == 2 || call == 3) { // reads
        bool const all_of_it = call == 3;
        bool const is_valid = owned != 0 && (!all_of_it || ghosts != 0);
        is_refused = !is_valid;
        on_place([&](auto place) {
          auto const u =
              f.use("read", place, kr::reading{h.only(all_of_it ? kr::region::everywhere : kr::region::owned)});
          auto const look = [&](auto const& v) {
            CHECK(wrong(v, c, 0, c.owned().end, owned) +
                      (all_of_it ? wrong(v, c, c.owned().end, c.size(), ghosts) : 0) ==
                  0);
          };
          if (x.is_strided) look(u.template view<double const**, Kokkos::LayoutStride>(h));
          else look(u.template view<double const**>(h));
        });
        CHECK(is_valid);
      } else if (call == 4) {
        known const& other = all[draw() % all.size()];
        bool const is_valid = owned != 0 && (&other == &x || other.level[0][0] != 0);
        is_refused = !is_valid;
        if (&other == &x) f.exchange({h});
        else f.exchange({h, other.handle});
        CHECK(is_valid);
        ghosts = owned;
        if (&other != &x) const_cast<known&>(other).level[0][1] = other.level[0][0];
      } else if (x.level.size() > 1) {
        f.cycle(x.handle);
        std::rotate(x.level.begin(), x.level.end() - 1, x.level.end());
        x.level[0] = {0, 0};
      } else { // by hand
        ++writes;
        if (x.handle.number < 2) {
          f.require_invalid_data(kr::on_host{}, {h});
          fill(x.handle.number == 0 ? mine : both, c, c.size(), writes);
          f.notify_data_modified(kr::on_host{}, {h});
          owned = ghosts = writes;
        }
      }
    } catch (keel::error const& e) {
      INFO(e.what());
      CHECK(is_refused);
    }
  }
  for (std::size_t e = 0; e < n; ++e)
    for (int k = 0; k < levels; ++k) CHECK(wide(e, k, 0) == -1); // what lies between
}

TEST_CASE("residency: a registry keeps arrays of both owners as a plain model does") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    play<kr::on_host>(seed);
    play<kr::on_device>(seed + 100);
  }
}

TEST_CASE("residency: a registry's own arrays follow their elements to other ranks") {
  run_of<kr::on_host> run;
  int const rank = run.environment().rank(), size = run.environment().size();
  auto const g = test::meshes::ring(31, size);
  auto moved = g;
  for (int& owner : moved.owners) owner = (owner + 1) % size;
  kr::partition<cells> const c(run.environment(), g.ids_of(rank)), to(run.environment(), moved.ids_of(rank));
  kr::registry f{run, c};
  auto const q = f.add<double**, cells>("q", kr::extents{levels});
  {
    auto const u = f.use("write", kr::on<keel::simulated>{}, kr::writing{q.only(kr::region::owned)});
    fill(u.view<double**>(q), c, c.owned().end, 1);
  }
  f.repartition(to);
  f.exchange({q});
  auto const u = f.use("read", kr::on_host{}, kr::reading{q});
  CHECK(wrong(u.view<double const**>(q), to, 0, to.size(), 1) == 0);
}

TEST_CASE("residency: what a registry cannot keep is refused on every rank") {
  run_of<kr::on_host> run;
  int const rank = run.environment().rank(), size = run.environment().size();
  auto const g = test::meshes::ring(24, size);
  kr::partition<cells> const c(run.environment(), g.ids_of(rank));
  auto const n = std::size_t(c.size());
  Kokkos::View<double**, Kokkos::HostSpace> const a("a", n, 2), b("b", n, 2), other("other", n, 2),
      small("small", n - 1, 2);
  Kokkos::View<double**, Kokkos::LayoutLeft, keel::space::simulated_memory> const left("left", n, 2);
  Kokkos::View<double**, Kokkos::LayoutRight, keel::space::simulated_memory> const there("there", n, 2),
      less("less", n - 1, 2);
  kr::registry f{run, c};
  auto const said = [](auto const& call, std::string_view words) {
    std::string text;
    try {
      call();
    } catch (keel::error const& e) {
      text = e.what();
    }
    INFO(text);
    CHECK(text.find(words) != std::string::npos);
  };
  auto const h = f.adopt<cells>("h", a);
  auto const q = f.add<double**, cells>("q", kr::extents{2});
  said([&] { (void)f.adopt<cells>("h", b); }, "two variables 'h'");
  said([&] { (void)f.adopt<cells>("again", a); }, "is the array of 'h'");
  said([&] { (void)f.adopt<cells>("small", rank == size - 1 ? small : b); }, "along index 0");
  said([&] { (void)f.adopt<cells>("left", b, left); }, "in different ways");
  said([&] { (void)f.adopt<cells>("less", b, rank == size - 1 ? less : there); }, "in different ways");
  said([&] { (void)f.adopt<cells>("two", b, small); }, "in different ways");
  said([&] { (void)f.adopt<cells>("both", b, other); }, "two arrays in one memory");
  said([&] { (void)f.find("nothing"); }, "no variable 'nothing'");
  said([&] { (void)f.is_valid(kr::on_host{}, q.past(1)); }, "no level 1");
  if (size > 1)
    said([&] { (void)f.add<double**, cells>(rank == 0 ? "x" : "y", kr::extents{2}); }, "differ between ranks");
  said([&] { auto const u = f.use("look", kr::on_host{}, kr::reading{h}); }, "routine look reads h");
  {
    auto const u = f.use("write", kr::on_host{}, kr::writing{h});
    said([&] { (void)u.view<double**>(q); }, "does not declare it");
    said([&] { (void)u.view<float**>(h); }, "another type");
    said([&] { auto const v = f.use("other", kr::on_host{}, kr::reading{h}); }, "has not ended");
    said([&] { f.exchange({h}); }, "has not ended");
  }
  {
    auto const u = f.use("look", kr::on_host{}, kr::reading{h});
    said([&] { (void)u.view<double**>(h); }, "only reads it");
  }
  said(
      [&] {
        auto const u = f.use("fails", kr::on_host{}, kr::writing{h});
        throw keel::error("test", "it fails");
      },
      "it fails");
  CHECK_FALSE(f.is_valid(kr::on_host{}, h));
  said([&] { f.repartition(c); }, "array of the application");
  auto const late = f.add<double**, cells>("late", kr::extents{2}); // what was refused left nothing
  CHECK(f.name(late) == "late");
  f.require_invalid_data(kr::on_host{}, {late});
  f.notify_data_modified(kr::on_host{}, {late});
  f.exchange({late});
  CHECK(f.is_valid(kr::on_host{}, late));
}

} // namespace registry_cases
