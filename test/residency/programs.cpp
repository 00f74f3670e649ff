// SPDX-License-Identifier: MIT
/// @file
/// Random programs on fields, as somebody would write them who has never seen the inside: every cell that a routine
/// reads has to hold what was written last, a read of what nobody wrote is refused on every rank, and the oracle counts
/// the bytes. Some stop half-way, and others go on from a checkpoint.
#include <keel/residency/fields.hpp>

#include "in_folder.hpp"
#include "model.hpp"

#include <keel/impl/store/stored_file.hpp>

#include <support/oracle.hpp>

namespace kr = keel::residency;
namespace km = keel::machine;

namespace {

using keel::list, keel::simulated, test::host, test::twin;

/// An element that is no number, of six bytes.
struct mark {
  std::uint16_t stamp, place, sum;
  KEEL_FUNCTION friend bool operator!=(mark const& x, mark const& y) {
    return x.stamp != y.stamp || x.place != y.place || x.sum != y.sum;
  }
};

template <int Rank>
struct a : kr::variable<"a", test::stars<double, Rank>, kr::padded<4>> {};
template <int Rank>
struct b : kr::variable<"b", test::stars<float, Rank + 1>, kr::levels<2>, kr::padded<3>, kr::ghosts<1>> {};
template <int Rank>
struct c : kr::variable<"c", test::stars<mark, Rank>, kr::levels<3>, kr::at<kr::vertex>> {};
// On meshes: no dimension of the grid, one of elements.
using test::meshes::cells, test::meshes::edges;
template <>
struct a<0> : kr::variable<"a", double*, kr::padded<4>, kr::on_mesh<cells>> {};
template <>
struct b<0> : kr::variable<"b", float**, kr::levels<2>, kr::padded<3>, kr::on_mesh<edges>> {};
template <>
struct c<0> : kr::variable<"c", mark*, kr::levels<3>, kr::on_mesh<cells>> {};
/// The elements of a mesh: their ids, and the regions that they are in, by number.
struct on_mesh {
  std::vector<std::int64_t> ids;
  std::vector<std::uint8_t> regions;

  template <class M>
  void set(kr::partition<M> const& part) {
    ids.assign(part.ids().begin(), part.ids().end());
    regions.assign(ids.size(), 0);
    auto const mark_rim = [&](std::vector<std::int32_t> const& list) {
      for (std::int32_t const i : list) regions[std::size_t(i)] = 1;
    };
    for (auto const& p : part.lists().partners) mark_rim(p.rims.elements);
    mark_rim(part.lists().own_elements.elements);
    std::fill(regions.begin() + part.owned().end, regions.end(), std::uint8_t(2));
  }
};
constexpr int variables = 3;
constexpr int levels_of[variables] = {1, 2, 3};

/// What is known of the cells of a region: the number of the write that made them; below zero where there is none.
struct truth {
  static constexpr int most_components = 3;
  static constexpr std::int64_t several = std::int64_t(1) << 62; ///< writes made the elements of a region
  std::array<std::int64_t, kr::region_count> stamps[variables][3][most_components];
  int filled[variables][3][most_components]{}; ///< layers of the halo
  std::int64_t writes = 0;
  int components = 1;
  kr::region exist[variables]{}; ///< what one component has is asked for of all
  int widest[variables]{};       ///< layers of ghosts there are

  truth() {
    for (auto& v : stamps)
      for (auto& l : v)
        for (auto& one : l) one.fill(-1);
  }
  [[nodiscard]] bool can(int v, int l, int first, int last, kr::region needs, int layers = kr::all_layers) const {
    for (int k = first; k < last; ++k) {
      if (overlap(needs & exist[v], kr::region::halo) && filled[v][l][k] < std::min(layers, widest[v])) return false;
      for (std::size_t r = 0; r < kr::region_count; ++r) {
        kr::region const one = kr::single_regions[r];
        bool const is_needed = overlap(one, needs) && overlap(one, exist[v]);
        if (is_needed && stamps[v][l][k][r] < 0) return false;
      }
    }
    return true;
  }
  void write(int v, int l, int first, int last, kr::region changes, int layers = kr::all_layers) {
    ++writes;
    for (int k = first; k < last; ++k) {
      if (overlap(changes, kr::region::halo)) filled[v][l][k] = layers;
      for (std::size_t r = 0; r < kr::region_count; ++r) {
        if ((unsigned(changes) >> r & 1U) != 0) stamps[v][l][k][r] = writes;
        else if (r == 2 && overlap(changes, kr::region::owned)) stamps[v][l][k][r] = -1;
      }
    }
  }
  void copy(int v, int from, int to, int k) {
    stamps[v][to][k] = stamps[v][from][k], filled[v][to][k] = filled[v][from][k];
  }
  void cycle(int v, bool is_in_place = false) {
    int const oldest = levels_of[v] - 1;
    if (oldest == 0) return;
    for (int k = 0; k < components; ++k) {
      auto const kept = stamps[v][oldest][k];
      int const its_layers = filled[v][oldest][k];
      for (int l = oldest; l > 0; --l) copy(v, l - 1, l, k);
      if (is_in_place) stamps[v][0][k] = kept, filled[v][0][k] = its_layers;
      else stamps[v][0][k].fill(-1);
    }
  }
  void rewind(int v) {
    if (levels_of[v] == 1) return;
    for (int k = 0; k < components; ++k) {
      for (int l = 0; l + 1 < levels_of[v]; ++l) copy(v, l + 1, l, k);
      stamps[v][levels_of[v] - 1][k].fill(-1);
    }
  }
  /// Elements change their rank: whether the owned ones are anywhere. What was known of regions is known of elements.
  bool move(int v, int l, int k) {
    auto& s = stamps[v][l][k];
    if (!overlap(exist[v], kr::region::rim)) s[1] = s[0];
    s[0] = s[1] = s[0] < 0 || s[1] < 0 ? -1 : s[0] == s[1] ? s[0] : several;
    s[2] = -1, filled[v][l][k] = 0;
    return s[0] >= 0;
  }
  void exchange(int v, int l, int layers) {
    for (int k = 0; k < components; ++k) stamps[v][l][k][2] = stamps[v][l][k][1], filled[v][l][k] = layers;
  }
  /// Takes a level from a file of these; ghosts are filled that were. Blocks are alike.
  void restart(truth const& from, int v, int l) {
    int layers = kr::all_layers;
    for (int k = 0; k < components; ++k) {
      truth one = from;
      int const as = std::min(k, from.components - 1), had = from.filled[v][l][as];
      bool const has_all =
          !overlap(from.exist[v], kr::region::halo) || (from.stamps[v][l][as][2] >= 0 && had >= from.widest[v]);
      if (!one.move(v, l, as)) layers = 0;
      else if (!has_all) layers = std::min(layers, from.stamps[v][l][as][2] < 0 ? 0 : had);
      stamps[v][l][k] = one.stamps[v][l][as];
    }
    if (layers > 0) exchange(v, l, layers);
  }
};

/// What a program shares with its routines.
struct {
  truth now;
  oracle::program* bill = nullptr;                         ///< components are variables of their own there
  int first = 0, last = 1;                                 ///< components that the next routine runs for
  bool has_blocks = false;                                 ///< which are the components
  int at = 0;                                              ///< the block that a routine is called for
  std::array<int, truth::most_components> places{0, 1, 2}; ///< of components in the bill
  bool lags = false;
  int exchanged_in = 0; ///< the memory
  on_mesh cells, edges;
  std::atomic<long> wrong{0}, read{0};
} program;

/// Counts the calls of a run of a routine. Whether this is the last of them.
bool ends_run() {
  bool const ends = !program.has_blocks || ++program.at == program.now.components;
  if (ends) program.at = 0;
  return ends;
}
int in_bill(int v, int component) { return v * program.now.components + program.places[std::size_t(component)]; }

/// The value of a cell, by its place in the grid, which the ghosts of a neighbour share.
template <class T>
KEEL_FUNCTION T value_of(std::int64_t stamp, std::int64_t place) {
  if constexpr (std::is_same_v<T, mark>)
    return {std::uint16_t(stamp), std::uint16_t(place), std::uint16_t(stamp + place)};
  else return T(stamp * 1000 + place % 997);
}

/// An element by its point in the grid and its number there.
template <class Cells>
KEEL_FUNCTION decltype(auto) cell_at(Cells const& cells, kr::indices const& at, int rank, std::int64_t i) {
  if constexpr (Cells::rank == 1) return cells(at[0]);
  else if constexpr (Cells::rank == 2) return rank == 1 ? cells(at[0], i) : cells(at[0], at[1]);
  else if constexpr (Cells::rank == 3) return rank == 2 ? cells(at[0], at[1], i) : cells(at[0], at[1], at[2]);
  else return cells(at[0], at[1], at[2], i);
}

template <class X>
constexpr int number_of = X::about.name[0] - 'a';

/// Looks at each cell of a view that a routine reads, and writes each that it writes. It is no template of the routine,
/// because of five hundred routines the compiler would make as many kernels.
template <class Cells>
struct visit {
  using element = typename Cells::non_const_value_type;
  Cells cells;
  kr::share part;
  kr::bounds core, own, in, read;
  std::array<std::int64_t, kr::region_count> stamps;
  std::int64_t next, inner;
  std::int64_t const* ids; ///< null on the grid
  std::uint8_t const* regions;
  kr::region needs, changes;
  bool lags;
  std::atomic<long>*wrong, *seen;

  void operator()(long n) const {
    if (lags && n == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    int const rank = part.rank;
    kr::indices at;
    long left = n;
    for (int d = 0; d < rank; ++d) at[d] = left % part.extents[d], left /= part.extents[d];
    auto const within = [&](kr::bounds const& box) {
      bool is_in = true;
      for (int d = 0; d < rank; ++d) is_in = is_in && at[d] >= box.begin[d] && at[d] < box.end[d];
      return is_in;
    };
    int const r = ids != nullptr ? regions[n] : within(core) ? 0 : within(own) ? 1 : within(in) ? 2 : 3;
    std::int64_t place = ids != nullptr ? ids[n] : 0;
    for (int d = 0; d < rank && ids == nullptr; ++d) {
      std::int64_t const whole = part.global_extents[d], x = part.global_begin[d] + at[d] - own.begin[d];
      place = place * 31 + (r == 3 && !part.wraps[std::size_t(d)] ? x + 7 : (x % whole + whole) % whole);
    }
    for (std::int64_t i = 0; i < inner; ++i) {
      if ((unsigned(needs) >> r & 1U) != 0 && (r < 2 || within(read)) && stamps[std::size_t(r)] >= 0 &&
          stamps[std::size_t(r)] != truth::several) {
        ++*seen;
        if (cell_at(cells, at, rank, i) != value_of<element>(stamps[std::size_t(r)], place + i)) ++*wrong;
      }
      if constexpr (!std::is_const_v<typename Cells::value_type>)
        if ((unsigned(changes) >> r & 1U) != 0) cell_at(cells, at, rank, i) = value_of<element>(next, place + i);
    }
  }
};

/// A routine that looks at each cell that it reads, and writes each cell of what it writes.
template <template <class...> class How, class Part, class Place>
struct op : kr::routine<"op", Place, How<Part>> {
  using item = kr::detail::item<Part>;
  static constexpr kr::declaration said = op::about.first[0];
  static constexpr int v_number = number_of<typename item::variable>, level = item::level;
  static constexpr kr::region needs = said.reads, changes = said.writes;

  template <class V>
  static void run(V v) {
    auto& now = program.now;
    std::vector<oracle::access> list;
    if (program.has_blocks) look(v, 0, now.stamps[v_number][level][program.at], now.writes + 1);
    if (!ends_run()) return;
    for (int k = program.first; k < program.last; ++k) {
      if (!program.has_blocks) look(v, k, now.stamps[v_number][level][k], now.writes + 1);
      list.push_back({in_bill(v_number, k), level, unsigned(needs), unsigned(changes)});
    }
    if (changes != kr::region::none)
      now.write(v_number, level, program.first, program.last, changes, said.written_layers);
    program.bill->run(std::is_same_v<typename V::space::memory_space, Kokkos::HostSpace> ? 0 : 1, list);
  }
  template <class V>
  static void look(V const& v, int k, std::array<std::int64_t, kr::region_count> const& stamps, std::int64_t next) {
    auto const cells = v(Part{}, kr::component{k});
    using view = std::remove_cvref_t<decltype(cells)>;
    static_assert(std::is_const_v<typename view::value_type> == (changes == kr::region::none));
    kr::share const part = v.local(Part{}, kr::component{k});
    std::int64_t const inner = int(view::rank) > part.rank ? std::int64_t(cells.extent(unsigned(part.rank))) : 1;
    on_mesh const* const mesh = part.ends.empty() ? nullptr : v_number == 1 ? &program.edges : &program.cells;
    visit<view> const each{cells,
                           part,
                           part.core(),
                           part.owned(),
                           part.inside(),
                           part.within(said.read_layers),
                           stamps,
                           next,
                           inner,
                           mesh != nullptr ? mesh->ids.data() : nullptr,
                           mesh != nullptr ? mesh->regions.data() : nullptr,
                           needs,
                           changes,
                           program.lags,
                           &program.wrong,
                           &program.read};
    Kokkos::parallel_for(
        "op", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, part.everywhere().size(part.rank)), each);
  }
  [[nodiscard]] static bool can(truth const& t, int first, int last) {
    // A depth that a grid has no ghosts for is refused.
    if (item::variable::about.on.mesh.empty() && overlap(needs, kr::region::halo) &&
        said.read_layers != kr::all_layers && int(said.read_layers) > t.widest[v_number])
      return false;
    return t.can(v_number, level, first, last, needs, said.read_layers);
  }
};

// What an entry of a schedule does to what is known, if it can.
template <class E>
struct followed {
  static bool go(truth& t, std::int64_t) {
    if (!E::can(t, 0, t.components)) return false;
    if (E::changes != kr::region::none)
      t.write(E::v_number, E::level, 0, t.components, E::changes, E::said.written_layers);
    return true;
  }
};
template <class... Xs>
struct followed<kr::cycle<Xs...>> {
  static bool go(truth& t, std::int64_t) { return (t.cycle(number_of<Xs>), ..., true); }
};
template <class... Xs>
struct followed<kr::cycle_in_place<Xs...>> {
  static bool go(truth& t, std::int64_t) { return (t.cycle(number_of<Xs>, true), ..., true); }
};
template <class... Xs>
struct followed<kr::rewind<Xs...>> {
  static bool go(truth& t, std::int64_t) { return (t.rewind(number_of<Xs>), ..., true); }
};
template <class... Es>
struct followed<kr::once<Es...>> {
  static bool go(truth& t, std::int64_t step) { return step > 1 || (followed<Es>::go(t, step) && ...); }
};
// A step that is refused every third time.
struct refused {
  static inline std::int64_t step = 0;
  static bool holds() { return step % 3 == 0; }
};
template <class... Es>
struct followed<kr::when<refused, Es...>> {
  static bool go(truth& t, std::int64_t) { return !refused::holds() || (followed<Es>::go(t, 0) && ...); }
};
// Steps of three kinds, by turns.
struct turn {
  static int holds() { return int(refused::step % 3); }
};
template <class... Es>
struct followed<kr::choose<turn, Es...>> {
  static bool go(truth& t, std::int64_t step) {
    int left = turn::holds();
    return ((left-- != 0 || followed<Es>::go(t, step)) && ...);
  }
};
template <class X>
struct followed<kr::exchange<X>> {
  using item = kr::detail::item<X>;
  static constexpr int v = number_of<typename item::variable>;
  static bool go(truth& t, std::int64_t) {
    bool const can = t.can(v, item::level, 0, t.components, kr::region::rim);
    if (can) t.exchange(v, item::level, item::layers);
    return can;
  }
};
template <int N, class... Es>
struct followed<kr::every<N, Es...>> {
  static bool go(truth& t, std::int64_t step) { return step % N != 0 || (followed<Es>::go(t, step) && ...); }
};
template <class... Es>
bool follow(kr::schedule<Es...> const&, truth& t, std::int64_t step) {
  return (followed<Es>::go(t, step) && ...);
}
template <class... Es>
struct followed<kr::schedule<Es...>> {
  static bool go(truth& t, std::int64_t step) { return follow(kr::schedule<Es...>{}, t, step); }
};
// What the entries without a body do to what is known.
template <class X>
void note_exchange() {
  using item = kr::detail::item<X>;
  constexpr int v = number_of<typename item::variable>;
  program.now.exchange(v, item::level, item::layers);
  for (int k = 0; k < program.now.components; ++k)
    program.bill->exchange({{in_bill(v, k), item::level}}, program.exchanged_in);
}
template <class X, bool InPlace = false>
void note_cycle() {
  program.now.cycle(number_of<X>, InPlace);
  for (int k = 0; k < program.now.components; ++k)
    InPlace ? program.bill->cycle_in_place(in_bill(number_of<X>, k)) : program.bill->cycle(in_bill(number_of<X>, k));
}
template <class X>
void note_rewind() {
  program.now.rewind(number_of<X>);
  for (int k = 0; k < program.now.components; ++k) program.bill->rewind(in_bill(number_of<X>, k));
}
// The same while the step runs; what follows a schedule has gone by these entries itself.
struct told {
  static bool go(truth&, std::int64_t) { return true; }
};
template <auto Note>
struct tell : kr::routine<"tell", kr::on_host> {
  template <class V>
  static void run(V) {
    if (ends_run()) Note();
  }
};
template <auto Note>
struct followed<tell<Note>> : told {};
template <class X>
using tell_exchange = tell<&note_exchange<X>>;
template <class X, bool InPlace = false>
using tell_cycle = tell<&note_cycle<X, InPlace>>;
template <class X>
using tell_rewind = tell<&note_rewind<X>>;

template <int R>
using past_b = kr::past<b<R>, 1>;
template <int R>
using past_c = kr::past<c<R>, 1>;
// A model as they are, and one with boundary conditions; the entries of no body are told after them.
template <int R>
struct wave : kr::schedule<kr::cycle<b<R>>, tell_cycle<b<R>>, op<kr::reads, kr::inside<past_b<R>>, kr::on_device>,
                           op<kr::writes, b<R>, kr::on_device>, op<kr::updates, a<R>, kr::on_host>, kr::exchange<b<R>>,
                           tell_exchange<b<R>>, kr::every<3, op<kr::reads, kr::owned<b<R>>, kr::on_host>>> {};
// One whose first step fills a level, and that goes back at times.
template <int R>
struct retried
    : kr::schedule<kr::once<op<kr::writes, kr::everywhere<c<R>>, kr::on_host>>, kr::cycle<c<R>>, tell_cycle<c<R>>,
                   op<kr::writes, c<R>, kr::on_device>, kr::exchange<c<R>>, tell_exchange<c<R>>,
                   kr::when<refused, kr::rewind<c<R>>, tell_rewind<c<R>>>, op<kr::reads, kr::owned<c<R>>, kr::on_host>,
                   op<kr::updates, kr::inside<c<R>>, kr::on_device>> {};
template <int R>
struct closed
    : kr::schedule<kr::cycle<c<R>>, tell_cycle<c<R>>, op<kr::reads, past_c<R>, kr::on_device>,
                   op<kr::writes, c<R>, kr::on_device>, kr::exchange<c<R>>, tell_exchange<c<R>>,
                   op<kr::writes, kr::walls<c<R>>, kr::on_device>, op<kr::reads, kr::walls<c<R>>, kr::on_host>,
                   op<kr::updates, kr::owned<a<R>>, kr::on_device>> {};

// One that writes in three ways, and has all ranks agree on the number of the write.
template <int R>
struct last_write : op<kr::reads, kr::owned<b<R>>, kr::on_device> {
  template <class V>
  static double run(V v) {
    op<kr::reads, kr::owned<b<R>>, kr::on_device>::run(v);
    return double(program.now.writes);
  }
};
template <int R>
struct agreed : kr::reduce<"agreed", keel::machine::maximum, last_write<R>> {};
template <int R>
struct compare : kr::routine<"compare", kr::on_host, kr::reads<agreed<R>>> {
  template <class V>
  static void run(V v) {
    if (v(agreed<R>{}) != double(program.now.writes)) ++program.wrong;
  }
};
template <int R>
struct followed<agreed<R>> : followed<op<kr::reads, kr::owned<b<R>>, kr::on_device>> {};
template <int R>
struct followed<compare<R>> : told {};
template <int R>
struct chosen
    : kr::schedule<kr::cycle_in_place<b<R>>, tell_cycle<b<R>, true>, op<kr::reads, kr::owned<b<R>>, kr::on_host>,
                   kr::choose<turn, op<kr::writes, b<R>, kr::on_device>,
                              kr::schedule<op<kr::writes, kr::inside<b<R>>, kr::on_host>>,
                              kr::schedule<op<kr::writes, b<R>, kr::on_host>, kr::exchange<b<R>>, tell_exchange<b<R>>,
                                           op<kr::reads, kr::inside<b<R>>, kr::on_device>>>,
                   agreed<R>, compare<R>, op<kr::updates, kr::owned<b<R>>, kr::on_host>> {};

template <class App, int R>
class trial {
public:
  using fields = kr::fields<App, a<R>, b<R>, c<R>>;
  static constexpr bool is_tracked = App::tracking::tracks;

  trial(std::string_view device, std::uint64_t seed) : own_device_(device), seed_(seed) {}

  // Some stop half-way, and others go on from a file: on as many ranks and the device that they get, cut anew.
  void play(int calls) {
    km::basic_environment<km::mpi> const world;
    take_ranks(world.size());
    bool const stops = below(3) == 0 && kr::detail::has_hdf5();
    int const before = stops ? below(calls) : calls;
    kind_ = below(4), blocks_ = kind_ == 1 ? 3 : 1, count_ = 1 + below(2);
    if constexpr (R == 0) graph_ = some_graph(ranks_);
    else grids_ = {some_grid(world.size()), some_grid(world.size())};
    auto const grids = grids_;
    saves_ = !stops ? saves::nothing : below(2) == 0 && is_tracked ? saves::needed : saves::all;
    play_on_ranks(before);
    if (!stops) return;
    km::broadcast(world, saved_, 0);
    take_ranks(world.size());
    if (kind_ == 1) blocks_ = 1 + below(3);
    if constexpr (R == 0) cut_anew();
    else
      for (int const of : {0, 1}) {
        kr::grid const& g = grids[std::size_t(kind_ == 3 ? of ^ saved_.places[0] : of)];
        grids_[std::size_t(of)] = in_shares(g.extents(), g.width(0), {g.is_periodic(0), R > 1 && g.is_periodic(1)});
      }
    goes_on_ = true, saves_ = saves::nothing;
    play_on_ranks(calls - before);
    goes_on_ = false;
  }
  long refused = 0, misjudged = 0, dear = 0;
  std::uint64_t moved = 0, necessary = 0;

private:
  int below(int n) { return int(random_() % std::uint64_t(n)); }

  test::meshes::graph some_graph(int ranks) {
    if (below(4) == 0) return test::meshes::hexagons(8, 6, ranks);
    return test::meshes::random(below(40), 1 + below(ranks), unsigned(below(1000)));
  }
  kr::grid some_grid(int ranks) {
    int const parts = ranks * blocks_;
    kr::indices const cells{{(R == 1 ? 5 : 4) * parts + below(3), R == 2 ? 5 : 4, 3 + below(2)}};
    int const width = below(3);
    return in_shares(cells, width, {below(2) == 0, R > 1 && below(2) == 0});
  }
  kr::grid in_shares(kr::indices const& n, int width, std::array<bool, 2> wraps) {
    std::initializer_list<kr::extent> const extents[] = {{n[0]}, {n[0], n[1]}, {n[0], n[1], n[2]}};
    kr::periodic around = R == 1   ? kr::periodic{wraps[0]}
                          : R == 2 ? kr::periodic{wraps[0], wraps[1]}
                                   : kr::periodic{wraps[0], wraps[1], false};
    if (blocks_ > 1 || below(2) == 0) return {extents[R - 1], kr::ghost_width{width}, around, kr::blocks{blocks_}};
    // Shares of two cells or more, or none; there may be fewer of them than ranks.
    std::vector<std::vector<std::int64_t>> at;
    for (kr::extent const& e : extents[R - 1]) at.push_back({0, e.cells});
    for (int k = below(ranks_); k > 0; --k) at[0].push_back(below(5) == 0 ? n[0] : 2 * below(int(n[0] / 2)));
    std::sort(at[0].begin(), at[0].end());
    return {extents[R - 1], kr::cuts{at}, kr::ghost_width{width}, around};
  }
  void cut_anew() {
    for (int& owner : graph_.owners) owner = below(ranks_);
    graph_.has_own_ghosts = below(2) == 0;
  }
  // Whoever took no part before draws the same from here on.
  void take_ranks(int world) {
    random_.seed(seed_++);
    ranks_ = below(3) == 0 ? 1 + below(world) : world;
    device_ = below(4) == 0 ? std::string(host::name) : own_device_;
  }
  // Calls f(fields, whether their components are blocks) on the ranks of a program.
  void on_ranks(auto const& f) {
    test::run<km::mpi> run(device_, ranks_);
    if (!run.environment().is_member()) return;
    environment_ = &run.environment();
    kr::extra<b<R>> const layers{2};
    if constexpr (R == 0) {
      Kokkos::fence(); // what the program before left in a queue reads its meshes
      auto const m = cut(run.environment(), graph_);
      program.cells.set(m.c), program.edges.set(m.e);
      f(fields{run, m.c, m.e, layers, kr::components{count_}}, false);
    } else if (kind_ < 2) {
      f(fields{run, grids_[0], layers}, blocks_ > 1);
    } else if (kind_ == 2) {
      grids_[1] = grids_[0];
      f(fields{run, grids_[0], layers, kr::components{2}}, false);
    } else {
      f(fields{run, grids_[0], layers, kr::further_grids{{grids_[1]}}}, false);
    }
  }
  void play_on_ranks(int calls) {
    on_ranks([&](fields&& f, bool has_blocks) { play(f, calls, has_blocks); });
  }
  // Nothing is known of the fields; components are variables of their own for the oracle.
  void ready(fields& f, bool has_blocks, auto const& go) {
    int const components = f.components();
    program.now = {};
    program.now.components = components;
    program.has_blocks = has_blocks, program.at = 0, program.places = {0, 1, 2};
    program.first = 0, program.last = components;
    program.exchanged_in = kr::detail::exchanges_on_device<App> && device_ != host::name;
    oracle::program bill(lie(f));
    program.bill = &bill;
    go();
    Kokkos::fence();
  }
  void play(fields& f, int calls, bool has_blocks) {
    program.lags = below(2) == 0;
    paid_to_host_ = paid_to_device_ = 0;
    ready(f, has_blocks, [&] {
      if (goes_on_) restart(f);
      else saved_ = {};
      for (int n = 0; n < calls; ++n) call(f);
      if (saves_ != saves::nothing) save(f);
      Kokkos::fence();
      if constexpr (is_tracked && !App::tracking::checks &&
                    kr::detail::queue_spaces_of<typename App::devices>::size == 1) {
        if (saves_ == saves::needed) return; // how much of it keel decides
        oracle::bill const least = program.bill->make_bill();
        paid_to_host_ += least.host_bytes(), paid_to_device_ += least.device_bytes();
        dear += paid_to_host_ != f.traffic().bytes(kr::way::to_host) ||
                paid_to_device_ != f.traffic().bytes(kr::way::to_device);
        necessary += paid_to_host_ + paid_to_device_;
        moved += f.traffic().bytes(kr::way::to_host) + f.traffic().bytes(kr::way::to_device);
      }
    });
  }
  static void for_levels(auto const& f) {
    f(kr::past<a<R>, 0>{}), f(kr::past<b<R>, 0>{}), f(kr::past<b<R>, 1>{});
    f(kr::past<c<R>, 0>{}), f(kr::past<c<R>, 1>{}), f(kr::past<c<R>, 2>{});
  }
  // All that is valid, or what later steps need; what comes after it is not in the file.
  void save(fields& f) {
    truth& now = program.now;
    if (saves_ == saves::needed) f.step(kr::schedule<kr::checkpoint<"programs">>{});
    else {
      f.run(kr::checkpoint<"programs", kr::keep<a<R>>, kr::keep<b<R>>, kr::keep<past_b<R>>, kr::keep<c<R>>,
                           kr::keep<past_c<R>>, kr::keep<kr::past<c<R>, 2>>>{});
      // What one memory has is copied from there, behind the program.
      for_levels([&]<class X, int L>(kr::past<X, L>) {
        for (int k = 0; k < now.components; ++k) {
          int const v = in_bill(number_of<X>, k);
          unsigned regions = 0, memories = ~0U;
          for (unsigned const r : {0U, 1U, 3U})
            if (kr::region const one = kr::single_regions[r];
                overlap(one, now.exist[number_of<X>]) &&
                now.can(number_of<X>, L, k, k + 1, r == 3 ? one : kr::region::owned))
              regions |= 1U << r, memories &= program.bill->held(v, L, int(r));
          if (memories == 0) program.bill->run(0, {{v, L, regions, 0}});
        }
      });
    }
    saved_.now = now, saved_.places = program.places, saved_.steps = f.steps(), saved_.all = saves_ == saves::all;
    for (int n = below(6); n > 0; --n) call(f);
  }
  void restart(fields& f) {
    f.restart("programs");
    misjudged += f.steps() != saved_.steps;
    truth& now = program.now;
    now.writes = saved_.now.writes;
    for_levels([&]<class X, int L>(kr::past<X, L>) { now.restart(saved_.now, number_of<X>, L); });
    if constexpr (is_tracked) {
      truth const whole = now;
      if (!saved_.all) for_levels([&](auto part) { leave_out(f, part); });
      require_steps<wave<R>, retried<R>, chosen<R>, closed<R>>(whole);
    }
    for_levels([&]<class X, int L>(kr::past<X, L>) {
      for (int k = 0; k < now.components; ++k) {
        auto const& s = now.stamps[number_of<X>][L][k];
        int const v = in_bill(number_of<X>, k);
        for (int r : {0, 1, 3}) program.bill->place(v, L, r, s[std::size_t(r)] >= 0 ? 1 : 0);
        if (s[2] >= 0) program.bill->exchange({{v, L}}, program.exchanged_in);
      }
    });
  }
  // What keel says that a file has not.
  template <class X, int L>
  void leave_out(fields& f, kr::past<X, L>) {
    for (int k = 0; k < program.now.components; ++k) {
      auto& s = program.now.stamps[number_of<X>][L][k];
      auto const has = [&]<class... Tags>(keel::list<Tags...>, kr::region r) {
        return ((program.now.filled[number_of<X>][L][k] != 1
                     ? f.template is_valid<kr::past<X, L>, Tags>(r, kr::component{k})
                     : f.template is_valid<kr::depth<1, kr::past<X, L>>, Tags>(r, kr::component{k})) ||
                ...);
      };
      for (int r : {0, 1, 2, 3})
        if (!has(typename App::devices{}, kr::single_regions[r])) s[std::size_t(r)] = -1;
    }
  }
  // Steps of schedules that ran before can go on if they could with all that was valid.
  template <class... Ss>
  void require_steps(truth const& whole) {
    std::size_t n = 0;
    auto const require = [&]<class S>(S) {
      truth could = whole, can = program.now;
      bool goes_on = saved_.ran[n++];
      for (int k = 1; k <= 3 && goes_on; ++k) {
        refused::step = saved_.steps + k;
        goes_on = follow(S{}, could, refused::step);
        if (goes_on) misjudged += !follow(S{}, can, refused::step);
      }
    };
    (require(Ss{}), ...);
  }
  // How the variables lie, for the oracle.
  std::vector<oracle::variable> lie(fields& f) {
    std::vector<oracle::variable> all;
    auto const add = [&]<class X>(X) {
      kr::region& exist = program.now.exist[number_of<X>];
      int& widest = program.now.widest[number_of<X>];
      exist = kr::region::none, widest = 0;
      for (int k = 0; k < program.now.components; ++k) {
        kr::share const part = f.template local<X>(kr::component{k});
        exist = exist | part.regions;
        if (!part.ends.empty()) widest = int(part.ends.size()) - 1;
        for (int d = 0; d < R; ++d) widest = std::max(widest, int(part.width[d] + part.longer[d]));
        auto const bytes = f.template bytes<X>(kr::component{k});
        all.push_back({X::about.levels, {bytes[0], bytes[1], bytes[2], bytes[3]}});
      }
    };
    add(a<R>{}), add(b<R>{}), add(c<R>{});
    return all;
  }
  // Meshes are cut anew, or cells move. In which memory they are after it is asked of the fields; there they were
  // packed, too. The bill is paid, because regions have other sizes now.
  void move_elements(fields& f) {
    if constexpr (R == 0) {
      bool const is_cut = below(2) == 0;
      auto const& env = *environment_;
      if (is_cut) {
        cut_anew();
        auto const m = cut(env, graph_);
        f.repartition(m.c, m.e);
      } else {
        std::vector<int> ranks;
        int const salt = below(1000);
        auto const part = f.partition_of(cells{});
        for (std::int64_t const id : part.ids())
          ranks.push_back(int(std::uint64_t(id * 31 + salt) * 0x9e3779b97f4a7c15U >> 33) % env.size());
        f.migrate(cells{}, ranks);
      }
      program.cells.set(f.partition_of(cells{})), program.edges.set(f.partition_of(edges{}));
      struct held {
        int variable, level;
        unsigned memories[3];
      };
      std::vector<held> all;
      auto const look = [&]<class X, int L>(kr::past<X, L> part, bool moves) {
        for (int k = 0; k < program.now.components; ++k) {
          int const v = in_bill(number_of<X>, k);
          held& one = all.emplace_back(held{v, L, {}});
          for (int r = 0; r < 3; ++r) one.memories[r] = program.bill->held(v, L, r);
          if (!moves) continue;
          bool const is_here = program.now.move(number_of<X>, L, k);
          int const where = f.template is_valid<decltype(part)>(kr::region::owned, kr::component{k}) ? 0 : 1;
          if (is_here) program.bill->run(where, {{v, L, oracle::owned, 0}});
          one = {v, L, {is_here ? 1U << where : 0, is_here ? 1U << where : 0, 0}};
        }
      };
      look(kr::past<a<R>, 0>{}, true);
      look(kr::past<b<R>, 0>{}, is_cut), look(kr::past<b<R>, 1>{}, is_cut);
      look(kr::past<c<R>, 0>{}, true), look(kr::past<c<R>, 1>{}, true), look(kr::past<c<R>, 2>{}, true);
      oracle::bill const least = program.bill->make_bill();
      paid_to_host_ += least.host_bytes(), paid_to_device_ += least.device_bytes();
      *program.bill = oracle::program(lie(f));
      for (held const& h : all)
        for (int r = 0; r < 3; ++r) program.bill->place(h.variable, h.level, r, h.memories[r]);
    }
  }

  // Whether it ran; it has to be refused where it cannot, and nowhere else. What nobody looks at is not tried.
  template <class F>
  bool attempt(bool can, F&& f) {
    if (!can && !is_tracked) return false;
    bool ran = true;
    try {
      f();
    } catch (keel::error const& e) {
      ran = false;
      refused += !can;
      if (can) MESSAGE(std::string(e.what()));
    }
    misjudged += ran != can;
    return ran;
  }
  template <class Op>
  void run(fields& f) {
    if (below(4) == 0 && !program.has_blocks) { // a neighbour of the others
      int const k = below(program.now.components);
      program.first = k, program.last = k + 1;
      attempt(Op::can(program.now, k, k + 1), [&] { f.run(Op{}, kr::component{k}); });
      program.first = 0, program.last = program.now.components;
    } else {
      attempt(Op::can(program.now, 0, program.now.components), [&] { f.run(Op{}); });
    }
  }
  template <class Part>
  void run_some(fields& f) {
    static constexpr void (trial::* calls[])(fields&) = {
        &trial::run<op<kr::reads, Part, kr::on_host>>,
        &trial::run<op<kr::reads, Part, kr::on_device>>,
        &trial::run<op<kr::reads, kr::depth<1, Part>, kr::on_host>>,
        &trial::run<op<kr::updates, kr::depth<1, Part>, kr::on_device>>,
        &trial::run<op<kr::writes, kr::depth<1, Part>, kr::on_device>>,
        &trial::run<op<kr::reads, kr::owned<Part>, kr::on_host>>,
        &trial::run<op<kr::reads, kr::owned<Part>, kr::on_device>>,
        &trial::run<op<kr::reads, kr::walls<Part>, kr::on_device>>,
        &trial::run<op<kr::writes, Part, kr::on_host>>,
        &trial::run<op<kr::writes, Part, kr::on_device>>,
        &trial::run<op<kr::writes, kr::everywhere<Part>, kr::on_host>>,
        &trial::run<op<kr::writes, kr::everywhere<Part>, kr::on_device>>,
        &trial::run<op<kr::writes, kr::walls<Part>, kr::on_device>>,
        &trial::run<op<kr::updates, kr::part<Part, kr::region::ghosts>, kr::on_host>>,
        &trial::run<op<kr::updates, Part, kr::on_device>>,
        &trial::run<op<kr::updates, kr::part<Part, kr::core>, kr::on_host>>};
    (this->*calls[std::size_t(below(int(std::size(calls))))])(f);
  }
  template <class X>
  void exchange(fields& f) {
    using item = kr::detail::item<X>;
    constexpr int v = number_of<typename item::variable>;
    if (!attempt(program.now.can(v, item::level, 0, program.now.components, kr::region::rim),
                 [&] { f.run(kr::exchange<X>{}); }))
      return;
    note_exchange<X>();
  }
  // Sums are no marks of the last write, so the cells that they lie in are written again.
  void accumulate(fields& f) {
    constexpr kr::region needs = kr::region::rim | kr::region::halo;
    if (!attempt(program.now.can(0, 0, 0, program.now.components, needs), [&] { f.run(kr::accumulate<a<R>>{}); }))
      return;
    program.now.write(0, 0, 0, program.now.components, kr::region::rim);
    for (int k = 0; k < program.now.components; ++k)
      program.bill->run(program.exchanged_in, {{in_bill(0, k), 0, unsigned(needs), oracle::rim}});
    f.run(op<kr::writes, kr::rim<a<R>>, kr::on_host>{});
  }
  // What walls get is no mark of the last write either.
  void fill_walls(fields& f) {
    if constexpr (R > 0) {
      if (!attempt(program.now.can(0, 0, 0, program.now.components, kr::region::inside),
                   [&] { f.run(kr::outflow<a<R>>{}); }))
        return;
      program.now.write(0, 0, 0, program.now.components, kr::region::walls);
      for (int k = 0; k < program.now.components; ++k)
        program.bill->run(device_ != host::name ? 1 : 0,
                          {{in_bill(0, k), 0, unsigned(kr::region::inside), oracle::walls & oracle::everywhere}});
      f.run(op<kr::writes, kr::walls<a<R>>, kr::on_host>{});
    }
  }
  template <class X, bool InPlace = false>
  void cycle(fields& f) {
    f.run(std::conditional_t<InPlace, kr::cycle_in_place<X>, kr::cycle<X>>{});
    note_cycle<X, InPlace>();
  }
  template <class X>
  void rewind(fields& f) {
    f.run(kr::rewind<X>{});
    note_rewind<X>();
  }
  template <class X>
  void copy_from_past(fields& f) {
    f.template copy_from_past<X>();
    for (int k = 0; k < program.now.components; ++k) {
      program.now.copy(number_of<X>, 1, 0, k);
      program.bill->copy_from_past(in_bill(number_of<X>, k));
    }
  }
  // By the view that a routine on the host once kept, while copies of its data may be under way.
  void write_raw(fields& f) {
    if (!program.now.can(0, 0, 0, program.now.components, kr::region::owned)) return;
    kr::view_of<App, a<R>, host> kept;
    f.run(test::call<kr::updates<a<R>>>{}, [&](auto v) { kept = v(a<R>{}); });
    ++program.now.writes;
    program.now.write(0, 0, 0, program.now.components, kr::region::owned);
    for (int k = 0; k < program.now.components; ++k)
      program.bill->run(0, {{in_bill(0, k), 0, oracle::owned, oracle::owned}});
    f.run(op<kr::writes, a<R>, kr::on_host>{}); // the call wrote nothing, though it said so
    if (program.now.components == 1) overwrite_raw(f, kept);
  }
  void overwrite_raw(fields& f, kr::view_of<App, a<R>, host> const& kept) {
    f.run(op<kr::reads, kr::owned<a<R>>, kr::on_device>{}); // may be under way
    if (below(2) == 0) f.require_invalid_data(kept);
    else f.require_valid_data(kept);
    for (std::size_t i = 0; i < kept.span(); ++i) kept.data()[i] = -5; // the ghosts are stale anyway, or nobody's
    f.notify_data_modified(kept, kr::region::everywhere);
    program.now.write(0, 0, 0, 1, kr::region::everywhere);
    program.bill->run(0, {{in_bill(0, 0), 0, 0, oracle::everywhere}});
    f.run(op<kr::writes, kr::everywhere<a<R>>, kr::on_device>{});
  }
  template <class S>
  void steps(fields& f, std::size_t number) {
    for (int n = 0; n < 3; ++n) {
      truth after = program.now;
      refused::step = f.steps() + 1;
      if (!follow(S{}, after, f.steps() + 1)) return;
      saved_.ran[number] = true;
      attempt(true, [&] { f.step(S{}); });
    }
  }
  // Components get other numbers, and all is as it was.
  void regrid(fields& f) {
    if (R == 0 || program.has_blocks) return;
    int const last = program.now.components - 1, first = below(2) == 0 ? 0 : last;
    std::vector<kr::patch> patches{{grids_[std::size_t(first)], first}};
    if (last == 1) patches.push_back({grids_[std::size_t(1 - first)], 1 - first});
    f.regrid(patches);
    if (first == 0) return;
    std::swap(grids_[0], grids_[1]), std::swap(program.places[0], program.places[1]);
    for (auto& v : program.now.stamps)
      for (auto& l : v) std::swap(l[0], l[1]);
    for (auto& v : program.now.filled)
      for (auto& l : v) std::swap(l[0], l[1]);
  }
  void call(fields& f) {
    switch (below(30)) {
    case 29: return cycle<b<R>, true>(f);
    case 28: return cycle<c<R>, true>(f);
    case 27: return regrid(f);
    case 26: return move_elements(f);
    case 25: return fill_walls(f);
    case 20: return exchange<kr::depth<1, a<R>>>(f);
    case 21: return exchange<kr::depth<1, c<R>>>(f);
    case 16: return rewind<b<R>>(f);
    case 17: return rewind<c<R>>(f);
    case 18: return steps<retried<R>>(f, 1);
    case 19: return accumulate(f);
    case 22: return steps<chosen<R>>(f, 2);
    case 23: return f.resize(kr::extra<b<R>>{2}); // new arrays, as long as before
    case 24:
      if constexpr (R == 0) f.reserve(cells{}, f.size(cells{}) + below(3));
      return;
    case 0: return cycle<b<R>>(f);
    case 1: return cycle<c<R>>(f);
    case 2: return exchange<a<R>>(f);
    case 3: return exchange<b<R>>(f);
    case 4: return exchange<past_c<R>>(f);
    case 5: return copy_from_past<b<R>>(f);
    case 6: return copy_from_past<c<R>>(f);
    case 7: return steps<wave<R>>(f, 0);
    case 8: return steps<closed<R>>(f, 3);
    case 9: return write_raw(f);
    case 10:
    case 11: return run_some<a<R>>(f);
    case 12: return run_some<b<R>>(f);
    case 13: return run_some<past_b<R>>(f);
    case 14: return run_some<c<R>>(f);
    default: return run_some<past_c<R>>(f);
    }
  }

  std::string own_device_, device_; ///< of all programs, and where this one runs
  std::uint64_t seed_;
  std::mt19937_64 random_;
  int kind_ = 0, blocks_ = 1, count_ = 1, ranks_ = 1; ///< of a program
  bool goes_on_ = false;
  enum class saves : std::uint8_t { nothing, needed, all } saves_ = saves::nothing;
  /// What a program is known to have in its file.
  struct {
    truth now;
    std::array<int, truth::most_components> places{};
    std::int64_t steps = 0;
    bool ran[4]{}, all = false;
  } saved_;
  std::vector<kr::grid> grids_; ///< of the components
  std::uint64_t paid_to_host_ = 0, paid_to_device_ = 0;
  test::meshes::graph graph_;
  keel::machine::basic_environment<keel::machine::mpi>* environment_ = nullptr;
};

template <class Devices, class Tracking = kr::automatic, class Layout = Kokkos::LayoutRight,
          class Exchange = kr::on_host>
struct app : test::application<Devices, Tracking, Layout, keel::machine::mpi> {
  using exchange = Exchange;
};

template <class App, int R = 2>
void holds(std::string_view device) {
  test::in_folder const here(km::basic_environment<km::mpi>{});
  char const *const asked = std::getenv("KEEL_TEST_PROGRAMS"), *const seed = std::getenv("KEEL_TEST_SEED");
  int const programs = asked ? std::atoi(asked) : 30;
  program.wrong = program.read = 0;
  trial<App, R> t(device, seed ? std::strtoull(seed, nullptr, 10) : 20'261'122);
  for (int n = 0; n < programs; ++n) t.play(60);
  if (t.necessary != 0 && programs > 30)
    MESSAGE(programs << " programs, bytes moved / necessary " << double(t.moved) / double(t.necessary));
  CAPTURE(device);
  CHECK(program.wrong == 0);
  CHECK(program.read > 1'000);
  CHECK(t.misjudged == 0);
  CHECK(t.dear == 0);
  CHECK((t.refused > 0) == t.is_tracked);
}

} // namespace

TEST_CASE("residency: random programs find what was written last on a device that lags") {
  holds<app<list<host, twin>>>("twin");
  holds<app<list<host, twin>>>(host::name);
}
TEST_CASE("residency: random programs find what was written last on the simulated device, watched and not") {
  holds<app<list<host, simulated>>>("simulated");
  holds<app<list<host, simulated>, kr::checked>>("simulated");
}
TEST_CASE("residency: random programs find what was written last in one memory, tracked, off and checked") {
  holds<app<list<host>>>(host::name);
  holds<app<list<host>, kr::off>>(host::name);
  holds<app<list<host>, kr::checked>>(host::name);
}
TEST_CASE("residency: random programs find what was written last in one and three dimensions, either layout") {
  holds<app<list<host, twin>, kr::automatic, Kokkos::LayoutLeft, kr::on_device>, 1>("twin");
  holds<app<list<host, twin>, kr::automatic, Kokkos::LayoutLeft>, 3>("twin");
}
TEST_CASE("residency: random programs find what was written last on meshes") {
  holds<app<list<host, twin>, kr::automatic, Kokkos::LayoutLeft>, 0>("twin");
  holds<app<list<host, simulated>, kr::checked, Kokkos::LayoutRight, kr::on_device>, 0>("simulated");
}
