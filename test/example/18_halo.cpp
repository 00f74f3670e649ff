// SPDX-License-Identifier: MIT
// The halo of a model such as OMEGA. It starts MPI and Kokkos itself, owns its arrays, and learns at run time which
// fields there are; one call exchanges them all, on cells and on edges, in one message to each neighbour.
#include <keel/keel.hpp>
#include <cstdint>
#include <functional>
#include <iostream>
#include <span>
#include <vector>

namespace km = keel::machine;
namespace kr = keel::residency;

constexpr int owned_count = 12, levels = 20, tracers = 3;
struct cells : kr::mesh<"cells", kr::with_none> {}; // arrays have one element more, for no neighbour
struct edges : kr::mesh<"edges", kr::with_none> {};
struct app : keel::defaults {};
using array_2d = Kokkos::View<double**, Kokkos::HostSpace>;
using array_3d = Kokkos::View<double***, Kokkos::HostSpace>; // tracer, cell, level

/// This rank's piece of a ring, with layers of ghosts at both ends. Ids begin at 1.
template <kr::Mesh M>
kr::partition<M> cut(km::environment const& env, int layers) {
  std::int64_t const all = owned_count * env.size(), first = owned_count * env.rank();
  std::vector<std::int64_t> owned;
  std::vector<std::vector<std::int64_t>> ghosts;
  for (int n = 0; n < owned_count; ++n) owned.push_back(first + n + 1);
  for (int n = 0; n < layers; ++n)
    ghosts.push_back({(first - 1 - n + all) % all + 1, (first + owned_count + n) % all + 1});
  return {env, owned, ghosts};
}

/// A field of the model: what keel is shown of it, whose elements it has, and one of its numbers.
struct field {
  kr::any_array shown;
  std::span<std::int64_t const> ids;
  std::int64_t owned;
  std::function<double&(std::int64_t, int)> at;
};
template <kr::Mesh M>
field plain(kr::partition<M> const& on) {
  array_2d const a("a", std::size_t(on.size() + 1), levels);
  return {kr::array_on<M>(a), on.ids(), on.owned().end, [a](std::int64_t i, int k) -> double& { return a(i, k); }};
}
field traced(kr::partition<cells> const& on) {
  array_3d const a("tracers", tracers, std::size_t(on.size() + 1), levels);
  return {kr::array_on<cells>(a, kr::index{1}), on.ids(), on.owned().end,
          [a](std::int64_t i, int k) -> double& { return a(tracers - 1, i, k); }};
}

int main(int argc, char** argv) try {
  km::session<km::mpi> const started{argc, argv};
  Kokkos::ScopeGuard const kokkos{argc, argv};
  km::environment const world;
  auto const comm = world.comm(); // the model's communicator

  km::environment const env{km::borrow, comm};
  auto const c = cut<cells>(env, 3);
  auto const e = cut<edges>(env, 4);
  kr::exchanger const halo{env, c, e};

  for (int const count : {1, 8, 10}) {
    std::vector<field> fields;
    std::vector<kr::any_array> list;
    for (int n = 0; n < count; ++n) {
      fields.push_back(n % 3 == 0 ? plain(c) : n % 3 == 1 ? plain(e) : traced(c));
      list.push_back(fields.back().shown);
      auto const& f = fields.back();
      for (std::int64_t i = 0; i < f.owned; ++i) f.at(i, 7) = double(1000 * n + f.ids[std::size_t(i)]);
    }
    halo.exchange(list);
    std::int64_t ghosts = 0, right = 0;
    for (int n = 0; n < count; ++n)
      for (auto i = fields[n].owned; i < std::ssize(fields[n].ids); ++i, ++ghosts)
        right += fields[n].at(i, 7) == double(1000 * n + fields[n].ids[std::size_t(i)]);
    right = km::sum(env, right);
    if (env.is_master())
      std::cout << count << (count == 1 ? " field: " : " fields by one call: ") << right << " of "
                << ghosts * env.size() << " ghosts are as their owners have them\n";
  }

  array_2d const t("t", std::size_t(c.size() + 1), levels);
  kr::registry<app> f{km::environment{km::borrow, comm}, c}; // knobs come from environment variables
  auto const named = f.adopt<cells>("t", t);
  Kokkos::deep_copy(t, 1.);
  f.notify_data_modified(kr::on_host{}, {named.only(kr::region::owned)});
  f.exchange({named});
  f.require_valid_data(kr::on_host{}, {named.only(kr::region::halo)});
  if (env.is_master()) std::cout << "the ghosts of " << f.name(named) << " are valid\n";
} catch (std::exception const& e) {
  return keel::report(e);
}
