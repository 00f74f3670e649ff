// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Stencils by `for_owned`, and the same kernels by a policy of Kokkos' made by hand.

#include "model.hpp"
#include "report.hpp"

#include <cstdint>
#include <string>

namespace bench {

enum class way : std::uint8_t { loop, by_hand };

template <int Rank>
struct read_from;
template <>
struct read_from<2> : kr::variable<"from", double**> {};
template <>
struct read_from<3> : kr::variable<"from", double***> {};
template <int Rank>
struct written_to;
template <>
struct written_to<2> : kr::variable<"to", double**> {};
template <>
struct written_to<3> : kr::variable<"to", double***> {};

template <int Rank>
struct fill : kr::routine<"fill", kr::on_device, kr::writes<kr::everywhere<read_from<Rank>>>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v.execution_space(), v(read_from<Rank>{}), 1.5);
  }
};

template <class V, class F>
void launch(V const& v, way how, F const& f) {
  constexpr int rank = std::is_invocable_v<F, int, int, int> ? 3 : 2;
  if (how == way::loop) return kr::for_owned(v, f);
  using policy =
      Kokkos::MDRangePolicy<typename V::space, Kokkos::Rank<rank, Kokkos::Iterate::Right, Kokkos::Iterate::Right>>;
  typename policy::point_type begin, end;
  for (int d = 0; d < rank; ++d) begin[d] = v.owned().begin[d], end[d] = v.owned().end[d];
  constexpr auto light = Kokkos::Experimental::WorkItemProperty::HintLightWeight; // as keel's loops
  Kokkos::parallel_for("by hand", Kokkos::Experimental::require(policy(v.execution_space(), begin, end), light), f);
}

/// The mean of a cell and its neighbours.
template <int Rank>
struct stencil : kr::routine<"stencil", kr::on_device, kr::reads<read_from<Rank>>, kr::writes<written_to<Rank>>> {
  template <class V>
  static void run(V v, way how) {
    auto const a = v(read_from<Rank>{});
    auto const to = v(written_to<Rank>{});
    if constexpr (Rank == 2)
      launch(
          v, how, KOKKOS_LAMBDA(int i, int j) {
            to(i, j) = 0.2 * (a(i, j) + a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1));
          });
    else
      launch(
          v, how, KOKKOS_LAMBDA(int i, int j, int k) {
            to(i, j, k) = (a(i, j, k) + a(i - 1, j, k) + a(i + 1, j, k) + a(i, j - 1, k) + a(i, j + 1, k) +
                           a(i, j, k - 1) + a(i, j, k + 1)) /
                          7;
          });
  }
};

template <int Rank, class Tag>
void kernel_row(std::string const& what, kr::grid const& cells) {
  run where{Tag::name};
  kr::fields<application<keel::list<Tag>>, read_from<Rank>, written_to<Rank>> f{where, cells};
  f.run(fill<Rank>{});
  auto const by = [&](way how) {
    return nanoseconds(
        clock_of::wall,
        [&](long n) {
          for (long i = 0; i < n; ++i) f.run(stencil<Rank>{}, how);
          Kokkos::fence();
        },
        10);
  };
  double const keel = by(way::loop), hand = by(way::by_hand);
  print(what + " on " + std::string(Tag::name) + ", for_owned", text(keel / 1e3, 1) + " us",
        "MDRangePolicy " + text(hand / 1e3, 1) + " us", "1.05", keel <= 1.05 * hand);
}

template <class Tag>
void kernels() {
  kernel_row<2, Tag>("five points, 256 x 256", kr::grid{{256, 256}, kr::ghost_width{1}});
  kernel_row<2, Tag>("five points, 2048 x 2048", kr::grid{{2048, 2048}, kr::ghost_width{1}});
  kernel_row<3, Tag>("seven points, 32 x 32 x 32", kr::grid{{32, 32, 32}, kr::ghost_width{1}});
  kernel_row<3, Tag>("seven points, 200 x 200 x 200", kr::grid{{200, 200, 200}, kr::ghost_width{1}});
}

} // namespace bench
