// SPDX-License-Identifier: MIT
// Transports: their laws, which of them carries an exchange, and what must not overtake what.
#include "mailed.hpp"

#include <laws/transport.hpp>

#include <keel/exchange/kokkos_queue.hpp>

#include "model.hpp"

#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/layout/grid/grid_share.hpp>

#include <chrono>
#include <cstdlib>
#include <thread>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace transported {

using namespace test;
namespace kd = keel::residency::detail;

/// One that reaches no rank.
struct nowhere : counted {
  static constexpr std::string_view name = "nowhere";
  using counted::counted;
  static inline std::size_t asked = 0;
  static std::vector<std::string> connect(auto const&, std::span<int const> ranks) {
    asked += ranks.size();
    return std::vector<std::string>(ranks.size(), "there is no cable");
  }
};
/// One that takes long, or becomes slow, and one that is slower at first, by more than other programs on these cores
/// cost.
struct tiring : counted {
  static constexpr std::string_view name = "tiring";
  static inline std::chrono::microseconds rest{0};
  using counted::counted;
  void finish(auto const& queue) {
    if (rest.count() != 0) std::this_thread::sleep_for(rest);
    kr::staged::finish(queue);
  }
};
struct steady : counted {
  static constexpr std::string_view name = "steady";
  static inline std::chrono::milliseconds rest{0};
  using counted::counted;
  void finish(auto const& queue) {
    std::this_thread::sleep_for(rest);
    kr::staged::finish(queue);
  }
};

using devices = keel::where_supported<keel::list<host, keel::simulated, keel::cuda, keel::hip>>;
template <class Exchange, class... Transports>
struct by : app<Exchange, Kokkos::LayoutRight, kr::automatic, devices> {
  using transports = keel::list<Transports...>;
};

struct x : kr::variable<"x", double**, kr::levels<2>> {};

/// Rank 0 takes long between the beginning of an exchange and its end, and then to read the ghosts.
struct number : kr::routine<"number", kr::on_device, kr::writes<x>> {
  template <class V>
  static void run(V v, double n) {
    auto const a = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { a(i, j) = n; });
  }
};
KOKKOS_INLINE_FUNCTION void rest(int milliseconds) {
#if !KEEL_ON_ACCELERATOR
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
#else
  (void)milliseconds;
#endif
}
struct dawdle : kr::routine<"dawdle", kr::on_device, kr::reads<kr::owned<x>>> {
  template <class V>
  static void run(V v) {
    bool const is_slow = v.global_begin()[0] == 0;
    Kokkos::parallel_for(
        "dawdle", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1),
        KOKKOS_LAMBDA(int) { rest(is_slow ? 20 : 0); });
  }
};
struct found : kr::variable<"found", double*, kr::off_grid> {};
struct look : kr::routine<"look", kr::on_device, kr::reads<x>, kr::updates<found>> {
  template <class V>
  static void run(V v, double n) {
    auto const a = v(x{});
    auto const w = v(found{});
    bool const is_slow = v.global_begin()[0] == 0;
    auto const rows = int(a.extent(0)), columns = int(a.extent(1));
    Kokkos::parallel_for(
        "look", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1), KOKKOS_LAMBDA(int) {
          for (int row : {0, rows - 1}) {
            rest(is_slow ? 5 : 0);
            for (int j = 0; j < columns; ++j)
              if (a(row, j) != n) w(0) += 1;
          }
        });
  }
};
/// Calls what the step is given while the ghosts are on their way.
struct meanwhile : kr::routine<"meanwhile", kr::on_host, kr::reads<kr::owned<x>>> {
  template <class V, class F>
  static void run(V, double, F const& f) {
    f();
  }
};
struct race : kr::schedule<number, kr::exchange<x>, dawdle, look> {};

/// Some exchanges; all of them but the first have as many levels.
template <class App, class... Levels>
void exchange_by(std::string_view device, std::string transport, bool together = true) {
  run<km::mpi> here{device, {.exchange_through = std::move(transport), .exchange_together = together}};
  kr::fields<App, x> f{here, kr::grid{{23, 17}, kr::ghost_width{1}, kr::periodic{true}}};
  fill<x>(f, 1);
  f.run(kr::exchange<x>{});
  for (int n = 2; n <= 9; ++n) {
    f.run(kr::cycle<x>{});
    fill<x>(f, n), touch<x>(f);
    f.run(kr::exchange<x, Levels...>{});
  }
  CHECK(wrong_inside<x>(f, 9) + wrong_inside<kr::past<x, 1>>(f, 8) == 0);
}

kr::queue queue_of_simulated() { return kr::queue_of(keel::device_traits<keel::simulated>::execution_space{}); }

/// Why a transport is not there.
template <class T>
std::string why_not(kr::messenger const& ranks, kr::queue const& queue) {
  std::vector<int> const self{ranks.rank()};
  if constexpr (requires(T& t) { t.connect(queue, self); }) return T(ranks).connect(queue, self)[0];
  else return {};
}

std::string said;

TEST_CASE("residency: transports keep the laws, with messages on the host and on a simulated device") {
  km::environment const world;
  kr::messenger const ranks(world);
  for (kr::queue const& queue : {kr::queue{}, queue_of_simulated()}) {
    laws::transport_is_sound<kr::staged>(ranks, queue);
    laws::transport_is_sound<kr::peer>(ranks, queue);
    laws::transport_is_sound<counted>(ranks, queue);
    laws::transport_is_sound<mailed>(ranks, queue);
  }
  laws::transport_is_sound<kr::direct>(ranks, queue_of_simulated());
}

TEST_CASE_TEMPLATE("residency: transports keep the laws with messages on a GPU", T, kr::staged, kr::peer, kr::nccl) {
  km::environment const world;
  kr::messenger const ranks(world);
  keel::for_each_device<keel::where_supported<keel::list<keel::cuda, keel::hip>>>([&]<class Tag>(Tag) {
    if (!keel::available<Tag>()) return;
    auto const queue = kr::queue_of(typename keel::device_traits<Tag>::execution_space{});
    if (auto const why = why_not<T>(ranks, queue); !why.empty()) MESSAGE(why);
    else laws::transport_is_sound<T>(ranks, queue);
  });
}

TEST_CASE("residency: messages of more than 2^31 bytes arrive") {
  if (std::getenv("KEEL_TEST_LONG_MESSAGES") == nullptr) return keel::test::skip("KEEL_TEST_LONG_MESSAGES is not set");
  km::environment const world;
  kr::messenger const ranks(world);
  laws::transport_takes_long_messages<kr::staged>(ranks, {});
  laws::transport_takes_long_messages<kr::peer>(ranks, {});
}

TEST_CASE("residency: a message of another length than agreed is an error of both ranks, through every transport") {
  km::environment const world;
  kr::messenger const ranks(world);
  int const n = world.size();
  if (n == 1) return;
  kr::share const s = kr::share_of(kr::grid{{8 * n}, kr::ghost_width{1}, kr::periodic{true}}, n, world.rank());
  auto const cut = kd::decomposition_of({&s, 1}, 1, world.rank());
  std::vector<int> partners;
  for (kd::partner const& p : cut.partners) partners.push_back(p.rank);
  kd::shape lies;
  lies.rank = 1, lies.part = &s, lies.element_bytes = 8, lies.stride[0] = 1, lies.elements = s.extents[0];
  kd::shape longer = lies;
  longer.stride[0] = longer.inner = 3, longer.elements *= 3;
  std::vector<double> data(std::size_t(longer.elements));
  for (std::string_view const through : {"staged", "peer", "counted"}) {
    CAPTURE(through);
    kd::routes ways;
    kr::settings how;
    how.exchange_through = through;
    ways.prepare(kd::transports_of(keel::list<kr::staged, kr::peer, counted>{}, ranks), ranks, partners, how);
    ways.connect({}, kr::host);
    kd::halo_exchange ghosts(ways, {});
    kd::halo_array const mine{world.rank() == 0 ? &longer : &lies, data.data(), &cut, 0};
    bool const differs = world.rank() == 0 || std::find(partners.begin(), partners.end(), 0) != partners.end();
    if (!differs) { // those beside it wait for its word, and for no message
      kd::halo_plan plan;
      plan.lay_out({&mine, 1});
      CHECK(ways.have_same_lengths(plan.sends(), plan.receives()));
    }
    for (int again = 0; again < 2 && differs; ++again)
      CHECK(
          refuses([&] { ghosts.start({&mine, 1}, kd::combine::replace, true); }, "exchange is refused (this rank and"));
  }
}

TEST_CASE("residency: an exchange of the child of a fork throws and reaches no rank, through every transport") {
  using list = by<kr::on_host, kr::staged, kr::peer, counted>;
  int const ranks = km::environment().size();
  if (ranks == 1) return;
  for (char const* transport : {"staged", "peer", "counted"}) {
    CAPTURE(transport);
    run<km::mpi> here{host::name, {.exchange_through = transport}};
    kr::fields<list, x, found> f{
        here, kr::grid{{24, 6}, kr::ghost_width{1}, kr::periodic{true}, kr::ranks_in{ranks, 1}}, kr::extra<found>{1}};
    f.run(call<kr::writes<found>>{}, [](auto v) { v(found{})(0) = 0; });
    f.step(race{}, 1.0);
    // In the child an exchange begins, and another one ends that its parent has begun.
    pid_t child = -1;
    auto const check_child = [&](auto const& exchange) {
      if (child == 0) {
        try {
          exchange();
        } catch (keel::error const& e) {
          _exit(std::string_view(e.what()).find("other ranks cannot be reached") != std::string_view::npos ? 0 : 1);
        }
        _exit(2);
      }
      int status = -1;
      waitpid(child, &status, 0);
      CHECK(status == 0);
    };
    child = fork();
    check_child([&] { // without a kernel: the threads of OpenMP are its parent's
      f.run(call<kr::writes<x>>{}, [](auto v) { v(x{})(0, 0) = 999.0; });
      f.run(kr::exchange<x>{});
    });
    auto const forks = [&child] { child = fork(); };
    try {
      f.step(kr::schedule<number, kr::exchange<x>, meanwhile, look>{}, 2.0, forks);
    } catch (keel::error const&) {
      _exit(child == 0 ? 0 : 3);
    }
    check_child([] {});
    for (int n = 3; n <= 6; ++n) f.step(race{}, double(n));
    CHECK(f.run(call<kr::reads<found>>{}, [](auto v) { return v(found{})(0); }) == 0);
  }
}

TEST_CASE("residency: an exchange goes by the transport that the user names, the program's own included") {
  using list = by<kr::on_host, kr::staged, counted>;
  carried = 0;
  exchange_by<list>(host::name, "staged");
  CHECK(carried == 0);
  exchange_by<list>(host::name, "counted");
  CHECK((carried > 0) == (km::environment().size() > 1));
  CHECK(refuses([] { exchange_by<list>(host::name, "pear"); },
                "exchange-through names 'pear' (no transport of this program is "
                "called so: it was compiled with staged, counted)"));
}

TEST_CASE("residency: a transport is not connected to ranks that the one that the user names reaches") {
  using list = by<kr::on_device, nowhere, kr::peer, kr::staged>;
  nowhere::asked = 0;
  exchange_by<list>("simulated", "peer");
  CHECK(nowhere::asked == 0);
  exchange_by<list>("simulated", "measured");
  CHECK((nowhere::asked > 0) == (km::environment().size() > 1));
}

TEST_CASE("residency: an exchange sends each rank one message, or one for each variable and level") {
  using list = by<kr::on_device, counted, kr::staged, kr::peer>;
  int messages = 0;
  for (bool const together : {true, false}) {
    carried = 0;
    exchange_by<list, kr::past<x, 1>>("simulated", "counted", together);
    if (together) messages = carried;
    else CHECK(carried == messages * 17 / 9); // of 9 exchanges the first has one level
    exchange_by<list, kr::past<x, 1>>("simulated", "peer", together);
  }
}

TEST_CASE("residency: of the measured transports the fastest carries, and one that reaches no rank is passed over") {
  bool const are_there = km::environment().size() > 1;
  keel::policy::set_log_level(keel::policy::log_level::information);
  keel::policy::set_log_sink([](keel::policy::log_level, std::string_view text) { said += text; });
  said.clear();
  tiring::rest = std::chrono::milliseconds(200); // however busy this machine is
  exchange_by<by<kr::on_host, tiring, nowhere, kr::staged>>(host::name, "measured");
  tiring::rest = {};
  CHECK((said.find(" go by staged (tiring ") != std::string::npos) == are_there);
  CHECK((said.find("nowhere: there is no cable") != std::string::npos) == are_there);
  said.clear();
  exchange_by<by<kr::on_host, nowhere, kr::staged>>(host::name, "nowhere");
  CHECK((said.find(" go by staged (nowhere: there is no cable)") != std::string::npos) == are_there);
  keel::policy::set_log_sink(nullptr);
  keel::policy::set_log_level(keel::policy::log_level::warning);
  if (are_there)
    CHECK(refuses([] { exchange_by<by<kr::on_host, nowhere>>(host::name, "measured"); },
                  "is reached by no transport (nowhere: there is no cable)"));
}

TEST_CASE("residency: where the measured transport becomes slow on both sides, it is measured again, and says so") {
  km::environment const world;
  if (world.size() != 2) return;
  static std::vector<std::pair<keel::policy::log_level, std::string>> lines;
  lines.clear();
  keel::policy::set_log_level(keel::policy::log_level::information);
  keel::policy::set_log_sink(
      [](keel::policy::log_level level, std::string_view text) { lines.emplace_back(level, text); });
  run<km::mpi> here{host::name};
  kr::fields<by<kr::on_host, tiring, steady>, x> f{here, kr::grid{{8, 8}, kr::ghost_width{1}}};
  fill<x>(f);
  auto const exchange = [&](int times) {
    for (int n = 0; n < times; ++n) f.run(kr::exchange<x>{});
  };
  auto const long_while = std::chrono::milliseconds(100); // in each round of a measurement
  steady::rest = long_while;
  exchange(1);
  steady::rest = std::chrono::milliseconds::zero();
  auto const begun = std::chrono::steady_clock::now();
  exchange(299);
  double const each = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count() / 299;
  auto const much_longer = std::int64_t(4000 + 8 * km::max(world, each)); // however busy this machine is
  auto const says = [](std::size_t line, std::string_view words) {
    return lines.size() > line && lines[line].second.find(words) != std::string::npos;
  };
  REQUIRE(lines.size() == 1);
  CHECK(says(0, " go by tiring ("));
  if (world.rank() == 1) tiring::rest = std::chrono::microseconds(much_longer); // and the other one waits for it
  exchange(200);
  if (world.rank() == 1) tiring::rest = long_while;
  exchange(100);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1].first == keel::policy::log_level::warning);
  CHECK(says(1, " go by steady ("));
  CHECK(says(1, "by tiring an exchange took "));
  exchange(300); // and once is enough
  CHECK(lines.size() == 2);
  tiring::rest = {};
  keel::policy::set_log_sink(nullptr);
  keel::policy::set_log_level(keel::policy::log_level::warning);
}

TEST_CASE("residency: whether ranks share cores is known from the hardware threads that each may run on") {
  auto const on = [](std::initializer_list<int> threads) {
    kd::hardware_threads made{};
    for (int const t : threads) made.bits[std::size_t(t) / 64] |= std::uint64_t{1} << t % 64;
    return made;
  };
  std::vector<kd::hardware_threads> all{on({0}), on({1})};
  CHECK_FALSE(kd::outnumber(2, all));
  CHECK(kd::outnumber(3, all));
  all = {on({70, 71}), on({70, 71}), on({70, 71})};
  CHECK(kd::outnumber(3, all));
  CHECK_FALSE(kd::outnumber(2, all));
  km::environment const world;
  kr::messenger const ranks(world);
  bool const do_share = ranks.outnumber_cores();
  CHECK(km::all_of(world, do_share) == do_share);
}

TEST_CASE("residency: no message overtakes a kernel that still reads ghosts, nor an unpacking") {
  using racing = by<kr::on_device, kr::staged, kr::direct, kr::peer>;
  for (char const* transport : {"staged", "direct", "peer"}) {
    CAPTURE(transport);
    run<km::mpi> here{"simulated", {.exchange_through = transport}};
    kr::fields<racing, x, found> f{
        here, kr::grid{{24, 6}, kr::ghost_width{1}, kr::periodic{true}, kr::ranks_in{here.environment().size(), 1}},
        kr::extra<found>{1}};
    f.run(call<kr::writes<found>>{}, [](auto v) { v(found{})(0) = 0; });
    for (int n = 1; n <= 8; ++n) f.step(race{}, double(n));
    CHECK(f.run(call<kr::reads<found>>{}, [](auto v) { return v(found{})(0); }) == 0);
  }
}

namespace {
struct y : kr::variable<"y", std::int16_t**> {};
struct z : kr::variable<"z", float** [2]> {};
struct at_once : kr::schedule<kr::exchange<x, y, z>> {};
struct in_halves : kr::schedule<kr::exchange<x, y, z>, dawdle> {};
} // namespace

TEST_CASE("residency: long messages go in pieces, and one kernel packs and unpacks what nothing comes between") {
  using peers = by<kr::on_device, kr::staged, kr::peer>;
  keel::for_each_device<devices>([&]<class Tag>(Tag) {
    if (!keel::available<Tag>()) return;
    CAPTURE(Tag::name);
    run<km::mpi> here{Tag::name, {.exchange_through = "peer"}};
    auto const& env = here.environment();
    kr::fields<peers, x, y, z> f{
        here, kr::grid{{2300, 3 * env.size()}, kr::ghost_width{1}, kr::periodic{true}, kr::ranks_in{1, env.size()}}};
    for (int n = 1; n <= 6; ++n) {
      fill<x>(f, n), fill<y>(f, n), fill<z>(f, n), touch<x>(f), touch<y>(f), touch<z>(f);
      n % 2 == 0 ? f.step(at_once{}) : f.step(in_halves{});
      CHECK(wrong_inside<x>(f, n) + wrong_inside<y>(f, n) + wrong_inside<z>(f, n) == 0);
    }
    scatter<x>(f, env.rank());
    auto const all = sums<kr::inside<x>>(env, f);
    f.run(kr::accumulate<x>{});
    CHECK(sums<kr::owned<x>>(env, f) == all);
  });
}

TEST_CASE("residency: memory that peers map is made once, however many fields there are") {
  using peers = by<kr::on_device, kr::peer>;
  auto& memory = keel::space::peer_memory::of_host();
  exchange_by<peers>("simulated", "peer");
  std::size_t const made = memory.made(), mapped = memory.mapped();
  for (int n = 0; n < 200; ++n) {
    run<km::mpi> here{"simulated", {.exchange_through = "peer"}};
    kr::fields<peers, x> f{here, kr::grid{{23, 17}, kr::ghost_width{1}, kr::periodic{true}}};
    f.run(number{}, 1.0);
    f.run(kr::exchange<x>{});
  }
  CHECK(memory.made() == made);
  CHECK(memory.mapped() == mapped);
}

} // namespace transported
