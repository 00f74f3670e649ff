// SPDX-License-Identifier: MIT
// What is saved, as h5py and VTK read it, and what is gathered: every element tells by its value which one it is.
#include <keel/residency/gather.hpp>

#include "in_folder.hpp"
#include "model.hpp"

#include <keel/schedule/checkpoint.hpp>

#include <store/python.hpp>

#include <chrono>
#include <filesystem>
#include <thread>

#include <sys/resource.h>

namespace saving {

using namespace test;
namespace fs = std::filesystem;
using meshes::cells;

struct app : meshes::app<Kokkos::LayoutRight, kr::on_device> {};
struct on_left : meshes::app<Kokkos::LayoutLeft, kr::on_host, kr::checked> {};

struct mass : kr::variable<"mass", double**, kr::levels<2>> {};
struct count : kr::variable<"count", std::uint8_t**> {};
struct wave : kr::variable<"wave", Kokkos::complex<float>**> {};
struct layers : kr::variable<"layers", double***> {};
struct corner : kr::variable<"corner", float** [2], kr::at<kr::vertex>> {};
struct east : kr::variable<"east", double**, kr::at<kr::face<0>>> {};
struct north : kr::variable<"north", double**, kr::at<kr::face<1>>> {};
struct length : kr::variable<"length", double*, kr::along<1>> {};
struct now : kr::variable<"time", double, kr::off_grid> {};
struct solid : kr::variable<"solid", double***> {};
struct node : kr::variable<"node", std::int32_t***, kr::at<kr::vertex>> {};
struct position : kr::variable<"where", double* [2], kr::on_mesh<cells>> {};
struct age : kr::variable<"age", float**, kr::on_mesh<cells>> {};

using some_run = run<km::mpi>;

/// The number of an element, by its component, its global indices and the one beyond these; see saved.py.
double number_of(int c, std::array<std::int64_t, 3> const& g, std::int64_t k) {
  return double(100'000 * c + ((g[0] * 20 + g[1]) * 20 + g[2]) * 3 + k);
}
template <class T>
T value_of(double n) {
  if constexpr (requires(T z) { z.real(); }) return T(float(n), float(-n));
  else if constexpr (sizeof(T) == 1) return T(std::int64_t(n) % 251);
  else return T(n);
}

/// Calls f(element, its number) for those that this rank owns of a component.
void for_each_element(auto const& a, kr::share const& s, int c, auto const& f) {
  for_all(s.owned(), s.rank, [&](kr::indices const& at) {
    auto const whole = in_grid(s, at);
    at_place(a, s.rank, at,
             [&](auto& element, int, int k) { f(element, number_of(c, {whole[0], whole[1], whole[2]}, k)); });
  });
}
/// Leaves them where the device has them.
template <class... Xs>
void number(auto& f, double more = 0) {
  f.run(call<kr::writes<Xs...>>{}, [&](auto v) {
    auto const one = [&](auto x, kr::component c) {
      for_each_element(v(x, c), v.local(x, c), c.index, [&](auto& element, double n) {
        element = value_of<std::remove_reference_t<decltype(element)>>(n + more);
      });
    };
    for (int c = 0; c < v.components(); ++c) (one(Xs{}, kr::component{c}), ...);
  });
  (touch<Xs>(f), ...);
}

/// What saved.py says of files that all ranks have written, by rank 0.
template <class Environment>
void check_files(Environment const& env, std::string const& arguments) {
  km::barrier(env);
  if (env.rank() != 0) return;
  static std::string const python = keel::test::python_with_h5py();
  if (python.empty()) return keel::test::skip("no h5py");
  auto const said = keel::test::shell(python + " " KEEL_TEST_SAVED " " + arguments);
  CHECK(said.out + said.err == "");
}

template <class App>
void save_grids(std::string_view device, std::string const& order) {
  some_run run(device);
  in_folder const here(run.environment());
  using all = kr::fields<App, mass, count, wave, layers, corner, east, north, length, now>;
  using movie =
      kr::save<"movie", kr::owned<mass>, kr::owned<kr::past<mass, 1>>, kr::owned<count>, kr::owned<wave>,
               kr::owned<layers>, kr::owned<corner>, kr::owned<east>, kr::owned<north>, kr::owned<length>, now>;
  {
    all f{run, kr::grid{{7, 9}, kr::ghost_width{2, 1}, kr::periodic{false, true}}, kr::extra<layers>{3}};
    number<mass, count, wave, layers, corner, east, north, length>(f), number<kr::past<mass, 1>>(f, 0.5);
    f.run(call<kr::writes<now>>{}, [](auto v) { v(now{})() = 2.5; });
    f.run(movie{});
    // Only what changed is copied.
    f.reset_traffic();
    f.step(kr::schedule<movie>{});
    CHECK(f.traffic().copies() == 0);
    touch<east>(f);
    f.step(kr::schedule<movie>{});
    CHECK(f.traffic().bytes(kr::way::to_host) == f.traffic().bytes(kr::way::to_host, kr::region::owned, 5));
    CHECK((f.traffic().copies() != 0) == (device == "simulated" && f.template local<east>().owned().size(2) != 0));
  }
  check_files(run.environment(), "grids " + order);
}

TEST_CASE("save: on a grid, h5py and VTK find every element in its place") {
  save_grids<app>("simulated", "right");
  save_grids<app>(host::name, "right");
  save_grids<on_left>("simulated", "left");
}

TEST_CASE("save: three dimensions, blocks, components") {
  some_run run("simulated");
  in_folder const here(run.environment());
  {
    kr::fields<app, solid, node> f{run, kr::grid{{4, 5, 6}, kr::ghost_width{1}}};
    number<solid, node>(f);
    f.run(kr::save<"solid", kr::owned<solid>, kr::owned<node>>{}); // in one file
    f.run(kr::save<"nodes", kr::owned<node>>{});
    kr::fields<app, mass> in_blocks{run,
                                    kr::grid{{8, 12}, kr::ghost_width{1}, kr::periodic{true, false}, kr::blocks{4}}};
    number<mass>(in_blocks);
    in_blocks.run(kr::save<"blocks", kr::owned<mass>>{});
    auto const whole = kr::gather(in_blocks, mass{}, 0);
    if (run.environment().rank() == 0)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 12; ++j) REQUIRE(whole(i, j) == number_of(0, {i, j, 0}, 0));
    kr::fields<app, mass, now> two{run, kr::grid{{7, 9}, kr::ghost_width{1}}, kr::components{2}};
    number<mass>(two);
    two.run(call<kr::writes<now>>{}, [](auto v) { v(now{})() = 1, v(now{}, kr::component{1})() = 2; });
    two.run(kr::save<"two", kr::owned<mass>, now>{});
  }
  check_files(run.environment(), "more");
}

template <class App>
void save_mesh(std::string_view device) {
  some_run run(device);
  in_folder const here(run.environment());
  auto const graph = meshes::random(60, run.environment().size(), 7);
  kr::partition<cells> const c(run.environment(), graph.ids_of(run.environment().rank()));
  auto const number = [&](std::int64_t e) { return double(c.ids()[std::size_t(e)] + 40) / 1'000'003; }; // of the cell
  {
    kr::fields<App, position, age> f{run, c, kr::extra<age>{4}};
    f.run(call<kr::writes<position, age>>{}, [&](auto v) {
      for (auto e = c.owned().begin; e < c.owned().end; ++e) {
        for (int k = 0; k < 2; ++k) v(position{})(e, k) = number(e) + 100 * k;
        for (int k = 0; k < 4; ++k) v(age{})(e, k) = float(number(e) * 4 + k);
      }
    });
    touch<position>(f), touch<age>(f);
    f.run(kr::save<"dots", kr::owned<position>, kr::owned<age>>{});
    f.run(kr::save<"plain", kr::owned<age>>{});
    for (int root = 0; root < run.environment().size(); ++root) {
      auto const whole = kr::gather(f, age{}, root);
      bool const is_here = run.environment().rank() == root;
      REQUIRE(whole.extent(0) == (is_here ? 60 : 0));
      for (int e = 0; e < (is_here ? 60 : 0); ++e)
        for (int k = 0; k < 4; ++k) REQUIRE(whole(e, k) == float(e * 4 + k));
    }
  }
  check_files(run.environment(), "mesh");
}

TEST_CASE("save: on a mesh, each element is a vertex where its position says") {
  save_mesh<app>("simulated");
  save_mesh<app>(host::name);
  save_mesh<on_left>("simulated");
}

template <class App>
void gather_grids(std::string_view device) {
  some_run run(device);
  in_folder const here(run.environment());
  kr::fields<App, mass, layers, corner, length, now> f{
      run, kr::grid{{7, 9}, kr::ghost_width{2, 1}, kr::periodic{false, true}}, kr::extra<layers>{3}, kr::components{2}};
  number<mass, layers, corner, length>(f), number<kr::past<mass, 1>>(f, 0.5);
  f.run(call<kr::writes<now>>{}, [](auto v) { v(now{})() = v(now{}, kr::component{1})() = 4; });
  auto const check = [&]<class X>(X x, int root, int c, double more) {
    auto const whole = kr::gather(f, x, root, kr::component{c});
    using view = std::remove_const_t<decltype(whole)>;
    if (run.environment().rank() != root) {
      CHECK(whole.extent(0) == 0);
      return;
    }
    using variable = typename kr::detail::item<X>::variable;
    kr::share all = f.template local<variable>(); // as though this rank had it all
    all.global_begin = all.width = {}, all.longer = {}, all.extents = all.global_extents, all.has_cells = true;
    std::size_t size = whole.size();
    for_each_element(whole, all, c, [&](auto const& element, double n) {
      --size;
      REQUIRE(element == value_of<typename view::non_const_value_type>(n + more));
    });
    CHECK(size == 0);
  };
  for (int root = 0; root < run.environment().size(); ++root)
    for (int c = 0; c < 2; ++c) {
      check(mass{}, root, c, 0);
      check(kr::past<mass, 1>{}, root, c, 0.5);
      check(layers{}, root, c, 0);
      check(corner{}, root, c, 0);
      check(length{}, root, c, 0);
    }
  auto const one = kr::gather(f, now{}, 0);
  if (run.environment().rank() == 0) CHECK(one() == 4);
  CHECK(refuses([&] { static_cast<void>(kr::gather(f, mass{}, 8)); }, "there is no rank 8"));
  CHECK(refuses([&] { static_cast<void>(kr::gather(f, mass{}, 0, kr::component{2})); }, "component"));
}

TEST_CASE("gather: every element is in its place, on any rank") {
  gather_grids<app>("simulated");
  gather_grids<app>(host::name);
  gather_grids<on_left>("simulated");
}

std::vector<std::string> warnings;
void keep(keel::policy::log_level, std::string_view line) { warnings.emplace_back(line); }

/// Files may have so many bytes.
void limit_files(rlim_t most) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min(most, limit.rlim_max);
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_CASE("files: a folder that is not there is refused before the first step; what fails later costs a warning") {
  some_run run(host::name);
  auto const& env = run.environment();
  in_folder const here(env);
  struct step : kr::schedule<kr::save<"out/movie", kr::owned<mass>>, kr::checkpoint<"out/run">> {};
  auto const on_master = [&](auto const& f) {
    km::barrier(env);
    if (env.rank() == 0) f();
    km::barrier(env);
  };
  auto const nothing = [] {};
  on_master([] { fs::remove_all("out"), keel::policy::set_log_sink(&keep); });
  {
    kr::fields<app, mass> f{run, kr::grid{{7, 9}}};
    number<mass>(f);
    CHECK(refuses([&] { f.run(kr::save<"out/movie", kr::owned<mass>>{}); }, "out/movie"));
    CHECK(refuses([&] { f.step(step{}); }, "out/movie"));
    CHECK(f.steps() == 0);
    on_master([] { fs::create_directory("out"); });
    auto const go_while = [&](auto const& spoil, auto const& mend) {
      on_master(spoil);
      f.step(step{});
      CHECK(f.checkpoints().written + f.checkpoints().failed == f.steps());
      CHECK(f.saves().failed == f.checkpoints().failed); // without the one that was refused
      on_master(mend);
    };
    go_while(nothing, nothing);
    go_while([] { fs::create_directory("out/run.new.h5"), fs::create_directory("out/movie.new.vtkhdf"); },
             [] { fs::remove("out/run.new.h5"), fs::remove("out/movie.new.vtkhdf"); });
    go_while([] { fs::rename("out", "away"); }, [] { fs::rename("away", "out"); });
    go_while([] { limit_files(0); }, [] { limit_files(RLIM_INFINITY); });
    if (env.rank() == env.size() - 1) limit_files(0); // which does not make the files
    go_while(nothing, nothing);
    limit_files(RLIM_INFINITY);
    go_while(nothing, nothing);
    CHECK(f.checkpoints().written == 2);
  }
  { // goes on after step 6
    kr::fields<app, mass> f{run, kr::grid{{7, 9}}};
    kr::settings how;
    how.restart = "out/run.h5"; // is out/run
    f.set(how);
    CHECK(f.restart<step>());
    CHECK(f.steps() == 6);
    f.step(step{});
    struct quiet : kr::schedule<kr::exchange<mass>> {};
    for (int n = 0; n < 100; ++n) {
      f.step(quiet{});
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    km::barrier(env); // a step that finds a file written on all ranks has given it its name
    CHECK(fs::exists("out/movie.000007.vtkhdf"));
    CHECK(fs::exists("out/run.h5"));
    CHECK_FALSE(fs::exists("out/run.new.h5"));
  }
  on_master([] {
    keel::policy::set_log_sink(nullptr);
    auto const count = [](std::string_view words) {
      return std::count_if(warnings.begin(), warnings.end(), [&](auto const& w) { return w.find(words) != w.npos; });
    };
    for (std::string const n : {"2", "3", "4", "5"}) {
      CHECK(count("out/run of step " + n + " is not written (") == 1);
      CHECK(count("out/movie.00000" + n + ".vtkhdf is not written (") == 1);
    }
    CHECK(count("out/run of step 1 stays, and the next one will be tried.") == 4);
    CHECK(count("checkpoint: 4 of 6 files failed") == 1);
    CHECK(count("save: 4 of 6 files failed") == 1);
    CHECK(warnings.size() == 10);
    std::string const listed = keel::test::content("out/movie.vtkhdf.series");
    for (int const n : {1, 2, 3, 4, 5, 6, 7}) {
      bool const is_there = n == 1 || n > 5;
      CHECK(fs::exists("out/movie.00000" + std::to_string(n) + ".vtkhdf") == is_there);
      CHECK((listed.find("movie.00000" + std::to_string(n)) != std::string::npos) == is_there);
    }
  });
}

} // namespace saving
