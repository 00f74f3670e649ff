// SPDX-License-Identifier: MIT
/// @file
/// Meshes where memory runs out at any place: nothing has changed then, and the next try succeeds. Of several ranks the
/// last one lacks it, and all hear of that; but for exchanges: ranks that wait for its messages end with the job.
#include <keel/exchange/exchanger.hpp>

#include "model.hpp"

#include <keel/residency/registry.hpp>

#include <new>

namespace {

thread_local long left = 0; // allocations until one fails; none does at zero
void* allocate(std::size_t bytes) { return left > 0 && --left == 0 ? nullptr : std::malloc(bytes); }

} // namespace

#if !KEEL_ON_ACCELERATOR // nvcc takes these for functions of both sides
// Not inlined: g++ would warn that what one of them gave is freed by another.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const made = allocate(bytes);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept { return allocate(bytes); }
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }
#endif

// Not without a name: nvcc loses such a namespace among the arguments of a kernel.
namespace lacking {

using namespace test;
using meshes::cells, meshes::edges, meshes::graph;

struct h : kr::variable<"h", double* [2], kr::levels<2>, kr::on_mesh<cells>> {};
struct un : kr::variable<"un", float*, kr::on_mesh<edges>> {};
struct force : kr::variable<"force", double*, kr::on_mesh<cells>> {};
struct spare : kr::variable<"spare", double**, kr::on_mesh<cells>> {};

/// Both levels of `h`, each valid on one side alone, and what else there is.
void fill_all(auto& f) {
  fill<h>(f), fill<kr::past<h, 1>>(f, 2), fill<un>(f);
  touch<kr::owned<kr::past<h, 1>>>(f);
}
std::int64_t wrong_levels(auto& f) {
  return wrong<kr::owned<h>>(f) + wrong<kr::owned<kr::past<h, 1>>>(f, 2) + wrong<kr::owned<un>>(f);
}

/// Those elements in another order, and with other ghosts: two of the next rank.
template <class Environment>
meshes::two_meshes turned_round(Environment const& env, meshes::two_meshes const& m) {
  auto const turn = [](auto const& part) {
    auto const owned = part.ids().first(std::size_t(part.owned().end));
    return std::vector<std::int64_t>(owned.rbegin(), owned.rend());
  };
  return {m.name,
          {},
          {env, turn(m.c), std::span(m.all[std::size_t(env.rank() + 1) % m.all.size()].owned).first(2)},
          {env, turn(m.e)}};
}

using environment = km::basic_environment<km::mpi>;

/// Each allocation of a call fails in turn on the last rank, for all ranks; before it `prepare`, after it `check`.
/// Answers how many failed.
long fail_one_by_one(environment const& env, auto const& prepare, auto const& call, auto const& check) {
  bool const is_here = env.rank() == env.size() - 1;
  for (long n = 1;; ++n) {
    prepare();
    bool fails = true;
    left = is_here ? n : 0;
    try {
      call();
      fails = false;
    } catch (std::bad_alloc const&) {
    } catch (keel::error const&) {
    }
    bool const has_left = left > 0;
    left = 0;
    CAPTURE(n);
    CHECK(km::any_of(env, fails) == fails);
    check(fails);
    if (km::any_of(env, has_left)) return n - 1;
  }
}

template <class App>
void lacks_memory(std::string_view device) {
  CAPTURE(device);
  run<km::mpi> here{device};
  environment const& env = here.environment();
  graph g = meshes::ring(24, env.size());
  g.has_own_ghosts = true;
  auto const m = cut(env, g);
  auto const next = turned_round(env, m);
  using fields = kr::fields<App, h, un, force, spare>;
  auto const nothing = [] {};
  auto const any = [](bool) {};
  CHECK(fail_one_by_one(env, nothing, [&] { kr::partition<cells>{env, m.all[std::size_t(env.rank())]}; }, any) > 10);
  if (env.size() == 1)
    CHECK(fail_one_by_one(env, nothing, [&] { fields{here, m.c, m.e, kr::extra<spare>{2}}; }, any) > 10);

  fields f{here, m.c, m.e, kr::extra<spare>{2}};
  auto const is_right = [&](auto const& now) {
    bool const has_ghosts = f.template is_valid<h>(kr::region::halo);
    CHECK(f.size(cells{}) == now.c.size());
    CHECK(f.size(edges{}) == now.e.size());
    CHECK(wrong_levels(f) == 0);
    if (has_ghosts) CHECK(wrong<h>(f) == 0);
  };
  // Or lost: if a device lacks memory for the kernel that puts values in place.
  auto const is_right_or_lost = [&](auto const& now, bool fails) {
    if (fails && device != host::name && !f.template is_valid<h>(kr::core) &&
        !f.template is_valid<h, keel::simulated>(kr::core))
      CHECK_THROWS_AS(wrong<kr::owned<h>>(f), keel::error);
    else is_right(now);
    if (!fails || !f.template is_valid<h>(kr::region::owned)) return;
    f.run(kr::exchange<h>{});
    CHECK(wrong<h>(f) == 0);
  };
  auto const owned_of = [&](int rank) -> auto& { return m.all[std::size_t(rank % env.size())].owned; };
  std::vector<int> const to_next(owned_of(env.rank()).size(), (env.rank() + 1) % env.size());
  auto const begin = [&] {
    f.repartition(m.c, m.e);
    fill_all(f), f.run(kr::exchange<h>{});
  };
  if (env.size() == 1) {
    // Ghosts may be lost, values not.
    fail_one_by_one(
        env, [&] { fill_all(f); }, [&] { f.run(kr::exchange<h>{}); },
        [&](bool fails) {
          is_right(m);
          if (!fails) CHECK(wrong<h>(f) == 0);
        });
    std::map<std::array<std::int64_t, 3>, double> all;
    fail_one_by_one(
        env, [&] { scatter<force>(f, 0), all = sums<kr::inside<force>>(env, f); },
        [&] { f.run(kr::accumulate<force>{}); },
        [&](bool fails) { CHECK((fails || sums<kr::owned<force>>(env, f) == all)); });
  }
  CHECK(fail_one_by_one(
            env, begin, [&] { f.repartition(next.c, next.e); },
            [&](bool fails) { is_right_or_lost(fails ? m : next, fails); }) > 10);
  CHECK(fail_one_by_one(
            env, begin, [&] { f.migrate(cells{}, to_next); },
            [&](bool fails) {
              if (fails) return is_right_or_lost(m, fails);
              CHECK(f.size(cells{}) == owned_of(env.rank() + env.size() - 1).size());
              CHECK(wrong_levels(f) == 0);
            }) > 10);
  // Ids are not copied from a partition that no program has.
  int const before = env.rank() + env.size() - 1;
  std::vector<int> const back(owned_of(before).size(), before % env.size());
  CHECK(fail_one_by_one(
            env,
            [&] {
              begin(), f.migrate(cells{}, to_next);
              f.renew_ghosts(cells{}, std::vector<kr::ghosts_of>{{(env.rank() + 1) % env.size(), 1}}, std::vector{0});
            },
            [&] { f.migrate(cells{}, back); },
            [&](bool) {
              CHECK(std::int64_t(f.partition_of(cells{}).ids().size()) == f.size(cells{}));
              if (device == host::name || f.template is_valid<h>(kr::core)) CHECK(wrong_levels(f) == 0);
            }) > 10);
  int length = 2;
  CHECK(fail_one_by_one(env, begin, [&] { f.resize(kr::extra<spare>{++length}); }, [&](bool) { is_right(m); }) > 10);
  std::int64_t room = 100;
  CHECK(fail_one_by_one(env, begin, [&] { f.reserve(cells{}, ++room); }, [&](bool) { is_right(m); }) > 10);
}

/// Whose messages are staged: to connect takes no memory between messages.
template <class App>
struct staged_run : run<km::mpi> {
  using application = App;
  explicit staged_run(std::string_view device) : run<km::mpi>(device, {.exchange_through = "staged"}) {}
};
template <class Memory>
using table = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;

template <class Memory>
void fill_table(table<Memory> const& all, kr::partition<cells> const& c) {
  auto const here = Kokkos::create_mirror_view(all);
  for (std::size_t i = 0; i < here.extent(0); ++i)
    for (std::size_t k = 0; k < here.extent(1); ++k)
      here(i, k) = std::int64_t(i) < c.owned().end ? value_of<double>(c.ids()[i], int(k), 1) : -1;
  Kokkos::deep_copy(all, here);
}
template <class Memory>
long wrong_in(table<Memory> const& all, kr::partition<cells> const& c, bool with_ghosts) {
  Kokkos::fence();
  auto const here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all);
  long count = 0;
  for (std::size_t i = 0; i < std::size_t(with_ghosts ? c.size() : c.owned().end); ++i)
    for (std::size_t k = 0; k < here.extent(1); ++k) count += here(i, k) != value_of<double>(c.ids()[i], int(k), 1);
  return count;
}

template <class App, class Memory>
void exchanger_lacks_memory() {
  staged_run<App> run{host::name};
  environment const& env = run.environment();
  graph g = meshes::ring(24, env.size());
  g.has_own_ghosts = true;
  kr::partition<cells> const c(env, g.ids_of(env.rank()));
  auto const nothing = [] {};
  auto const any = [](bool) {};
  kr::exchanger const x{run, c};
  if (env.size() == 1) CHECK(fail_one_by_one(env, nothing, [&] { kr::exchanger{run, c}; }, any) > 3);
  std::size_t levels = 0;
  table<Memory> all, other;
  auto const next_layout = [&] {
    all = table<Memory>("all", std::size_t(c.size()), ++levels),
    other = table<Memory>("other", std::size_t(c.size()), 3);
    fill_table(all, c), fill_table(other, c);
  };
  auto const on_c = [](auto const& v) { return kr::array_on<cells>(v); };
  auto const exchanged = [&](bool) {
    CHECK(wrong_in(all, c, false) + wrong_in(other, c, false) == 0);
    x.exchange(on_c(all), on_c(other));
    CHECK(wrong_in(all, c, true) + wrong_in(other, c, true) == 0);
  };
  CHECK(fail_one_by_one(env, next_layout, [&] { (void)x.plan(on_c(all), on_c(other)); }, exchanged) > 10);
  fail_one_by_one(env, [] {}, [&] { (void)x.plan(on_c(all), on_c(other)); }, exchanged); // a known one
  if (env.size() != 1) return;
  CHECK(fail_one_by_one(env, next_layout, [&] { x.exchange(on_c(all), on_c(other)); }, exchanged) > 10);
  CHECK(fail_one_by_one(
            env, next_layout,
            [&] {
              auto const p = x.plan(on_c(all)), q = x.plan(on_c(other));
              typename Memory::execution_space const space;
              auto const one = p.begin(space, all), two = q.begin(space, other);
            },
            exchanged) > 10);
}

template <class App>
void registry_lacks_memory(std::string_view device) {
  staged_run<App> run{device};
  environment const& env = run.environment();
  graph g = meshes::ring(24, env.size());
  g.has_own_ghosts = true;
  auto const m = cut(env, g);
  table<Kokkos::HostSpace> const mine("mine", std::size_t(m.c.size()), 2), known("known", std::size_t(m.c.size()), 2);
  Kokkos::View<float*, Kokkos::HostSpace> const on_edges("on_edges", std::size_t(m.e.size()));
  std::string const name = "a name that is too long for a string without memory of its own";
  std::optional<kr::registry<App>> f;
  kr::registered_variable h;
  auto const begin = [&] {
    f.emplace(run, m.c, m.e);
    h = f->template adopt<cells>("known", known);
    fill_table(known, m.c);
    f->notify_data_modified(kr::on_host{}, {h.only(kr::region::owned)});
  };
  // The next variable has the same number on all ranks, and is exchanged.
  auto const adds = [&](auto const& call) {
    auto const works = [&](bool fails) {
      CHECK(f->size() == (fails ? 1 : 2));
      CHECK(f->template add<double**, cells>("next", kr::extents{1}).number == (fails ? 1 : 2));
      if (fails) CHECK(call() == 2);
      auto const late = f->find(name);
      f->require_invalid_data(kr::on_host{}, {late});
      fill_table(mine, m.c);
      f->notify_data_modified(kr::on_host{}, {late.only(kr::region::owned)});
      f->exchange({late, h});
      f->require_valid_data(kr::on_host{}, {late, h});
      CHECK(wrong_in(known, m.c, true) == 0);
      CHECK(f->traffic().variables().size() == 3);
    };
    CHECK(fail_one_by_one(env, begin, [&] { (void)call(); }, works) > 10);
  };
  adds([&] { return f->template adopt<cells>(name, mine).number; });
  adds([&] { return f->template adopt<edges>(name, on_edges).number; });
  adds([&] { return f->template add<double**, cells>(name, kr::extents{2}).number; });
  adds([&] { return f->template add<float*, edges>(name).number; });
  // A use is of one rank. Its values are lost if the poison of a simulated device cannot be written.
  if (env.size() == 1) {
    begin();
    auto const q = f->template add<double**, cells>("q", kr::extents{2});
    auto const owned = h.only(kr::region::owned);
    auto const is_right = [&](bool fails) {
      if (fails && !f->is_valid(kr::on_host{}, owned) && !f->is_valid(kr::on<keel::simulated>{}, owned)) {
        CHECK_THROWS_AS(f->require_valid_data(kr::on_host{}, {owned}), keel::error);
        fill_table(known, m.c);
        f->notify_data_modified(kr::on_host{}, {owned});
      }
      f->require_valid_data(kr::on_host{}, {owned});
      CHECK(wrong_in(known, m.c, false) == 0);
      if (fails) f->exchange({h});
      else return;
      f->require_valid_data(kr::on_host{}, {h});
      CHECK(wrong_in(known, m.c, true) == 0);
    };
    auto const use = [&] {
      auto const u = f->use("write", kr::on<keel::simulated>{}, kr::updating{owned}, kr::writing{q});
    };
    CHECK(fail_one_by_one(env, [] {}, use, is_right) > 10);
    fail_one_by_one(env, use, [&] { f->exchange({h}); }, is_right);
  }
}

struct make_force : empty<"make_force", kr::on_host, kr::writes<kr::owned<force>>> {};
struct look_at_un : empty<"look_at_un", kr::on_host, kr::reads<kr::owned<un>>> {};

/// What a step of one memory asks for is found out in the first one; nothing of that is kept before all of it is there.
void first_step_lacks_memory() {
  run<km::mpi> here{host::name};
  environment const& env = here.environment();
  auto const m = cut(env, meshes::ring(24, env.size()));
  using one_memory = application<keel::list<host>, kr::automatic, Kokkos::LayoutRight, km::mpi>;
  std::optional<kr::fields<one_memory, force, un>> f;
  auto const step = [&] { f->step(kr::schedule<make_force, look_at_un>{}); }; // nothing has written `un`
  auto const begin = [&] { f.emplace(here, m.c, m.e); };
  CHECK(fail_one_by_one(env, begin, step, [&](bool) { CHECK_THROWS_AS(step(), keel::error); }) > 3);
}

struct count : kr::variable<"count", double*, kr::levels<2>, kr::on_mesh<cells>> {};
struct one_more
    : kr::routine<"one_more", kr::on_device, kr::reads<kr::owned<kr::past<count, 1>>>, kr::writes<kr::owned<count>>> {
  template <class V>
  static void run(V v) {
    auto const now = v(count{});
    auto const old = v(kr::past<count, 1>{});
    kr::for_owned(v, cells{}, KOKKOS_LAMBDA(int i) { now(i) = old(i) + 1; });
  }
};

/// A step that fails, whether it runs, is recorded or is launched again, is made or not; or what it wrote is lost.
void graph_lacks_memory() {
  run<km::mpi> here{"simulated"};
  environment const& env = here.environment();
  if (env.size() > 1) return; // ranks wait for each other
  graph g = meshes::ring(24, 1);
  g.has_own_ghosts = true;
  auto const m = cut(env, g);
  static int told = 0;
  keel::policy::set_log_sink([](keel::policy::log_level, std::string_view) { ++told; });
  std::optional<kr::fields<app<kr::on_device>, count>> f;
  auto const step = [&] { f->step(kr::graph<kr::cycle_in_place<count>, one_more, kr::exchange<count>>{}); };
  auto const made = [&] { // so many; or less than none
    return f->run(call<kr::reads<count>>{}, [&](auto v) {
      double const last = v(count{})(m.c.size() - 1); // a ghost
      return kr::sum_owned(v, cells{}, [&](int i) { return v(count{})(i) != last; }) == 0 ? int(last) : -1;
    });
  };
  for (int before = 0; before < 8; ++before) {
    auto const begin = [&] {
      f.emplace(here, m.c);
      f->run(call<kr::writes<kr::everywhere<count>>>{}, [](auto v) { Kokkos::deep_copy(v(count{}), 0); });
      for (int n = 0; n < before; ++n) step();
    };
    fail_one_by_one(env, begin, step, [&](bool fails) {
      int now = before;
      CAPTURE(before);
      try {
        now = made();
        CHECK((now == before + 1 || (fails && now == before)));
      } catch (keel::error const&) {
        CHECK(fails);
        begin();
      }
      step();
      CHECK(made() == now + 1);
    });
  }
  CHECK(told > 10); // recording has failed
  keel::policy::set_log_sink(nullptr);
}

/// That of Kokkos 5.2 asks for memory, and ends the program if there is none.
bool frees_without_memory() {
  long const many = 1000;
  void* const some = Kokkos::kokkos_malloc<Kokkos::HostSpace>("some", 8);
  left = many;
  Kokkos::kokkos_free<Kokkos::HostSpace>(some);
  return std::exchange(left, 0) == many;
}

} // namespace lacking

TEST_CASE("exchange: whichever allocation fails, all ranks hear of it, and the next call works") {
  using namespace lacking;
  exchanger_lacks_memory<app<kr::on_host>, Kokkos::HostSpace>();
  exchanger_lacks_memory<app<kr::on_host>, keel::space::simulated_memory>();
}

TEST_CASE("residency: whichever allocation of a registry fails, nothing is registered, and the next call works") {
  using namespace lacking;
  if (!frees_without_memory()) return keel::test::skip("Kokkos has no free that needs no memory");
  registry_lacks_memory<app<kr::on_host>>(host::name);
  registry_lacks_memory<app<kr::on_device>>("simulated");
}

TEST_CASE("residency: whichever allocation fails, meshes and values stay as they were, and the next try succeeds") {
  using namespace lacking;
  if (!frees_without_memory()) return keel::test::skip("Kokkos has no free that needs no memory");
  lacks_memory<app<kr::on_device>>(host::name);
  first_step_lacks_memory();
  lacks_memory<app<kr::on_host>>("simulated");
  graph_lacks_memory();
}
