// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// One slow, plain model of fields. Whatever a variable lies on, the elements of its array here are a list: of each its
/// number in the whole, which its copies on all ranks have, and the layer of ghosts that it is in. A value follows from
/// a number, so that a case says in one line what is there and what should be.

#include "cases.hpp"
#include "counted.hpp"
#include "meshes.hpp"

#include <keel/exchange.hpp>
#include <keel/schedule/walls.hpp>

namespace test {

using both = keel::list<host, keel::simulated>;
/// Of programs on ranks.
template <class Exchange = kr::on_host, class Layout = Kokkos::LayoutRight, class Tracking = kr::automatic,
          class Devices = both, class Ranks = km::mpi>
using app = application<Devices, Tracking, Layout, Ranks, Exchange>;
using app_right = app<>;
using app_left = app<kr::on_device, Kokkos::LayoutLeft>;
using app_checked = app<kr::on_host, Kokkos::LayoutRight, kr::checked>;
/// Without the kernels that poison.
using app_twin = app<kr::on_device, Kokkos::LayoutLeft, kr::automatic, keel::list<host, twin>>;
/// The host's device, and one with memory of its own.
inline constexpr std::string_view either_device[] = {host::name, "simulated"};

/// `T` with so many stars.
template <class T, int Rank>
struct stars_of : stars_of<T*, Rank - 1> {};
template <class T>
struct stars_of<T, 0> {
  using type = T;
};
template <class T, int Rank>
using stars = typename stars_of<T, Rank>::type;

/// Calls f(i) for each place in these bounds.
void for_all(kr::bounds const& b, int rank, auto const& f) {
  kr::indices i = b.begin;
  for (std::int64_t n = 0, all = b.size(rank); n < all; ++n) {
    std::int64_t left = n;
    for (int d = rank; d-- > 0; left /= b.end[d] - b.begin[d]) i[d] = b.begin[d] + left % (b.end[d] - b.begin[d]);
    f(i);
  }
}
inline bool is_in(kr::bounds const& b, int rank, kr::indices const& i) {
  bool is = true;
  for (int d = 0; d < rank; ++d) is = is && i[d] >= b.begin[d] && i[d] < b.end[d];
  return is;
}
/// Where an element lies in the whole grid; around it in periodic dimensions.
inline kr::indices in_grid(kr::share const& s, kr::indices at) {
  for (int d = 0; d < s.rank; ++d) {
    std::int64_t const n = s.global_extents[d], x = at[d] + s.global_begin[d] - s.owned().begin[d];
    at[d] = s.wraps[std::size_t(d)] ? (x + 4 * n) % n : x;
  }
  return at;
}

/// Instead of a layer: there is no neighbour; the variable has no ghosts.
inline constexpr int wall = 100, nowhere = -1;
struct elements {
  int rank = 1; ///< indices of each
  std::vector<kr::indices> places;
  std::vector<std::int64_t> numbers;
  std::vector<int> layers; ///< 0: owned

  /// Of an array that each rank has all of.
  explicit elements(std::int64_t count) {
    for (std::int64_t n = 0; n < count; ++n) add({{n}}, n, 0);
  }
  /// Of one on a grid, or with the ids of its elements on a mesh.
  explicit elements(kr::share const& s, std::span<std::int64_t const> ids = {}) : rank(s.rank) {
    for_all(s.everywhere(), rank, [&](kr::indices const& at) {
      int layer = is_in(s.owned(), rank, at) ? 0 : is_in(s.inside(), rank, at) ? 1 : wall;
      while (layer > 0 && layer < wall && !is_in(s.within(layer), rank, at)) ++layer;
      std::int64_t number = 0;
      kr::indices const whole = in_grid(s, at);
      for (int d = 0; d < rank; ++d) number = 64 * number + whole[d] + 10;
      if (!s.ends.empty()) number = at[0] < std::int64_t(ids.size()) ? ids[std::size_t(at[0])] : -7;
      add(at, number, layer);
    });
  }
  [[nodiscard]] std::size_t size() const { return numbers.size(); }

private:
  void add(kr::indices const& at, std::int64_t number, int layer) {
    places.push_back(at), numbers.push_back(number), layers.push_back(layer);
  }
};

/// Calls f(element, number of it among those there, column) for the numbers at a place of the grid, whose last
/// dimension has the columns.
template <class View>
void at_place(View const& x, int rank, kr::indices const& at, auto const& f) {
  constexpr int all = int(View::rank);
  std::int64_t e[4] = {1, 1, 1, 1};
  for (int d = rank; d < all; ++d) e[d] = std::int64_t(x.extent(unsigned(d)));
  for (std::int64_t j = 0; j < (all - rank > 1 ? e[all - 2] : 1); ++j)
    for (std::int64_t k = 0; k < (all > rank ? e[all - 1] : 1); ++k) {
      std::int64_t i[4] = {at[0], at[1], at[2], 0};
      if (all - rank > 1) i[all - 2] = j;
      if (all > rank) i[all - 1] = k;
      int const n = int(5 * j + k);
      if constexpr (all == 0) f(x(), n, int(k));
      else if constexpr (all == 1) f(x(i[0]), n, int(k));
      else if constexpr (all == 2) f(x(i[0], i[1]), n, int(k));
      else if constexpr (all == 3) f(x(i[0], i[1], i[2]), n, int(k));
      else f(x(i[0], i[1], i[2], i[3]), n, int(k));
    }
}
/// What a write, by its stamp, leaves of an element.
template <class T>
T value_of(std::int64_t number, int k, int stamp) {
  auto const value = number % 10'007 * 16 + k + 200'000 * stamp;
  if constexpr (sizeof(T) == 1) return T((number + stamp) % 50);
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) return T(value) << 20;
  else if constexpr (requires(T z) { z.imag(); }) return {float(value), float(2 * value)};
  else return T(value);
}
template <class T>
double as_number(T const& e) {
  if constexpr (requires { e.imag(); }) return double(e.real()) + 65536 * double(e.imag());
  else return double(e);
}

namespace detail {
/// What a routine has of a part of a variable.
template <class Part, class V, class View>
elements elements_of(V const& v, View const& x, std::span<std::int64_t const> ids) {
  constexpr auto& about = kr::detail::item<Part>::variable::about;
  if constexpr (about.lies_on_grid) {
    elements all(v.local(Part{}), ids);
    for (int& layer : all.layers)
      if (!about.has_ghosts && layer != 0) layer = nowhere;
    return all;
  } else {
    return elements(std::int64_t(x.extent(0)));
  }
}
/// Whether elements of that layer are among what is said of a part.
inline bool is_among(kr::region where, int layers, int layer) {
  if (layer == 0) return overlap(where, kr::region::owned);
  if (layer == nowhere) return false;
  if (layer == wall) return overlap(where, kr::region::walls);
  return overlap(where, kr::region::halo) && (layers == kr::all_layers || layer <= layers);
}
template <class Part>
struct fill : kr::routine<"fill", kr::on_host, kr::writes<Part>> {
  static constexpr kr::declaration said = fill::about.first[0];
  template <class V>
  static void run(V v, std::span<std::int64_t const> ids, int stamp, int rank) {
    auto const x = v(Part{});
    using number = typename std::remove_cvref_t<decltype(x)>::non_const_value_type;
    elements const all = elements_of<Part>(v, x, ids);
    for (std::size_t n = 0; n < all.size(); ++n)
      if (is_among(said.writes, int(said.written_layers), all.layers[n]))
        at_place(x, all.rank, all.places[n], [&](auto& e, int k, int) {
          bool const is_known = rank >= 0 || all.layers[n] == 0;
          e = is_known ? value_of<number>(all.numbers[n] + 100 * std::max(rank, 0), k, stamp) : number(-1);
        });
  }
};
template <class Part>
struct count_wrong : kr::routine<"count_wrong", kr::on_host, kr::reads<Part>> {
  static constexpr kr::declaration said = count_wrong::about.first[0];
  template <class V>
  static std::int64_t run(V v, std::span<std::int64_t const> ids, int stamp, int columns) {
    auto const x = v(Part{});
    using number = typename std::remove_cvref_t<decltype(x)>::non_const_value_type;
    elements const all = elements_of<Part>(v, x, ids);
    std::int64_t wrong = 0;
    for (std::size_t n = 0; n < all.size(); ++n)
      if (is_among(said.reads, int(said.read_layers), all.layers[n]))
        at_place(x, all.rank, all.places[n], [&](auto const& e, int k, int column) {
          auto const wanted = all.layers[n] == wall ? number(-1)
                              : column >= columns   ? number(0)
                                                    : value_of<number>(all.numbers[n], k, stamp);
          wrong += e == wanted ? 0 : 1;
        });
    return wrong;
  }
};
/// A number of an element, by its component, its number in the whole and its own.
struct entry {
  std::int64_t number;
  int component, k;
  double value;
  auto operator<=>(entry const&) const = default;
};
template <class Part>
struct listed : kr::routine<"listed", kr::on_host, kr::reads<Part>> {
  static constexpr kr::declaration said = listed::about.first[0];
  template <class V>
  static std::vector<entry> run(V v, std::span<std::int64_t const> ids, int component) {
    auto const x = v(Part{});
    elements const all = elements_of<Part>(v, x, ids);
    std::vector<entry> made;
    for (std::size_t n = 0; n < all.size(); ++n)
      if (all.layers[n] != wall && is_among(said.reads, int(said.read_layers), all.layers[n]))
        at_place(x, all.rank, all.places[n],
                 [&](auto const& e, int k, int) { made.push_back({all.numbers[n], component, k, as_number(e)}); });
    return made;
  }
};
template <class Part>
using touch = empty<"touch", kr::on_device, kr::updates<Part>>;
/// The ids of the elements that a part of a variable lies on; none on a grid.
template <class Part>
std::span<std::int64_t const> ids_of(auto& f) {
  constexpr auto on = kr::detail::item<Part>::variable::about.on.mesh;
  if constexpr (on == meshes::cells::name) return f.partition_of(meshes::cells{}).ids();
  else if constexpr (on == meshes::edges::name) return f.partition_of(meshes::edges{}).ids();
  else return {};
}
inline constexpr int every = -1; ///< component
template <class Part>
void for_components(auto& f, int which, auto const& run) {
  for (int c = 0; c < f.components(); ++c)
    if (which == every || which == c) run(kr::component{c}, ids_of<Part>(f));
}
} // namespace detail

/// Writes `Part`: owned elements with what their numbers say, others with -1.
template <class Part>
void fill(auto& f, int stamp = 1, int component = detail::every) {
  detail::for_components<Part>(f, component, [&](auto c, auto ids) { f.run(detail::fill<Part>{}, c, ids, stamp, -1); });
}
/// All of `X`, with what this rank adds to its owned elements and to the ghosts that it has.
template <class X>
void scatter(auto& f, int rank) {
  detail::for_components<X>(f, detail::every,
                            [&](auto c, auto ids) { f.run(detail::fill<kr::everywhere<X>>{}, c, ids, 1, rank); });
}
/// Reads `Part`, and counts what its last write and exchange did not leave so, with -1 beyond walls; of later columns,
/// what is not zero.
template <class Part>
std::int64_t wrong(auto& f, int stamp = 1, int component = detail::every, int columns = 100) {
  std::int64_t all = 0;
  detail::for_components<Part>(
      f, component, [&](auto c, auto ids) { all += f.run(detail::count_wrong<Part>{}, c, ids, stamp, columns); });
  return all;
}
/// With ghosts, but not what lies beyond walls.
template <class X>
std::int64_t wrong_inside(auto& f, int stamp = 1, int component = detail::every, int columns = 100) {
  return wrong<kr::inside<X>>(f, stamp, component, columns);
}
/// Leaves what is there valid only on the device; of a variable what is owned.
template <class Part>
void touch(auto& f, int component = detail::every) {
  detail::for_components<Part>(f, component, [&](auto c, auto) { f.run(detail::touch<Part>{}, c); });
}
/// What this rank has of `Part`. Blocks are not told apart.
template <class Part>
std::vector<detail::entry> listed_here(auto& f, int component = detail::every) {
  std::vector<detail::entry> all;
  detail::for_components<Part>(f, component, [&](auto c, auto ids) {
    kr::share const& s = f.local(c);
    bool const is_block = std::any_of(s.blocks.values, s.blocks.values + s.rank, [](auto n) { return n > 1; });
    auto const some = f.run(detail::listed<Part>{}, c, ids, is_block ? 0 : c.index);
    all.insert(all.end(), some.begin(), some.end());
  });
  return all;
}
/// Gives all ranks what the first one has.
template <class T, class Ranks>
void share(km::basic_environment<Ranks> const& env, std::vector<T>& values) {
  std::size_t count = values.size();
  km::broadcast(env, count, 0);
  values.resize(count);
  km::broadcast(env, std::span(values), 0);
}
/// What all ranks have of it, in order, on every rank.
template <class Part, class Ranks>
std::vector<detail::entry> listed(km::basic_environment<Ranks> const& env, auto& f) {
  auto all = km::gather(env, listed_here<Part>(f), 0);
  share(env, all);
  std::sort(all.begin(), all.end());
  return all;
}
/// The values of owned elements, in the order of the whole.
template <class X, class Ranks>
std::vector<double> whole(km::basic_environment<Ranks> const& env, auto& f) {
  std::vector<double> values;
  for (auto const& e : listed<kr::owned<X>>(env, f)) values.push_back(e.value);
  return values;
}

/// The sums of all numbers there are of each element.
template <class Part, class Ranks>
std::map<std::array<std::int64_t, 3>, double> sums(km::basic_environment<Ranks> const& env, auto& f) {
  std::map<std::array<std::int64_t, 3>, double> made;
  for (auto const& e : listed<Part>(env, f)) made[{e.number, e.component, e.k}] += e.value;
  return made;
}

/// How often kernels of this name began since the last call.
inline int kernels_called(std::string_view name) {
  static std::string_view counts;
  static int count;
  counts = name;
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
      [](char const* begun, std::uint32_t, std::uint64_t*) { count += counts == begun; });
  return std::exchange(count, 0);
}
inline void stop_counting() { Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr); }

/// Whether an exchange sends each ghost once that another rank owns, and nothing else, in one message to each such
/// rank: each owner writes its number into its elements, so that ghosts say whose they are.
template <class Part, class Ranks>
bool sends_least(km::basic_environment<Ranks> const& env, auto& f) {
  using X = typename kr::detail::item<Part>::variable;
  auto const number = [&] {
    f.run(call<kr::writes<X>>{}, [&](auto v) {
      auto const x = v(X{});
      for (std::size_t n = 0; n < x.span(); ++n) x.data()[n] = env.rank();
    });
    touch<X>(f);
  };
  number(), f.run(kr::exchange<Part>{}); // ways are measured
  number();
  f.reset_traffic();
  carried = 0;
  f.run(kr::exchange<Part>{});
  int const messages = carried;
  using inside = kr::part<Part, kr::region::inside>;
  std::vector<double> owners;
  for (auto const& e : listed_here<inside>(f))
    if (e.value != env.rank()) owners.push_back(e.value);
  std::int64_t sends = 0; // copies that others have of what this rank owns
  for (int r = 0; r < env.size(); ++r) {
    auto const all = km::sum(env, std::int64_t(std::count(owners.begin(), owners.end(), double(r))));
    if (r == env.rank()) sends = all;
  }
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  using element = typename kr::detail::element_of<typename X::data_type>::type;
  auto const sent = std::int64_t(f.traffic().bytes(kr::way::to_neighbours));
  bool const is_one_each = messages == 0 || messages == int(owners.size()); // nothing is counted by other transports
  return is_one_each && sent == std::int64_t(sizeof(element)) * sends;
}

/// Shares of a grid of which some have no cells, if there are others: those of the second rank, and after the third.
inline kr::cuts with_idle_ranks(int ranks, int nx, int ny) {
  if (ranks == 1) return {{0, nx}, {0, ny}};
  if (ranks == 2) return {{0, nx, nx}, {0, ny}};
  return {{0, nx - 4, nx - 4, nx}, {0, ny}};
}

} // namespace test
