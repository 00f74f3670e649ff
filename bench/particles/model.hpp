// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Atoms with the potential of Lennard and Jones as keel sees them: variables, routines with what they read and write,
/// a step.

#include "box.hpp"
#include "lattice.hpp"

#include <keel/keel.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace particles {

namespace kr = keel::residency;
namespace km = keel::machine;

struct atoms : kr::mesh<"atoms"> {};
struct id : kr::variable<"id", std::int64_t*, kr::on_mesh<atoms>> {};
struct position : kr::variable<"position", double* [3], kr::on_mesh<atoms>> {};
struct velocity : kr::variable<"velocity", double* [3], kr::on_mesh<atoms>, kr::without_ghosts> {};
struct force : kr::variable<"force", double* [3], kr::on_mesh<atoms>> {};
struct destination : kr::variable<"destination", int*, kr::on_mesh<atoms>, kr::without_ghosts> {}; // a rank
// What follows does not travel with atoms. They are listed bin by bin, up to where the bin ends; and those which other
// ranks get as ghosts, rank by rank. Each atom has a row of local indices.
struct bin_end : kr::variable<"bin_end", int*, kr::off_grid, kr::without_checkpoint> {};
struct in_bins : kr::variable<"in_bins", int*, kr::off_grid, kr::without_checkpoint> {};
struct border : kr::variable<"border", int*, kr::off_grid, kr::without_checkpoint> {};
struct neighbours : kr::variable<"neighbours", int**, kr::off_grid, kr::without_checkpoint> {};
struct neighbour_count : kr::variable<"neighbour_count", int*, kr::off_grid, kr::without_checkpoint> {};

template <class App>
using fields =
    kr::fields<App, id, position, velocity, force, destination, bin_end, in_bins, border, neighbours, neighbour_count>;
inline constexpr int longest_row = 128; // 78 in the lattice

template <class V>
kr::element_range all_of(V const& v) {
  return {0, v.ghosts(atoms{}).end};
}

struct begin : kr::routine<"begin", kr::on_host, kr::writes<position, velocity>> {
  template <class V>
  static void run(V v, std::vector<atom> const& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t d = 0; d < 3; ++d) v(position{})(i, d) = all[i].at[d], v(velocity{})(i, d) = all[i].velocity[d];
  }
};
struct number : kr::routine<"number", kr::on_host, kr::writes<id>> {
  template <class V>
  static void run(V v, std::span<std::int64_t const> ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) v(id{})(i) = ids[i];
  }
};

/// The first half of a step by L. Verlet's method with velocities.
struct drift : kr::routine<"drift", kr::on_device, kr::reads<kr::owned<force>>, kr::updates<position, velocity>> {
  template <class V>
  static void run(V v) {
    auto const x = v(position{}), u = v(velocity{});
    auto const f = v(force{});
    kr::for_owned(
        v, atoms{}, KOKKOS_LAMBDA(int i) {
          for (int d = 0; d < 3; ++d) {
            u(i, d) += 0.5 * time_step / mass * f(i, d);
            x(i, d) += time_step * u(i, d);
          }
        });
  }
};
/// The other half.
struct kick : kr::routine<"kick", kr::on_device, kr::reads<kr::owned<force>>, kr::updates<velocity>> {
  template <class V>
  static void run(V v) {
    auto const u = v(velocity{});
    auto const f = v(force{});
    kr::for_owned(
        v, atoms{}, KOKKOS_LAMBDA(int i) {
          for (int d = 0; d < 3; ++d) u(i, d) += 0.5 * time_step / mass * f(i, d);
        });
  }
};

/// Brings atoms that left the box in again at the other side, if wanted, and says where each has to go.
struct leave : kr::routine<"leave", kr::on_device, kr::updates<position>, kr::writes<destination>> {
  template <class V>
  static void run(V v, box const& b, bool brings_in) {
    auto const x = v(position{});
    auto const to = v(destination{});
    kr::for_owned(
        v, atoms{}, KOKKOS_LAMBDA(int i) {
          double at[3];
          for (int d = 0; d < 3; ++d) {
            at[d] = b.inside(x(i, d));
            if (brings_in) x(i, d) = at[d];
          }
          to(i) = b.owner(at[0], at[1], at[2]);
        });
  }
};

/// Lists the atoms bin by bin, the owned ones or all.
template <class V>
void fill(V const& v, kr::element_range which, bins const& cut) {
  auto const x = v(position{});
  auto const end = v(bin_end{}), list = v(in_bins{});
  kr::element_range const each{0, cut.size()};
  kr::for_each_element(v, each, KOKKOS_LAMBDA(int bin) { end(bin) = 0; });
  kr::for_each_element(
      v, which, KOKKOS_LAMBDA(int i) { Kokkos::atomic_add(&end(cut.of(x(i, 0), x(i, 1), x(i, 2))), 1); });
  auto const begin = KOKKOS_LAMBDA(int bin, int& sum, bool is_last) {
    int const count = end(bin);
    if (is_last) end(bin) = sum;
    sum += count;
  };
  Kokkos::parallel_scan("begin_bins", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, each.end), begin);
  kr::for_each_element(
      v, which,
      KOKKOS_LAMBDA(int i) { list(Kokkos::atomic_fetch_add(&end(cut.of(x(i, 0), x(i, 1), x(i, 2))), 1)) = i; });
}
struct fill_bins : kr::routine<"fill_bins", kr::on_device, kr::reads<position>, kr::writes<bin_end, in_bins>> {
  template <class V>
  static void run(V v, bins const& cut) {
    fill(v, all_of(v), cut);
  }
};
struct sort : kr::routine<"sort", kr::on_device, kr::reads<kr::owned<position>>, kr::writes<bin_end, in_bins>> {
  template <class V>
  static void run(V v, bins const& cut) {
    fill(v, v.owned(atoms{}), cut);
  }
};

/// Lists the atoms that other ranks need, as far as there is room, and says how many each does.
struct choose : kr::routine<"choose", kr::on_device, kr::reads<kr::owned<position>>, kr::writes<border>> {
  template <class V>
  static std::vector<kr::ghosts_of> run(V v, box const& b, std::vector<int> const& near) {
    auto const x = v(position{});
    auto const list = v(border{});
    Kokkos::RangePolicy<typename V::space> const owned(v.execution_space(), 0, v.owned(atoms{}).end);
    std::vector<kr::ghosts_of> all;
    int first = 0, room = int(list.extent(0));
    for (int const rank : near) {
      auto const pick = KOKKOS_LAMBDA(int i, int& n, bool is_last) {
        if (!b.is_near(rank, {x(i, 0), x(i, 1), x(i, 2)})) return;
        if (is_last && first + n < room) list(first + n) = i;
        ++n;
      };
      int count = 0;
      Kokkos::parallel_scan("choose", owned, pick, count);
      all.push_back({rank, count}), first += count;
    }
    return all;
  }
};

/// Makes the rows; if pairs of atoms on two ranks are computed once, ghosts have some, too. Returns the longest length.
struct list_neighbours : kr::routine<"list_neighbours", kr::on_device, kr::reads<id, position, bin_end, in_bins>,
                                     kr::writes<neighbours, neighbour_count>> {
  template <class V>
  static int run(V v, box const& b, bins const& cut) {
    auto const number = v(id{});
    auto const x = v(position{});
    auto const end = v(bin_end{}), list = v(in_bins{});
    auto const row = v(neighbours{});
    auto const count = v(neighbour_count{});
    int const owned = int(v.owned(atoms{}).end);
    auto const find = KOKKOS_LAMBDA(int i) {
      int n = 0;
      double const at[3] = {x(i, 0), x(i, 1), x(i, 2)};
      std::int64_t const mine = number(i);
      auto const look = [&](int bin) {
        for (int k = bin == 0 ? 0 : end(bin - 1); k < end(bin); ++k) {
          int const j = list(k);
          if (j == i || (i >= owned && j >= owned)) continue;
          double squares = 0;
          for (int d = 0; d < 3; ++d) {
            double const apart = b.nearest(at[d] - x(j, d));
            squares += apart * apart;
          }
          if (squares > reach * reach) continue;
          // A pair on two ranks: the owner of the smaller id computes it if the sum of both is even, else the other.
          std::int64_t const other = number(j);
          bool const is_on_two = i >= owned || j >= owned, owns_smaller = (mine < other) == (i < owned);
          if (is_on_two && b.counts_pairs_once && owns_smaller != ((mine + other) % 2 == 0)) continue;
          if (n < longest_row) row(i, n) = j; // else the caller sees it
          ++n;
        }
      };
      if (i < owned || b.counts_pairs_once) cut.for_each_near(at, look);
      count(i) = n;
    };
    kr::for_each_element(v, all_of(v), find);
    int longest = 0;
    Kokkos::RangePolicy<typename V::space> const all(v.execution_space(), 0, all_of(v).end);
    auto const most = KOKKOS_LAMBDA(int i, int& n) { n = count(i) > n ? count(i) : n; };
    Kokkos::parallel_reduce("longest row", all, most, Kokkos::Max<int>(longest));
    return longest;
  }
};

/// Calls f(j, r, r^2) for the neighbours j of atom i within the cutoff, r being the vector from j to i.
template <class X, class Rows, class Counts, class F>
KEEL_FUNCTION void for_neighbours(box const& b, X const& x, Rows const& row, Counts const& count, int i, F const& f) {
  double const at[3] = {x(i, 0), x(i, 1), x(i, 2)};
  for (int n = 0; n < count(i); ++n) {
    int const j = row(i, n);
    double const r[3] = {b.nearest(at[0] - x(j, 0)), b.nearest(at[1] - x(j, 1)), b.nearest(at[2] - x(j, 2))};
    double const squares = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if (squares < cutoff * cutoff) f(j, r, squares);
  }
}

/// A multiple of 2^-32: sums of them are exact up to 2^20, so that the order of neighbours changes no bit.
KEEL_FUNCTION inline double rounded(double x) {
  constexpr double shift = 3 << 19;
  return (x + shift) - shift;
}

struct attract : kr::routine<"attract", kr::on_device, kr::reads<position, neighbours, neighbour_count>,
                             kr::writes<kr::everywhere<force>>> {
  template <class V>
  static void run(V v, box const& b) {
    auto const x = v(position{});
    auto const row = v(neighbours{});
    auto const count = v(neighbour_count{});
    auto const f = v(force{});
    kr::for_each_element(
        v, all_of(v), KOKKOS_LAMBDA(int i) {
          double sum[3] = {0, 0, 0};
          for_neighbours(b, x, row, count, i, [&](int, double const(&r)[3], double squares) {
            double const s = 1 / squares, s3 = s * s * s, push = 48 * s3 * (s3 - 0.5) * s;
            for (int d = 0; d < 3; ++d) sum[d] += rounded(push * r[d]);
          });
          for (int d = 0; d < 3; ++d) f(i, d) = sum[d];
        });
  }
};

/// Kinetic and potential energy; a pair has none at the cutoff.
struct measure
    : kr::routine<"measure", kr::on_device, kr::reads<kr::owned<velocity>, position, neighbours, neighbour_count>> {
  using value_type = std::array<double, 2>;
  template <class V>
  static value_type run(V v, box const& b) {
    auto const x = v(position{});
    auto const u = v(velocity{});
    auto const row = v(neighbours{});
    auto const count = v(neighbour_count{});
    int const owned = int(v.owned(atoms{}).end);
    double const kinetic = kr::sum_owned(
        v, atoms{}, KOKKOS_LAMBDA(int i) { return u(i, 0) * u(i, 0) + u(i, 1) * u(i, 1) + u(i, 2) * u(i, 2); });
    double const potential = kr::sum_owned(
        v, atoms{}, KOKKOS_LAMBDA(int i) {
          double const c3 = 1 / (cutoff * cutoff * cutoff * cutoff * cutoff * cutoff), at_cutoff = 4 * c3 * (c3 - 1);
          double sum = 0;
          for_neighbours(b, x, row, count, i, [&](int j, double const(&)[3], double squares) {
            double const s3 = 1 / (squares * squares * squares);
            sum += rounded((4 * s3 * (s3 - 1) - at_cutoff) * (j >= owned && b.counts_pairs_once ? 1 : 0.5));
          });
          return sum;
        });
    return {0.5 * mass * kinetic, potential};
  }
};
struct energies : kr::reduce<"energies", km::ordered_sum, measure> {};

/// A number that is equal for equal positions of all atoms, bit by bit, wherever they are.
struct digest : kr::routine<"digest", kr::on_host, kr::reads<kr::owned<id>, kr::owned<position>>> {
  template <class V>
  static std::uint64_t run(V v) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < v.owned(atoms{}).end; ++i) {
      auto mixed = std::uint64_t(v(id{})(i));
      for (int d = 0; d < 3; ++d) {
        mixed = (mixed ^ std::bit_cast<std::uint64_t>(v(position{})(i, d))) * 0x9e3779b97f4a7c15U;
        mixed ^= mixed >> 32;
      }
      sum += mixed;
    }
    return sum;
  }
};

struct counts_pairs_once {
  static bool holds(box const& b) { return b.counts_pairs_once; }
};
struct forces : kr::schedule<attract, kr::when<counts_pairs_once, kr::accumulate<force>>> {};
struct push : kr::schedule<forces, kick, kr::every<steps_between_rows, energies>> {};
struct step : kr::schedule<drift, kr::exchange<position>, push> {};

} // namespace particles
