// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Tridiagonal systems in few columns: a team of Kokkos for each column, so that a GPU has work for its threads.
///
/// Method: parallel cyclic reduction (Hockney and Jesshope, Parallel Computers 2, 1988). In each of log2(n) steps every
/// unknown is eliminated from the equations at the present distance, and the distance doubles. It does more arithmetic
/// than Thomas' elimination and rounds differently; diagonally dominant systems agree to a few roundings.

#include <keel/block/tridiagonal.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/blocked.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace keel::block {

/// Asks `solve_tridiagonal` for a team a column, with these coefficients.
template <class Lower, class Diagonal, class Upper>
struct cyclic_reduction {
  Lower lower;
  Diagonal diagonal;
  Upper upper;
};
template <class L, class D, class U>
cyclic_reduction(L, D, U) -> cyclic_reduction<L, D, U>;

namespace detail {

/// One column: its equations, and their next form, in the scratch memory of the team.
template <class Space, class Lower, class Diagonal, class Upper, class X>
struct cyclic_column {
  Lower lower;
  Diagonal diagonal;
  Upper upper;
  X x;
  columns<std::size_t(X::rank) - 1> all;

  using T = number_of<X>;
  /// The equation of one unknown.
  struct row {
    T lower, diagonal, upper, right;
  };
  using rows = Kokkos::View<row*, typename Space::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  using team_type = typename Kokkos::TeamPolicy<Space>::member_type;

  [[nodiscard]] static std::size_t scratch_bytes(std::size_t levels) { return 2 * rows::shmem_size(levels); }

  struct read {
    cyclic_column const& c;
    std::size_t column, levels;
    rows to;
    KOKKOS_FUNCTION void operator()(int level) const {
      auto const k = std::size_t(level);
      c.all.template visit<1, tail::masked>(column, *this, k);
    }
    template <class Block>
    KOKKOS_FUNCTION void operator()(Block const& b, std::size_t k) const {
      to(k) = {k == 0 ? T{0} : first(coefficient(b, c.lower, k)), first(coefficient(b, c.diagonal, k)),
               k + 1 == levels ? T{0} : first(coefficient(b, c.upper, k)), b.load(c.x, k)[0]};
    }
  };
  struct reduce {
    std::size_t levels, distance;
    rows from, to;
    KOKKOS_FUNCTION void operator()(int level) const {
      auto const k = std::size_t(level);
      row const r = from(k);
      row next{T{0}, r.diagonal, T{0}, r.right};
      if (k >= distance) {
        row const below = from(k - distance);
        T const weight = r.lower / below.diagonal;
        next.lower = -weight * below.lower;
        next.diagonal -= weight * below.upper;
        next.right -= weight * below.right;
      }
      if (k + distance < levels) {
        row const above = from(k + distance);
        T const weight = r.upper / above.diagonal;
        next.upper = -weight * above.upper;
        next.diagonal -= weight * above.lower;
        next.right -= weight * above.right;
      }
      to(k) = next;
    }
  };
  struct write {
    cyclic_column const& c;
    std::size_t column;
    rows from;
    KOKKOS_FUNCTION void operator()(int level) const {
      auto const k = std::size_t(level);
      c.all.template visit<1, tail::masked>(column, *this, k);
    }
    template <class Block>
    KOKKOS_FUNCTION void operator()(Block const& b, std::size_t k) const {
      b.store(c.x, pack<T, 1>{{from(k).right / from(k).diagonal}}, k);
    }
  };

  KOKKOS_FUNCTION void operator()(team_type const& team) const {
    auto const levels = std::size_t(x.extent(int(X::rank) - 1));
    auto const column = std::size_t(team.league_rank());
    rows from(team.team_scratch(0), levels), to(team.team_scratch(0), levels);
    auto const each_level = Kokkos::TeamThreadRange(team, int(levels));
    Kokkos::parallel_for(each_level, read{*this, column, levels, from});
    team.team_barrier();
    for (std::size_t distance = 1; distance < levels; distance *= 2) {
      Kokkos::parallel_for(each_level, reduce{levels, distance, from, to});
      team.team_barrier();
      rows const other = from;
      from = to;
      to = other;
    }
    Kokkos::parallel_for(each_level, write{*this, column, from});
  }

private:
  [[nodiscard]] KOKKOS_FUNCTION static T first(T value) { return value; }
  [[nodiscard]] KOKKOS_FUNCTION static T first(pack<T, 1> const& value) { return value[0]; }
};

} // namespace detail

/// Solves every column of `x` in place, a team each; asynchronously if the space runs so. A column has to fit the
/// scratch memory of a team: 64 bytes a level of doubles.
template <class Space, class L, class D, class U, class X>
  requires(Kokkos::is_execution_space<Space>::value && (Field<X, 2> || Field<X, 3>))
void solve_tridiagonal(std::string const& label, Space const& space, cyclic_reduction<L, D, U> const& m, X const& x) {
  detail::check_coefficient("lower", m.lower, x);
  detail::check_coefficient("diagonal", m.diagonal, x);
  detail::check_coefficient("upper", m.upper, x);
  auto const levels = std::size_t(x.extent(int(X::rank) - 1));
  auto const all = columns_of(x);
  std::size_t const count = all.template block_count<1>();
  if (levels == 0 || count == 0) return;
  using kernel = detail::cyclic_column<Space, L, D, U, X>;
  Kokkos::TeamPolicy<Space> policy(space, int(count), Kokkos::AUTO);
  policy.set_scratch_size(0, Kokkos::PerTeam(int(kernel::scratch_bytes(levels))));
  Kokkos::parallel_for(label, keel::space::detail::light(policy), kernel{m.lower, m.diagonal, m.upper, x, all});
}

} // namespace keel::block
