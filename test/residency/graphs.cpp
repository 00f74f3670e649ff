// SPDX-License-Identifier: MIT
// Graphs: what is launched again gives the bits of what runs, `run` is not called then, and what cannot be recorded
// runs as it is; on any number of ranks.
#include <keel/schedule/graph.hpp>

#include "model.hpp"

#include "cases.hpp"

namespace graph_cases {

using namespace test;

template <class Device>
using app = application<keel::list<host, Device>, kr::automatic, Kokkos::LayoutRight, km::mpi, kr::on_device>;

struct x : kr::variable<"x", double**, kr::levels<2>> {};
struct y : kr::variable<"y", double**, kr::levels<3>> {};
struct z : kr::scratch<"z", double**> {};
struct wide : kr::scratch<"wide", double** [40]> {};
struct dt : kr::argument<"dt", double> {};
struct extremes : kr::variable<"extremes", double[2], kr::off_grid> {
}; // of x on all ranks: the largest, and that of -x
struct largest : kr::variable<"largest", double> {}; // of this rank

int calls = 0; // of the routines below

struct begin : kr::routine<"begin", kr::on_device, kr::writes<x, kr::past<x, 1>, y, kr::past<y, 1>, kr::past<y, 2>>> {
  template <class V>
  static void run(V v) {
    auto const now = v(x{}), old = v(kr::past<x, 1>{});
    auto const y0 = v(y{}), y1 = v(kr::past<y, 1>{}), y2 = v(kr::past<y, 2>{});
    auto const at = v.global_begin();
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          now(i, j) = old(i, j) = 1.0 / double(1 + at[0] + i + 13 * (at[1] + j));
          y0(i, j) = y1(i, j) = y2(i, j) = double(at[0] + i - at[1] - j);
        });
  }
};
struct smooth : kr::routine<"smooth", kr::on_device, kr::reads<kr::past<x, 1>, dt>, kr::writes<x, z>> {
  template <class V>
  static void run(V v, int weight) {
    ++calls;
    auto const now = v(x{}), kept = v(z{});
    auto const old = v(kr::past<x, 1>{});
    auto const step = v(dt{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          kept(i, j) = old(i - 1, j) - weight * old(i, j - 1);
          now(i, j) = old(i, j) + step() * (old(i + 1, j) - old(i, j + 1) + kept(i, j));
        });
  }
};
struct mix : kr::routine<"mix", kr::on_device, kr::reads<kr::owned<x>, kr::owned<z>, kr::owned<kr::past<y, 2>>>,
                         kr::updates<y>> {
  template <class V>
  static void run(V v) {
    ++calls;
    auto const to = v(y{});
    auto const from = v(x{}), kept = v(z{}), old = v(kr::past<y, 2>{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { to(i, j) = 0.5 * (from(i, j) + old(i, j)) + 0.1 * kept(i, j); });
  }
};
struct keep : kr::routine<"keep", kr::on_device, kr::reads<kr::owned<kr::past<y, 1>>>, kr::writes<y>> {
  template <class V>
  static void run(V v) {
    ++calls;
    auto const now = v(y{});
    auto const old = v(kr::past<y, 1>{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { now(i, j) = old(i, j) * 0.75; });
  }
};
/// Reads ghosts that an exchange before it fills while others run.
struct spread : kr::routine<"spread", kr::on_device, kr::reads<x>, kr::updates<y>> {
  template <class V>
  static void run(V v) {
    ++calls;
    auto const to = v(y{});
    auto const from = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { to(i, j) += from(i + 1, j - 1); });
  }
};
/// Has more scratch than the others.
struct widen : kr::routine<"widen", kr::on_device, kr::reads<kr::owned<x>>, kr::writes<wide>> {
  template <class V>
  static void run(V v) {
    auto const to = v(wide{});
    auto const from = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { to(i, j, 0) = from(i, j); });
  }
};
/// Values that stay on the device: reduced, combined over the ranks, read by a kernel.
struct measure : kr::routine<"measure", kr::on_device, kr::reads<kr::owned<x>>, kr::writes<largest>> {
  template <class V>
  static void run(V v) {
    ++calls;
    auto const a = v(x{});
    kr::reduce_owned(v, km::maximum{}, KOKKOS_LAMBDA(int i, int j) { return a(i, j); }, v(largest{}));
  }
};
struct note : kr::routine<"note", kr::on_device, kr::reads<largest>, kr::writes<extremes>> {
  template <class V>
  static void run(V v) {
    ++calls;
    auto const from = v(largest{});
    auto const to = v(extremes{});
    Kokkos::parallel_for(
        "note", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1), KOKKOS_LAMBDA(int) {
          to(0) = from();
          to(1) = -from();
        });
  }
};
struct scale : kr::routine<"scale", kr::on_device, kr::reads<extremes>, kr::updates<y>> {
  template <class V>
  static void run(V v) {
    ++calls;
    auto const to = v(y{});
    auto const by = v(extremes{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { to(i, j) *= 1 / (1 + by(0) * by(0)) + by(1) / 1000; });
  }
};
/// Writes what one before it reads.
struct shrink : kr::routine<"shrink", kr::on_device, kr::updates<x>> {
  template <class V>
  static void run(V v) {
    ++calls;
    auto const to = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { to(i, j) *= 0.5; });
  }
};
/// The host writes what a graph reads.
struct disturb : kr::routine<"disturb", kr::on_host, kr::updates<x, kr::past<y, 2>>> {
  template <class V>
  static void run(V v) {
    auto const now = v(x{}), last = v(kr::past<y, 2>{});
    for (auto i = v.owned().begin[0]; i < v.owned().end[0]; ++i)
      now(i, v.owned().begin[1]) *= 0.5, last(i, v.owned().begin[1]) -= 1;
  }
};

struct start : kr::schedule<begin, kr::exchange<x, kr::past<x, 1>>> {};
struct whole : kr::graph<kr::cycle<x, y>, smooth, kr::exchange<x>, keep, mix, spread> {};
struct part : kr::schedule<disturb, kr::exchange<x>, kr::graph<kr::cycle<x>, smooth, mix, kr::exchange<x>>> {};
struct twice
    : kr::schedule<kr::graph<kr::repeat<2, kr::cycle_in_place<y>, keep, kr::cycle<x>, smooth, mix, kr::exchange<x>>>> {
};
/// What uses the ghosts of an exchange, which travels while `keep` runs, sends itself.
struct grouped
    : kr::schedule<kr::graph<kr::cycle<x, y>, smooth, kr::exchange<x>, keep, kr::repeat<2, spread, kr::exchange<x>>>> {
};
struct branched : kr::schedule<kr::parallel_graph<kr::cycle<x, y>, smooth, keep, measure, shrink, kr::exchange<x>, note,
                                                  spread, mix, kr::all_reduce<km::maximum, extremes>, scale, widen>> {};
struct scaled : kr::schedule<kr::graph<kr::cycle<x>, smooth, kr::exchange<x>, measure, note,
                                       kr::all_reduce<km::maximum, extremes>, spread, scale, kr::exchange<x>>> {};
struct back : kr::schedule<kr::graph<kr::rewind<y>, kr::cycle_in_place<y>, kr::exchange<x>, keep>> {};

/// All elements that this rank owns, of all levels.
template <class F>
std::vector<double> state(F& f) {
  std::vector<double> all;
  auto const add = [&](auto v) {
    auto const own = v.owned();
    auto const each = [&](auto const& view) {
      for (auto i = own.begin[0]; i < own.end[0]; ++i)
        for (auto j = own.begin[1]; j < own.end[1]; ++j) all.push_back(view(i, j));
    };
    each(v(x{})), each(v(kr::past<x, 1>{}));
    each(v(y{})), each(v(kr::past<y, 1>{})), each(v(kr::past<y, 2>{}));
  };
  f.run(call<kr::reads<kr::owned<x>, kr::owned<kr::past<x, 1>>, kr::owned<y>, kr::owned<kr::past<y, 1>>,
                       kr::owned<kr::past<y, 2>>>>{},
        add);
  return all;
}

template <class Device>
struct program {
  explicit program(std::optional<bool> graphs, char const* through = "measured")
      : run{Device::name, {.exchange_through = through, .graphs = graphs}} {
    f.set(dt{}, 0.25);
    f.step(start{});
  }
  void act(int what, int number) {
    int const weight = number % 2;
    switch (what) {
    case 0: return f.step(part{}, weight);
    case 1: return f.step(twice{}, weight);
    case 2: return f.step(back{});
    case 3: return f.set(dt{}, 0.125 * number);
    case 4: return f.run(disturb{}), f.run(kr::exchange<x>{});
    case 5: return f.template copy_from_past<y>();
    case 8: return f.step(kr::schedule<kr::graph<widen>>{});
    case 9: return f.step(grouped{}, weight);
    case 10: return f.step(scaled{}, weight);
    case 11: return f.step(branched{}, weight);
    case 6: return f.regrid({kr::patch{whole_grid, 0}});
    default: return f.step(whole{}, weight);
    }
  }

  kr::grid whole_grid{{12, 15}, kr::ghost_width{1, 1}, kr::periodic{true, true}};
  test::run<km::mpi> run;
  kr::fields<app<Device>, x, y, z, wide, extremes, largest> f{run, whole_grid};
};

/// Beside those that the host finds, of `x` before `shrink`.
template <class Device>
void check_extremes(program<Device>& p) {
  double largest = -1e300;
  p.f.run(call<kr::reads<kr::owned<x>>>{}, [&](auto v) {
    for (auto i = v.owned().begin[0]; i < v.owned().end[0]; ++i)
      for (auto j = v.owned().begin[1]; j < v.owned().end[1]; ++j) largest = std::max(largest, 2 * v(x{})(i, j));
  });
  auto const& ranks = p.run.environment();
  double const all = km::max(ranks, largest), least = km::max(ranks, -largest);
  p.f.run(call<kr::reads<extremes>>{}, [&](auto v) {
    CHECK(v(extremes{})(0) == all);
    CHECK(v(extremes{})(1) == least);
  });
}

using devices = keel::where_supported<keel::list<twin, keel::simulated, keel::cuda, keel::hip>>;

TEST_CASE("residency: a graph gives the bits of its entries") {
  keel::for_each_device<devices>([]<class Device>(Device) {
    std::mt19937 random(7);                             // alike on all ranks
    bool const is_peer = !std::is_same_v<Device, twin>; // messages are nodes, too
    char const* const through = is_peer ? "peer" : "staged";
    program<Device> recorded(true, through), plain(false);
    int steady = 0;
    for (int n = 0; n < 300; ++n) {
      int const what = int(random() % 13), number = int(random() % 3);
      CAPTURE(n);
      CAPTURE(what);
      if ((what == 6 && random() % 8 != 0) || (what == 8 && n < 100)) continue;
      int const rounds = what > 6 && random() % 4 == 0 ? 13 : 1; // more than the turns of all levels
      for (int k = 0; k < rounds; ++k) {
        calls = 0;
        recorded.act(what, number);
        int const called = std::exchange(calls, 0);
        plain.act(what, number);
        steady += calls > 0 && called == 0 ? 1 : 0;
      }
      REQUIRE(state(recorded.f) == state(plain.f));
      for (auto const way : {kr::way::to_device, kr::way::to_host, kr::way::to_neighbours})
        REQUIRE(recorded.f.traffic().bytes(way) == plain.f.traffic().bytes(way));
    }
    CHECK(steady > 60);
    for (int const what : {0, 1, 2, 7, 9, 10, 11}) { // also where the host wrote what a graph reads
      for (int n = 0; n < 40; ++n) calls = 0, recorded.act(what, 1);
      CHECK(calls == 0);
      if (what == 0 || !is_peer) continue;
      for (auto const* const name : {"keel: regions", "keel: flags"}) {
        (void)kernels_called(name);
        recorded.act(what, 1);
        CHECK(kernels_called(name) <= (what >= 10 && recorded.run.environment().size() > 1 ? 1 : 0)); // extremes
      }
      stop_counting();
    }
    check_extremes(recorded);
    bool const is_even = recorded.run.environment().rank() % 2 == 0; // what some ranks launch at once runs on others
    program<Device> mixed(is_even, through), alone(false);
    for (int n = 0; n < 15; ++n)
      for (int const what : {7, 9, 10, 11}) mixed.act(what, 1), alone.act(what, 1);
    CHECK(state(mixed.f) == state(alone.f));
    program<Device> moved(true, through);
    for (int n = 0; n < 40; ++n) calls = 0, moved.act(7, 1);
    CHECK(calls == 0);
    moved.act(8, 0), moved.act(7, 1); // scratch is elsewhere
    CHECK(calls > 0);
  });
}

/// Adds one on the device; then what its argument says.
struct add_one : kr::routine<"add_one", kr::on_device, kr::updates<x>> {
  template <class V, class F>
  static void run(V v, F then) {
    ++calls;
    auto const now = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { now(i, j) += 1; });
    then(v.execution_space());
  }
};
std::atomic<int> unseen_calls = 0; // that a kernel has not followed
KOKKOS_INLINE_FUNCTION void rest_unless_called() {
#if !KEEL_ON_ACCELERATOR
  unseen_calls.load() > 0 ? void(--unseen_calls) : std::this_thread::sleep_for(std::chrono::milliseconds(2));
#endif
}
template <int What>
struct then_does {
  int number = 0;
  friend bool operator==(then_does const& a, then_does const& b) { return a.number == b.number; }
  template <class Space>
  void operator()(Space const& space) const {
    if constexpr (What == 1) space.fence();
    if constexpr (What == 2) Kokkos::View<int*, typename Space::memory_space> const made("made", 3);
    if constexpr (What == 3)
      keel::space::simulated::new_instance().impl_launch(keel::space::detail::value_closure<int>{&elsewhere, 1});
    if constexpr (What == 4) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if constexpr (What == 5) {
      ++unseen_calls;
      Kokkos::parallel_for(
          "late", Kokkos::RangePolicy<Space>(space, 0, 1), KOKKOS_LAMBDA(int) { rest_unless_called(); });
    }
  }
  static inline int elsewhere = 0;
};

TEST_CASE("residency: what a graph cannot record runs as it is, and the user is told once") {
  static std::string told;
  keel::policy::set_log_sink([](keel::policy::log_level, std::string_view text) { told += text; });
  using step = kr::graph<kr::cycle_in_place<x>, kr::exchange<x>, add_one>;
  // `same`: steps with the same argument, before it changes.
  auto const expect = []<int What>(then_does<What> with, int same, char const* words) {
    told.clear(), calls = 0;
    program<twin> p(true, "peer"), q(false, "peer");
    for (int n = 1; n <= 450; ++n) p.f.step(step{}, with), with.number += n % same == 0 ? 1 : 0;
    int const called = calls;
    CHECK(told.find("residency::graph: ") == told.rfind("residency::graph: "));
    CHECK((*words == '\0' ? told.empty() : p.run.environment().rank() != 0 || told.find(words) != told.npos));
    for (int n = 1; n <= 450; ++n) q.f.step(step{}, with);
    CHECK(state(p.f) == state(q.f));
    CHECK(p.f.traffic().bytes(kr::way::to_neighbours) == q.f.traffic().bytes(kr::way::to_neighbours));
    return called;
  };
  constexpr int always = 1000;
  CHECK(expect(then_does<0>{}, always, "") == 6); // two turns, and the first steps find other ghosts
  CHECK(expect(then_does<1>{}, always, "what is recorded waits") == 452);
  CHECK(expect(then_does<2>{}, always, "what is recorded makes memory") == 452);
  CHECK(expect(then_does<3>{}, always, "what is recorded launches on another instance") == 452);
  CHECK(expect(then_does<0>{}, 1, "nothing was launched again in 200 turns") == 450);
  CHECK(expect(then_does<0>{}, 4, "") == 450); // each is found once more, and recorded
  told.clear();
  test::run<km::mpi> run{"twin"};
  kr::fields<application<keel::list<host, twin>, kr::automatic, Kokkos::LayoutRight, km::mpi>, x, y, z> f{
      run, kr::grid{{12, 15}, kr::ghost_width{1, 1}, kr::periodic{true, true}}};
  f.step(start{});
  f.step(step{}, then_does<0>{});
  CHECK((run.environment().rank() != 0 || told.find("an exchange in it packs messages on the host") != told.npos));
  keel::policy::set_log_sink(nullptr);
}

TEST_CASE("residency: a graph that is measured goes on by what is faster, and the user is told") {
  static std::string told;
  keel::policy::set_log_level(keel::policy::log_level::information);
  keel::policy::set_log_sink([](keel::policy::log_level, std::string_view text) { told += text; });
  auto const calls_by = [](auto with) {
    told.clear();
    program<twin> p(std::nullopt), q(false);
    auto const steps = [&](int count) {
      calls = 0;
      for (int n = 0; n < count; ++n) p.f.step(kr::graph<kr::cycle_in_place<x>, add_one>{}, with);
      return calls;
    };
    int const measuring = steps(220), later = steps(50);
    CHECK((measuring > 4 * 24 && measuring < 220));
    for (int n = 0; n < 270; ++n) q.f.step(kr::graph<kr::cycle_in_place<x>, add_one>{}, with);
    CHECK(state(p.f) == state(q.f));
    CHECK((p.run.environment().rank() != 0) == (told.find(" launched at once, ") == told.npos));
    return later;
  };
  if (km::environment().size() <= 2) { // and cores are not shared
    CHECK(calls_by(then_does<4>{}) == 0);
    CHECK(calls_by(then_does<5>{}) == 50);
  }
  keel::policy::set_log_sink(nullptr);
  keel::policy::set_log_level(keel::policy::log_level::warning);
}

struct number_it : kr::routine<"number_it", kr::on_device, kr::writes<largest, extremes>> {
  template <class V>
  static void run(V v, int first) {
    for (int c = 0; c < v.components(); ++c) {
      auto const a = v(largest{}, kr::component{c});
      auto const b = v(extremes{}, kr::component{c});
      double const n = first + 10 * c - double(v.global_begin()[1]);
      Kokkos::parallel_for(
          "number", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1),
          KOKKOS_LAMBDA(int) { a() = b(0) = n, b(1) = -n; });
    }
  }
};

TEST_CASE("residency: values are combined over blocks and ranks, and components apart") {
  test::run<km::mpi> run{"simulated"};
  auto const& ranks = run.environment();
  auto const check = [&](auto const& what, kr::grid const& g) {
    kr::fields<app<keel::simulated>, x, largest, extremes> f{run, g, what};
    f.step(kr::schedule<number_it, kr::all_reduce<km::maximum, largest, extremes>>{}, 100 * ranks.rank());
    double most[2] = {-1e9, -1e9}, least[2] = {1e9, 1e9}; // of both components; of all blocks
    for (int c = 0; c < f.components(); ++c) {
      int const of = g.blocks() > 1 ? 0 : c;
      double const n = 100 * ranks.rank() + 10 * of - double(f.local(kr::component{c}).global_begin[1]);
      most[of] = std::max(most[of], n), least[of] = std::min(least[of], n);
    }
    f.run(call<kr::reads<largest, extremes>>{}, [&](auto v) {
      for (int c = 0; c < v.components(); ++c) {
        double const n = km::max(ranks, most[c]), all = km::min(ranks, least[c]);
        CHECK((v(largest{}, kr::component{c})() == n && v(extremes{}, kr::component{c})(0) == n));
        CHECK(v(extremes{}, kr::component{c})(1) == -all);
      }
    });
  };
  check(kr::components{1}, kr::grid{{4, 64}, kr::ghost_width{1}, kr::blocks{2}});
  check(kr::components{2}, kr::grid{{4, 64}, kr::ghost_width{1}});
}

TEST_CASE("residency: an argument is set before it is read") {
  test::run<km::mpi> run{"twin"};
  kr::fields<app<twin>, x, y, z> f{run, kr::grid{{12, 15}, kr::ghost_width{1, 1}, kr::periodic{true, true}}};
  f.step(start{});
  CHECK(
      message_of([&] { f.step(whole{}, 1); }) ==
      "keel::residency: argument dt has no value (nothing has set it). Call f.set(dt{}, ...) before a routine reads it.");
}

} // namespace graph_cases
