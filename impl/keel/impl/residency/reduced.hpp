// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// One value out of many cells, by a kernel: of rows on a processor, of teams on a GPU, then of their results.

#include <keel/impl/residency/combining.hpp>
#include <keel/machine/operations.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/loops.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// What fields keep for reductions.
struct reduction_memory {
  template <class T, class Space, class V>
  [[nodiscard]] static T* of(V const& v, std::int64_t count) {
    return static_cast<T*>(v.base.template kept_memory<Space, std::pair<Space, V>>(std::size_t(count) * sizeof(T)));
  }
};

/// Combines a row in eight parts, each of every eighth cell, then these: a fixed order that does not wait for each
/// operation.
template <class Rows, class F, class Combining, class T>
struct row_reduction {
  Rows rows;
  F f;
  Combining how;
  T* parts;
  struct adder {
    row_reduction const& of;
    T* each;
    unsigned at = 0;
    KEEL_CALLS_USER
    template <class... I>
    KEEL_FUNCTION void operator()(I... i) {
      of.how.add(each[at++ % 8], of.f(i...));
    }
  };
  KEEL_FUNCTION void operator()(std::int64_t row) const {
    T each[8];
    for (T& one : each) one = Combining::neutral();
    rows.visit(row, adder{*this, each});
    for (int k = 1; k < 8; ++k) how.add(each[0], each[k]);
    parts[row] = each[0];
  }
};

/// The parts of all rows, one after another.
template <class Combining, class T>
struct part_reduction {
  Combining how;
  T const* parts;
  std::int64_t count;
  T* to;
  KEEL_FUNCTION void operator()(int) const {
    T all = Combining::neutral();
    for (std::int64_t k = 0; k < count; ++k) how.add(all, parts[k]);
    *to = all;
  }
};

/// A box whose cells are numbered, the fastest index first; a GPU has a thread for each of some neighbours.
template <int Rank, bool IsLeft>
struct numbered_cells {
  int begin[Rank];
  std::uint32_t extent[Rank];

  explicit numbered_cells(bounds const& cells) {
    for (int d = 0; d < Rank; ++d) {
      begin[d] = int(cells.begin[d]);
      extent[d] = std::uint32_t(std::max(cells.end[d] - cells.begin[d], std::int64_t(0)));
    }
  }
  [[nodiscard]] KEEL_FUNCTION std::int64_t count() const {
    std::int64_t n = 1;
    for (int d = 0; d < Rank; ++d) n *= extent[d];
    return n;
  }
  /// Calls `f` for every `stride`-th cell from `first` on, of those before `end`.
  KEEL_CALLS_USER
  template <class F>
  KEEL_FUNCTION void visit(std::int64_t first, std::int64_t end, int stride, F&& f) const {
    constexpr int inner = IsLeft ? 0 : Rank - 1, middle = Rank == 3 ? 1 : Rank - 1 - inner, outer = Rank - 1 - inner;
    if (first >= end) return;
    std::int64_t row = first / extent[inner];
    auto at = std::uint32_t(first % extent[inner]);
    for (std::int64_t n = first; n < end; n += stride) {
      int const i = begin[inner] + int(at);
      if constexpr (Rank == 1) f(i);
      else if constexpr (Rank == 2) IsLeft ? f(i, begin[1] + int(row)) : f(begin[0] + int(row), i);
      else {
        int const j = begin[middle] + int(std::uint32_t(row) % extent[middle]);
        int const k = begin[outer] + int(std::uint32_t(row) / extent[middle]);
        IsLeft ? f(i, j, k) : f(k, j, i);
      }
      at += std::uint32_t(stride);
      row += at / extent[inner], at %= extent[inner];
    }
  }
};

/// How Kokkos combines what the threads of a team have.
template <class Combining, class T>
struct reducer_of {
  using reducer = reducer_of;
  using value_type = T;
  Combining how;
  T* result;
  KEEL_FUNCTION void join(T& to, T const& one) const { how.add(to, one); }
  KEEL_FUNCTION void init(T& to) const { to = Combining::neutral(); }
  KEEL_FUNCTION T& reference() const { return *result; }
};
/// What each team of threads makes of its cells; in an order that depends on the box only.
template <class Space, class Cells, class F, class Combining, class T>
struct team_reduction {
  using policy = Kokkos::TeamPolicy<Space>;
  Cells cells;
  F f;
  Combining how;
  std::int64_t of_team; ///< so many cells
  T* parts;
  struct adder {
    team_reduction const& of;
    T& to;
    KEEL_CALLS_USER
    template <class... I>
    KEEL_FUNCTION void operator()(I... i) const {
      of.how.add(to, of.f(i...));
    }
  };
  KEEL_CALLS_USER
  KEEL_FUNCTION void operator()(typename policy::member_type const& team) const {
    std::int64_t const first = of_team * team.league_rank(), all = cells.count(), end = first + of_team;
    T mine = Combining::neutral();
    cells.visit(first + team.team_rank(), end < all ? end : all, team.team_size(), adder{*this, mine});
    team.team_reduce(reducer_of<Combining, T>{how, &mine});
    if (team.team_rank() == 0) parts[team.league_rank()] = mine;
  }
};
template <class T>
struct part_at {
  T const* parts;
  KEEL_FUNCTION T operator()(int k) const { return parts[k]; }
};

template <class Operation, class F>
using result_of_reduction = machine::reduced<Operation, std::remove_cvref_t<typename result_of_loop<F>::type>>;

template <class Operation, class F, class To>
constexpr void check_result() {
  static_assert(To::rank == 0 && std::is_same_v<typename To::non_const_value_type, typename To::value_type> &&
                    std::is_same_v<typename To::value_type, result_of_reduction<Operation, F>>,
                "keel::residency::reduce_owned: what the value goes to is no view of one such value that may change "
                "(both types are in the message). Take that of a variable without dimensions, which the routine "
                "writes.");
}
template <int Threads, class V, class Cells, class Combining, class F, class T>
void reduce_by_teams(V const& v, std::string const& label, Cells const& cells, std::int64_t teams, Combining const& how,
                     F const& f, T* to) {
  using kernel = team_reduction<typename V::space, Cells, F, Combining, T>;
  Kokkos::parallel_for(label,
                       keel::space::detail::light(typename kernel::policy(v.execution_space(), int(teams), Threads)),
                       kernel{cells, f, how, (cells.count() + teams - 1) / teams, to});
}
/// What `f` gives for these cells, combined box by box, by the queue of `v`: what that does next finds it at `to`.
template <class V, class Operation, class F, class T>
void reduce_to(V const& v, index_sets const& boxes, std::string const& label, Operation const& operation, F const& f,
               T* to) {
  constexpr int rank = rank_of_loop<F>;
  using how = combining<Operation, T>;
  how const combine{operation};
  using space = typename V::space;
  if constexpr (V::is_on_accelerator) {
    constexpr int most_teams = 1024, threads = 256;
    std::int64_t count = 0;
    T* const parts = reduction_memory::of<T, space>(v, most_teams * boxes.count());
    for (bounds const& box : boxes) {
      numbered_cells<rank, is_left<V>> const cells(box);
      std::int64_t const teams = std::clamp<std::int64_t>((cells.count() + threads - 1) / threads, 1, most_teams);
      reduce_by_teams<threads>(v, label, cells, teams, combine, f, parts + count);
      count += teams;
    }
    reduce_by_teams<threads>(v, label, numbered_cells<1, true>(bounds{{{0}}, {{count}}}), 1, combine, part_at<T>{parts},
                             to);
  } else {
    using cut = rows<rank, is_left<V>>;
    std::int64_t count = 0, done = 0;
    for (bounds const& box : boxes) count += cut(box).count();
    T* const parts = reduction_memory::of<T, space>(v, count);
    for (bounds const& box : boxes) {
      cut const cells(box);
      Kokkos::parallel_for(label, policy_of_rows(v, cells.count()),
                           row_reduction<cut, F, how, T>{cells, f, combine, parts + done});
      done += cells.count();
    }
    Kokkos::parallel_for(label, Kokkos::RangePolicy<space>(v.execution_space(), 0, 1),
                         part_reduction<how, T>{combine, parts, count, to});
  }
}
/// What `f` gives for these cells, combined, as a value: waits for it.
template <class V, class Operation, class F>
[[nodiscard]] auto reduced(V const& v, index_sets const& boxes, std::string_view name, Operation const& operation,
                           F const& f) {
  using T = result_of_reduction<Operation, F>;
  using memory = typename V::space::memory_space;
  T* const at = reduction_memory::of<T, memory>(v, 1);
  reduce_to(v, boxes, std::string(name), operation, f, at);
  T value = combining<Operation, T>::neutral();
  using host_view = Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::deep_copy(v.execution_space(), host_view(&value),
                    Kokkos::View<T, memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(at));
  v.execution_space().fence();
  return value;
}
template <class V, class Operation, class F>
[[nodiscard]] auto reduced(V const& v, bounds const& cells, std::string_view name, Operation const& operation,
                           F const& f) {
  index_sets one;
  one.add(cells, rank_of_loop<F>);
  return reduced(v, one, name, operation, f);
}

} // namespace keel::residency::detail
