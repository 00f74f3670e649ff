// SPDX-License-Identifier: MIT
// A run that goes on from a file has the bits of one that was not broken, on whatever ranks.
#include <keel/residency/fields.hpp>

#include "in_folder.hpp"
#include "model.hpp"

#include <keel/residency/registry.hpp>
#include <keel/impl/store/read_file.hpp>
#include <keel/schedule/checkpoint.hpp>

#include <ctime>
#include <filesystem>
#include <fstream>

namespace checkpoints {

using namespace test;
using meshes::cells;

struct app : meshes::app<Kokkos::LayoutRight, kr::on_device> {};
struct on_left : meshes::app<Kokkos::LayoutLeft, kr::on_host, kr::checked> {};

using run = test::run<km::mpi>;

// Levels that only a later step reads, walls that only `fixed` keeps, elements on faces, along one dimension, on no
// grid, of a mesh, of several numbers; and what nobody reads again.
struct height : kr::variable<"height", double**, kr::levels<3>> {};
struct plate : kr::variable<"plate", double** [2], kr::levels<2>> {};
struct flux : kr::variable<"flux", float**, kr::at<kr::face<1>>> {};
struct width : kr::variable<"width", double*, kr::along<1>> {};
struct clock : kr::variable<"clock", std::int64_t, kr::off_grid> {};
struct age : kr::variable<"age", Kokkos::complex<double>* [3], kr::levels<2>, kr::on_mesh<cells>> {};
struct slope : kr::variable<"slope", double**> {};

constexpr std::int64_t nx = 11, ny = 14;

/// Each step reads what the one before left, with neighbours, of every variable.
struct forward
    : kr::routine<"forward", kr::on_device,
                  kr::reads<kr::past<height, 1>, kr::owned<kr::past<height, 2>>, kr::past<plate, 1>, kr::owned<width>>,
                  kr::updates<clock, kr::owned<flux>>, kr::writes<height, slope>> {
  template <class V>
  static void run(V v) {
    auto const h = v(height{}), d = v(slope{});
    auto const one = v(kr::past<height, 1>{}), two = v(kr::past<height, 2>{});
    auto const p = v(kr::past<plate, 1>{});
    auto const w = v(width{});
    auto const f = v(flux{});
    auto const c = v(clock{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          d(i, j) = one(i + 1, j) - one(i - 1, j);
          h(i, j) = 0.4 * one(i, j) + 0.1 * two(i, j) + 0.2 * (one(i, j + 1) + one(i, j - 1)) / w(j) + 0.01 * d(i, j) +
                    0.001 * (p(i + 1, j, 0) - p(i - 1, j, 1)) + 1e-3 * f(i, j + 1);
          f(i, j + 1) = float(0.5 * f(i, j + 1) + 0.25 * h(i, j)); // the upper one, which is owned
        });
    Kokkos::parallel_for("tick", Kokkos::RangePolicy(v.execution_space(), 0, 1), KOKKOS_LAMBDA(int) { c() += 3; });
  }
};
struct cool : kr::routine<"cool", kr::on_device, kr::reads<kr::past<plate, 1>, clock>, kr::writes<plate>> {
  template <class V>
  static void run(V v) {
    auto const p = v(plate{});
    auto const was = v(kr::past<plate, 1>{});
    auto const c = v(clock{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          for (int k = 0; k < 2; ++k)
            p(i, j, k) = 0.5 * was(i, j, k) + 0.125 * (was(i - 1, j, k) + was(i + 1, j, k)) + 1e-4 * double(c() % 10);
        });
  }
};
struct ripen : kr::routine<"ripen", kr::on_device, kr::reads<kr::past<age, 1>>, kr::writes<age>> {
  template <class V>
  static void run(V v) {
    auto const a = v(age{});
    auto const was = v(kr::past<age, 1>{});
    kr::for_owned(
        v, cells{}, KOKKOS_LAMBDA(int e) {
          for (int k = 0; k < 3; ++k) a(e, k) = was(e, k) * Kokkos::complex<double>(0.9, 0.1);
        });
  }
};
struct go_on : kr::schedule<kr::cycle<height, plate, age>, forward, cool, kr::fixed<plate>, ripen,
                            kr::exchange<height, age>, kr::fixed<height>, kr::exchange<plate>> {};
struct step : kr::schedule<go_on, kr::every<5, kr::checkpoint<"checkpoint-run">>> {};

template <class App>
using fields = kr::fields<App, height, plate, flux, width, clock, age, slope>;

template <class App>
struct model {
  run& on;
  kr::partition<cells> c;
  fields<App> f;

  explicit model(run& r)
      : on(r), c(r.environment(), meshes::random(60, r.environment().size(), 7).ids_of(r.environment().rank())),
        f(r, kr::grid{{nx, ny}, kr::ghost_width{2, 1}, kr::periodic{false, true}}, c) {}
  void start() {
    fill<kr::everywhere<height>>(f), fill<kr::everywhere<kr::past<height, 1>>>(f, 2), fill<kr::everywhere<plate>>(f, 3);
    fill<flux>(f), fill<width>(f), fill<clock>(f), fill<age>(f);
    f.run(kr::exchange<height, plate, age>{});
  }
  /// What later steps read of all owned elements, whoever owns them.
  [[nodiscard]] std::vector<double> state() {
    std::vector<double> all{double(f.run(call<kr::reads<clock>>{}, [](auto v) { return v(clock{})(); }))};
    auto const add = [&]<class X>(X) {
      auto const values = whole<X>(on.environment(), f);
      all.insert(all.end(), values.begin(), values.end());
    };
    add(height{}), add(kr::past<height, 1>{}), add(plate{}), add(flux{}), add(age{});
    return all;
  }
};

TEST_CASE("a restart goes on with the bits of the unbroken run") {
  for_numbers_of_ranks([](int before, int after) {
    auto const test_on = [&]<class App>(std::type_identity<App>, std::string_view device) {
      CAPTURE(device);
      std::vector<double> expected;
      on_ranks(before, device, [&](run& some) {
        model<App> whole(some);
        whole.start();
        for (int n = 0; n < 9; ++n) whole.f.step(step{});
        expected = whole.state();
      });
      share(km::basic_environment<km::mpi>(), expected);
      on_ranks(after, device, [&](run& some) {
        model<App> again(some);
        again.f.template restart<step>("checkpoint-run");
        CHECK(again.f.steps() == 5);
        while (again.f.steps() < 9) again.f.step(go_on{});
        CHECK(again.state() == expected);
      });
    };
    test_on(std::type_identity<app>{}, "simulated");
    test_on(std::type_identity<app>{}, host::name);
    test_on(std::type_identity<on_left>{}, "simulated");
  });
}

TEST_CASE("a user asks for checkpoints, and for a restart, of a program that has none") {
  km::basic_environment<km::mpi> const world;
  in_folder const here(world);
  int const ranks = world.size();
  std::vector<double> expected;
  { // steps 2 and 4
    run every("simulated", ranks);
    model<app> whole(every);
    kr::settings how;
    how.checkpoint_every = 2;
    whole.f.set(how);
    whole.start();
    for (int n = 0; n < 5; ++n) whole.f.step(go_on{});
    expected = whole.state();
  }
  run again("simulated", ranks);
  model<app> later(again);
  kr::settings how;
  how.restart = "checkpoint", how.checkpoint_before_end = 60;
  later.f.set(how);
  ::unsetenv("SLURM_JOB_END_TIME");
  CHECK(refuses([&] { later.f.step(go_on{}); }, "SLURM_JOB_END_TIME is not set"));
  CHECK(later.f.steps() == 5);
  CHECK(later.state() == expected);
  ::setenv("SLURM_JOB_END_TIME", std::to_string(std::time(nullptr) + 30).c_str(), 1);
  later.f.step(go_on{});
  later.f.step(go_on{}); // one is enough
  ::unsetenv("SLURM_JOB_END_TIME");
  later.f.restart("checkpoint.previous");
  CHECK(later.f.steps() == 4);
  later.f.restart("checkpoint");
  CHECK(later.f.steps() == 6);
  // A program that counts asks before its first step.
  run counts("simulated", ranks);
  model<app> at_once(counts), anew(counts);
  CHECK_FALSE(anew.f.restart<go_on>());
  how.checkpoint_before_end = {};
  at_once.f.set(how);
  CHECK(at_once.f.restart<go_on>());
  CHECK(at_once.f.steps() == 6);
  CHECK_FALSE(at_once.f.restart<go_on>());
  at_once.f.step(go_on{});
  CHECK(at_once.f.steps() == 7);
  kr::registry<app> registered(counts);
  CHECK_FALSE(registered.restart());
}

using trusting = application<keel::list<host>, kr::off, Kokkos::LayoutRight, km::mpi>;
struct count_up : kr::routine<"count_up", kr::on_device, kr::updates<clock>> {
  template <class V>
  static void run(V v) {
    ++v(clock{})();
  }
};

TEST_CASE("a user asks for checkpoints of a program that calls its routines and records nothing") {
  km::basic_environment<km::mpi> const world;
  in_folder const here(world);
  run all(host::name, world.size());
  kr::settings how;
  how.checkpoint_every = 2;
  {
    kr::fields<trusting, clock> f(all, kr::grid{{8}});
    f.set(how);
    for (int n = 0; n < 3; ++n) f.step(count_up{});
  }
  km::barrier(world);
  how = {}, how.restart = "checkpoint";
  kr::fields<trusting, clock> f(all, kr::grid{{8}});
  f.set(how);
  f.step(count_up{});
  CHECK(f.steps() == 3);
  CHECK(f.view<host>(clock{})() == 3);
}

struct water : kr::variable<"water", double*> {};
struct pour : kr::routine<"pour", kr::on_device, kr::writes<water>> {
  template <class V>
  static void run(V v, double by) {
    auto const w = v(water{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { w(i) = by; });
  }
};

TEST_CASE("what a device alone has comes to the host behind the step, as it was") {
  km::basic_environment<km::mpi> const world;
  in_folder const here(world);
  run all("simulated", world.size());
  kr::fields<app, water> f(all, kr::grid{{100000}});
  for (double const by : {1, 2, 3}) {
    f.run(pour{}, by);
    f.reset_traffic();
    f.run(kr::checkpoint<"checkpoint-water">{});
    for (int n = 4; n < 8; ++n) f.run(pour{}, n); // while it is copied
    CHECK(f.traffic().bytes(kr::way::to_host) == 0);
    CHECK_FALSE(f.is_valid<water, host>(kr::region::owned));
    f.restart("checkpoint-water");
    auto const whole = kr::gather(f, water{}, 0);
    CHECK(std::all_of(whole.data(), whole.data() + whole.size(), [&](double each) { return each == by; }));
  }
}

TEST_CASE("what a later step reads and the last checkpoint left out is refused by name") {
  km::basic_environment<km::mpi> const world;
  in_folder const here(world);
  run all("simulated", world.size());
  {
    model<app> whole(all);
    whole.start();
    using once_only = kr::schedule<kr::checkpoint<"checkpoint-left">>;
    whole.f.step(once_only{}); // nothing reads anything later, and slope was not written yet
    whole.f.step(go_on{});
    whole.f.reserve(cells{}, whole.f.size(cells{}) + 9); // in new arrays what ran before still counts
    whole.f.step(once_only{});
  }
  km::barrier(world);
  std::map<std::string, kr::region> saved; // of each level
  for (auto const& d : kr::detail::read_file("checkpoint-left.h5").datasets)
    if (auto const about = kr::detail::attribute_of<std::vector<std::int64_t>>(d.attributes, "level"))
      saved[d.path] = kr::region((*about)[2]);
  CHECK(saved["/height/0"] == (kr::region::owned | kr::region::walls));
  CHECK(saved["/height/1"] == kr::region::owned); // whose walls nothing reads
  model<app> again(all);
  CHECK(refuses([&] { again.f.restart<see<kr::owned<slope>>>("checkpoint-left"); }, "later steps read slope level 0"));
  again.f.restart<go_on>("checkpoint-left");
  CHECK(again.f.steps() == 3);
  again.f.run(go_on{});
  CHECK(refuses([&] { again.f.restart("checkpoint-left"); }, "which is valid here and would keep its values"));
}

// What changes where elements are: blocks, patches, elements that move.
struct mass : kr::variable<"mass", double**> {};
struct spot : kr::variable<"spot", double* [2], kr::on_mesh<cells>> {};
using moving = kr::fields<app, mass, spot>;
using on_grid = kr::fields<app, mass>;
using blocked_fields = kr::fields<app, mass, clock>; // each block has the clock

TEST_CASE("blocks, patches and elements that moved are as they were, on other ranks") {
  kr::grid const coarse{{12, 9}, kr::ghost_width{1}}, fine{{8, 10}, kr::ghost_width{1}};
  auto const in_blocks = [](int n) { return kr::grid{{12, 9}, kr::ghost_width{1}, kr::blocks{n}}; };
  auto const mesh_on = [](run& r, int per_rank) {
    std::vector<std::int64_t> ids;
    for (int n = 0; n < per_rank; ++n) ids.push_back(17 * (n * r.environment().size() + r.environment().rank()));
    return kr::partition<cells>(r.environment(), ids);
  };
  for_numbers_of_ranks([&](int before, int after) {
    on_ranks(before, "simulated", [&](run& some) {
      auto const& env = some.environment();
      blocked_fields blocked(some, in_blocks(2));
      fill<mass>(blocked), touch<mass>(blocked), fill<clock>(blocked);
      blocked.run(kr::checkpoint<"checkpoint-blocks">{});

      moving patched(some, coarse, mesh_on(some, 6));
      fill<spot>(patched);
      std::vector<int> to(6);
      for (int n = 0; n < 6; ++n) to[std::size_t(n)] = (env.rank() * n) % env.size();
      patched.migrate(cells{}, to);
      patched.regrid({{coarse, 0, {}}, {fine, -1, {}}});
      for (int c : {0, 1}) fill<mass>(patched, c + 1, c);
      touch<mass>(patched);
      patched.run(kr::checkpoint<"checkpoint-patches">{});
    });
    on_ranks(after, host::name, [&](run& others) {
      blocked_fields blocked(others, in_blocks(3));
      blocked.restart("checkpoint-blocks");
      CHECK(wrong<kr::owned<mass>>(blocked) + wrong<clock>(blocked) == 0);
      moving patched(others, coarse, mesh_on(others, 1));
      patched.restart("checkpoint-patches");
      CHECK(patched.components() == 2);
      for (int c : {0, 1}) CHECK(wrong<kr::owned<mass>>(patched, c + 1, c) == 0);
      CHECK(km::sum(others.environment(), patched.partition_of(cells{}).owned().end) == 6 * before);
      CHECK(wrong<kr::owned<spot>>(patched, 1, 0) == 0);
    });
  });
}

TEST_CASE("a checkpoint has what schedules read that the program goes on with and that did not run yet") {
  km::basic_environment<km::mpi> const world;
  in_folder const here(world);
  run all("simulated", world.size());
  kr::grid const g{{12, 9}, kr::ghost_width{1}};
  kr::settings how;
  how.checkpoint_every = 1;
  for (int n = 0; n < 2; ++n) { // the second one goes on from the first one's file
    on_grid f(all, g);
    f.set(how);
    CHECK(f.restart<put<mass>, see<kr::owned<mass>>>() == (n != 0));
    CHECK(f.is_valid<mass>(kr::region::owned) == (n != 0));
    f.step(put<mass>{});
    how.restart = "checkpoint";
  }
  on_grid f(all, g);
  f.restart<see<kr::owned<mass>>>("checkpoint");
  CHECK(f.steps() == 2);
}

// What a rank has of its own.
struct own_list : kr::variable<"own_list", int*, kr::off_grid, kr::without_checkpoint> {};
struct near : kr::variable<"near", int*, kr::on_mesh<cells>, kr::without_checkpoint> {};
using with_lists = kr::fields<app, spot, own_list, near>;
struct connect : kr::routine<"connect", kr::on_host, kr::writes<own_list, near>> {
  template <class V>
  static void run(V v, int rank) {
    v(own_list{})(0) = rank;
    for (auto e = v.owned(cells{}).begin; e < v.owned(cells{}).end; ++e) v(near{})(e) = int(e);
  }
};
struct follow : kr::routine<"follow", kr::on_host, kr::reads<own_list, kr::owned<near>>, kr::updates<kr::owned<spot>>> {
  template <class V>
  static void run(V v) {
    for (auto e = v.owned(cells{}).begin; e < v.owned(cells{}).end; ++e)
      v(spot{})(v(near{})(e), 0) += v(own_list{})(0) + 1;
  }
};

TEST_CASE("what a rank has of its own is in no checkpoint, and may be missing when it is read") {
  km::basic_environment<km::mpi> const world;
  in_folder const here(world);
  run all("simulated", world.size());
  int const rank = all.environment().rank();
  kr::partition<cells> const c(all.environment(), std::vector<std::int64_t>{2 * rank, 2 * rank + 1});
  {
    with_lists f(all, c, kr::extra<own_list>{1});
    fill<spot>(f);
    f.run(connect{}, rank);
    f.step(kr::schedule<follow, kr::checkpoint<"checkpoint-own">>{});
  }
  with_lists f(all, c, kr::extra<own_list>{1});
  f.restart<follow>("checkpoint-own");
  CHECK_FALSE(f.is_valid<near>(kr::region::owned));
  CHECK_FALSE(f.is_valid<own_list>());
  f.run(connect{}, rank);
  f.step(follow{});
  CHECK(f.view<host>(spot{})(1, 0) == value_of<double>(2 * rank + 1, 0, 1) + 2 * (rank + 1));
}

TEST_CASE("a registry goes on with what was valid, whoever owns the arrays") {
  for_numbers_of_ranks([](int before, int after) {
    auto const on = [](int ranks, auto const& f) {
      on_ranks(ranks, "simulated", [&](run& some) {
        kr::partition<cells> const c(some.environment(),
                                     meshes::random(40, ranks, 4).ids_of(some.environment().rank()));
        Kokkos::View<float** [2], Kokkos::LayoutLeft, Kokkos::HostSpace> mine("mine", std::size_t(c.size()), 3);
        kr::registry<app> all(some, c);
        auto const q = all.template add<double**, cells>("q", kr::extents{4}, kr::levels<2>{});
        auto const h = all.template adopt<cells>("h", mine);
        (void)all.template add<int*, cells>("spare");
        (void)all.template add<int*, cells>("own", kr::without_checkpoint{});
        // Calls visit(an element, what it should be).
        auto const for_each = [&](auto const& view, std::int64_t end, auto const& visit) {
          for (std::int64_t e = 0; e < end; ++e)
            for (int k = 0; k < 3; ++k) {
              auto const id = c.ids()[std::size_t(e)];
              visit(view(e, k), value_of<double>(id, k, 1)), visit(mine(e, k, 1), value_of<float>(id, k, 2));
            }
        };
        f(all, c, q, h, for_each);
      });
    };
    on(before, [](auto& all, auto const& c, auto q, auto h, auto const& for_each) {
      {
        auto const use = all.use("fill", kr::on_host{}, kr::writing{q, h, all.find("own")});
        for_each(use.template view<double**>(q), c.size(), [](auto& element, auto value) { element = value; });
      }
      all.cycle(q);
      all.checkpoint("checkpoint-registry");
    });
    on(after, [](auto& all, auto const& c, auto q, auto h, auto const& for_each) {
      all.restart("checkpoint-registry");
      CHECK_FALSE(all.is_valid(kr::on_host{}, all.find("spare")));
      CHECK_FALSE(all.is_valid(kr::on_host{}, all.find("own").only(kr::region::owned)));
      CHECK_FALSE(all.is_valid(kr::on_host{}, q)); // the new level
      all.require_valid_data(kr::on_host{}, {q.past(1).only(kr::region::owned), h.only(kr::region::owned)});
      int bad = 0;
      for_each(all.template view<double**, host>(q.past(1)), c.owned().end,
               [&](auto const& element, auto value) { bad += element == value ? 0 : 1; });
      CHECK(bad == 0);
    });
  });
}

/// One byte of a file is another one, or all from there on are missing.
void damage(std::string const& path, std::uintmax_t at, bool cuts) {
  if (cuts) return std::filesystem::resize_file(path, at);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(std::streamoff(at));
  char const was = char(file.get());
  file.seekp(std::streamoff(at));
  file.put(char(was ^ 4));
}

TEST_CASE("a file that is not whole, or of another program, is refused by name on every rank") {
  km::basic_environment<km::mpi> const world;
  in_folder const here(world);
  run all("simulated", world.size());
  auto const& env = all.environment();
  kr::partition<cells> const c(env, std::vector<std::int64_t>{env.rank()});
  kr::grid const g{{12, 9}, kr::ghost_width{1}};
  moving f(all, g, c);
  fill<mass>(f), fill<spot>(f);
  f.run(kr::checkpoint<"checkpoint-bad">{});
  f.run(kr::checkpoint<"checkpoint-bad">{});
  f.run(kr::checkpoint<"checkpoint-other">{}); // the one before is written
  auto const refused = [&](auto& by, std::string_view name, std::string_view words) {
    bool const is_refused = refuses([&] { by.restart(name); }, words);
    CHECK(km::min(env, is_refused ? 1 : 0) == 1);
  };
  km::barrier(env);
  refused(f, "checkpoint-none", "checkpoint-none.h5");
  std::string const path = "checkpoint-bad.h5";
  { // the fields wait for what they write
    moving before(all, g, c);
    fill<mass>(before), fill<spot>(before);
    before.run(kr::checkpoint<"checkpoint-bad-2">{});
  }
  km::barrier(env);
  if (env.is_master()) {
    std::filesystem::copy_file("checkpoint-bad-2.h5", "checkpoint-bad-2.previous.h5",
                               std::filesystem::copy_options::overwrite_existing);
    damage("checkpoint-bad-2.h5", std::filesystem::file_size("checkpoint-bad-2.h5") - 9, true);
  }
  km::barrier(env);
  refused(f, "checkpoint-bad-2", "checkpoint-bad-2.previous");
  f.restart("checkpoint-bad-2.previous");
  CHECK(wrong<kr::owned<mass>>(f) == 0);
  moving larger(all, kr::grid{{13, 9}, kr::ghost_width{1}}, c);
  refused(larger, "checkpoint-bad-2.previous", "its grid is 12 x 9, the fields' is 13 x 9");
  on_grid fewer(all, g);
  refused(fewer, "checkpoint-other", "it has a variable spot");
  moving other(all, g, kr::partition<cells>(env, std::vector<std::int64_t>{env.rank() + 100}));
  refused(other, "checkpoint-other", "mesh cells has other elements");
  // A byte of the data.
  std::int64_t offset = 0;
  if (env.is_master()) offset = kr::detail::read_file("checkpoint-other.h5").dataset("/mass/0")->offset;
  km::barrier(env);
  if (env.is_master()) damage("checkpoint-other.h5", std::uintmax_t(offset + 40), false);
  km::barrier(env);
  refused(f, "checkpoint-other", "its checksum is wrong");
  CHECK_FALSE(f.is_valid<mass>(kr::region::owned));
}

} // namespace checkpoints
