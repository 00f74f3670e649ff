// SPDX-License-Identifier: MIT
#include <keel/space/tbb.hpp>

#include <keel/impl/space/reserved_threads.hpp>

#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <support/test.hpp>
#include <support/execution_laws.hpp>

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <thread>

#if KEEL_WITH_TBB

using tbb_space = keel::space::tbb;

KEEPS_ALL_LAWS(tbb_space);

namespace {

using namespace std::chrono_literals;
using tbb_teams = Kokkos::TeamPolicy<tbb_space>;
using team_member = tbb_teams::member_type;

/// A kernel of `count` items.
template <class F>
void run_on(tbb_space const& space, int count, F const& f) {
  Kokkos::parallel_for("run", Kokkos::RangePolicy<tbb_space>(space, 0, count), f);
}
template <class F>
void run_teams(tbb_space const& space, int leagues, int size, F const& f) {
  Kokkos::parallel_for("teams", tbb_teams(space, leagues, size), f);
}
template <class V>
V sum_to(tbb_space const& space, long n, V (*of)(long)) {
  V sum = 0;
  Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<tbb_space>(space, 0, n), [=](long i, V& s) { s += of(i); }, sum);
  return sum;
}
/// Whether a sum has all of its items.
bool sums(tbb_space const& space) {
  return sum_to<long>(space, 10'000, [](long i) { return i; }) == 49'995'000;
}

/// Waits for others, and ends without them after many seconds.
template <class Until>
void wait_until(Until const& until) {
  auto const end = std::chrono::steady_clock::now() + 20s;
  while (!until() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}
void wait_until(std::atomic<bool> const& until) {
  wait_until([&] { return until.load(); });
}

/// Who came to a kernel so far.
class visitors {
public:
  void enter() {
    std::lock_guard const guard(mutex_);
    seen_.insert(std::this_thread::get_id());
  }
  [[nodiscard]] int count() {
    std::lock_guard const guard(mutex_);
    return int(seen_.size());
  }
  void wait_for(int threads) {
    wait_until([&] { return count() >= threads; });
  }

private:
  std::mutex mutex_;
  std::set<std::thread::id> seen_;
};

} // namespace

TEST_CASE("space: a scan on one thread visits each item once, on two a third of them twice") {
  for (int const threads : {1, 2}) {
    CAPTURE(threads);
    std::atomic<int> sums = 0, finals = 0;
    long total = 0;
    Kokkos::parallel_scan(
        Kokkos::RangePolicy<tbb_space>(tbb_space(threads), 0, 30'000),
        [&](long i, long& s, bool final) {
          ++(final ? finals : sums);
          s += i;
        },
        total);
    CHECK(finals == 30'000);
    CHECK(sums == (threads == 1 ? 0 : 10'000));
    CHECK(total == 30'000L * 29'999 / 2);
  }
}

TEST_CASE("space: a scan of values of several cache lines keeps them apart") {
  struct many {
    long values[32] = {};
    void operator+=(many const& other) {
      for (int v = 0; v < 32; ++v) values[v] += other.values[v];
    }
    void operator+=(many const volatile& other) volatile { // as Kokkos before 4 joins
      for (int v = 0; v < 32; ++v) values[v] = values[v] + other.values[v];
    }
  };
  std::vector<int> wrong(1000);
  Kokkos::parallel_scan(Kokkos::RangePolicy<tbb_space>(tbb_space(4), 0, 1000), [&](long i, many& sum, bool final) {
    for (int v = 0; v < 32; ++v) {
      if (final) wrong[std::size_t(i)] += sum.values[v] != i * (i - 1) / 2 + v * i;
      sum.values[v] += i + v;
    }
  });
  CHECK(std::count(wrong.begin(), wrong.end(), 0) == 1000);
}

TEST_CASE("space: a thread that holds a token of the process gets it again, and another thread another") {
  using token = Kokkos::Experimental::UniqueToken<tbb_space, Kokkos::Experimental::UniqueTokenScope::Global>;
  token const all;
  if (all.size() < 2) return; // two threads could not hold one each
  std::array<int, 2> first{-1, -1}, again{-1, -1};
  run_teams(tbb_space(2), 1, 2, [&](team_member const& team) {
    auto const mine = std::size_t(team.team_rank());
    auto const held = all.acquire();
    auto const same = all.acquire();
    all.release(same);
    first[mine] = int(held);
    again[mine] = int(same);
    team.team_barrier();
    all.release(held);
  });
  CHECK(first[0] != first[1]);
  CHECK(first == again);
}

TEST_CASE("space: there are as many tokens as an instance has threads") {
  using token = Kokkos::Experimental::UniqueToken<tbb_space, Kokkos::Experimental::UniqueTokenScope::Instance>;
  CHECK(int(token().size()) == tbb_space().threads());
  CHECK(token(tbb_space(5)).size() == 5);
  token const three(3, tbb_space(5)), one(1, tbb_space(2));
  std::set<std::size_t> held;
  for (int n = 0; n < 3; ++n) held.insert(three.acquire());
  CHECK(held == std::set<std::size_t>{0, 1, 2});
  three.release(1);
  CHECK(three.acquire() == 1);
  CHECK(one.acquire() == 0);
  std::size_t next = 7;
  std::thread waits([&] { next = one.acquire(); });
  std::this_thread::sleep_for(20ms);
  one.release(0);
  waits.join();
  CHECK(next == 0);
}

TEST_CASE("space: an instance of tbb has numbered threads of its own, shared by its copies, also more than cores") {
  tbb_space const all;
  CHECK(all.impl_instance_id() == 1);
  CHECK(all.concurrency() == all.threads());
  std::set<unsigned> ids{1};
  std::vector<tbb_space> instances{all};
  for (int threads : {1, 2, 3, 7}) instances.emplace_back(threads);
  for (auto const& own : instances) {
    int const threads = own.threads();
    CHECK(threads == (own == all ? all.threads() : std::array{1, 2, 3, 7}[ids.size() - 1]));
    CHECK(own.numa_regions() == 1);
#if KOKKOS_VERSION >= 40000
    CHECK(own.concurrency() == threads);
#endif
    auto const copy = own;
    CHECK(copy == own);
    CHECK(copy.impl_instance_id() == own.impl_instance_id());
    CHECK(own != tbb_space(threads));
    CHECK(sums(copy));
    visitors at_once, in_turn;
    std::vector<std::atomic<int>> visits(std::size_t(threads) + 1);
    run_on(own, threads, [&](int) { // each waits for the others
      ++visits[std::min(std::size_t(tbb_space::impl_hardware_thread_id()), visits.size() - 1)];
      at_once.enter();
      at_once.wait_for(threads);
    });
    CHECK(at_once.count() == threads);
    for (std::size_t n = 0; n < visits.size(); ++n) CHECK(visits[n] == (int(n) < threads ? 1 : 0));
    run_on(own, 64, [&](int) {
      in_turn.enter();
      std::this_thread::sleep_for(100us);
    });
    CHECK(in_turn.count() <= threads);
    if (own != all) ids.insert(own.impl_instance_id());
  }
  CHECK(ids.size() == instances.size());
}

TEST_CASE("space: a kernel may launch kernels on its own instance, and on others that launch kernels on it") {
  tbb_space const one(2), two(2);
  std::atomic<long> ran = 0;
  auto const work = [&] {
    for (int turn = 0; turn < 50; ++turn)
      run_on(one, 4, [&](int) {
        run_on(one, 4, [&](int) { ++ran; });
        run_on(two, 4, [&](int) {
          run_on(one, 4, [&](int) { ++ran; });
          one.fence(); // a kernel does not wait for itself
        });
      });
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(ran == 2 * 50 * 4 * (4 + 16));
}

TEST_CASE("space: a thread that waits for its kernel starts no kernel that the program's own oneTBB has ready") {
  tbb_space const space(2);
  std::atomic<bool> busy = false, launched = false;
  std::atomic<int> second_half = 0; // 1 while it runs, 2 when it has ended
  bool overlapped = false;
  ::tbb::task_arena(2).execute([&] {
    ::tbb::task_group tasks;
    tasks.run([&] { // keeps the other thread until half of the kernel is there for it
      busy = true;
      wait_until(launched);
      std::this_thread::sleep_for(1ms);
    });
    wait_until(busy);
    tasks.run([&] { run_on(space, 1, [&](int) { overlapped = second_half == 1; }); });
    run_on(space, 2, [&](int i) {
      if (i == 0) {
        launched = true;
        wait_until([&] { return second_half > 0; });
      } else {
        second_half = 1;
        std::this_thread::sleep_for(20ms);
        second_half = 2;
      }
    });
    tasks.wait();
  });
  CHECK_FALSE(overlapped);
}

TEST_CASE("space: a kernel of tbb is whole where the program's own oneTBB cancels the task that launched it") {
  for (int const width : {2, 3}) { // of the arena that the task runs in, and of another one
    tbb_space const space(width);
    std::atomic<int> ran = 0;
    ::tbb::task_arena(2).execute([&] {
      ::tbb::task_group tasks;
      tasks.run([&] {
        tasks.cancel();
        run_on(space, 64, [&](int) { ++ran; });
        run_on(space, 2, [&](int) { run_on(space, 64, [&](int) { ++ran; }); }); // a kernel in a kernel
      });
      tasks.wait();
    });
    CHECK(ran == 3 * 64);
  }
}

TEST_CASE("space: a kernel in a kernel of tbb is whole where another part of the outer one throws") {
  tbb_space const space(2);
  std::atomic<int> ran = 0;
  std::atomic<bool> is_other_there = false, is_thrown = false;
  auto const outer = [&](int i) {
    if (i == 0) {
      wait_until(is_other_there);
      is_thrown = true;
      throw 7;
    }
    is_other_there = true;
    wait_until(is_thrown);
    std::this_thread::sleep_for(20ms); // until oneTBB has cancelled what it can
    run_on(space, 64, [&](int) { ++ran; });
  };
  CHECK_THROWS_AS(run_on(space, 2, outer), int);
  CHECK(ran == 64);
  CHECK(sums(space));
}

TEST_CASE("space: threads and regions that cannot be are errors") {
  CHECK_THROWS_AS(tbb_space(0), keel::error);
  CHECK_THROWS_AS(tbb_space(1, keel::space::numa_region{tbb_space::max_numa_regions()}), keel::error);
  CHECK_THROWS_AS(tbb_space(1, keel::space::numa_region{-1}), keel::error);
  CHECK_THROWS_AS(tbb_space(keel::space::settings{.numa_regions = tbb_space::max_numa_regions() + 1}), keel::error);
  CHECK(tbb_space(keel::space::settings{}).threads() >= 1);
  tbb_space const bound(2, keel::space::numa_region{0});
  CHECK(bound.threads() == 2);
  CHECK(sums(bound));
}

TEST_CASE("space: the threads of a team run at once, also more than cores, and teams run beside each other") {
  tbb_space const space(7);
  for (int size : {2, 3, 7}) {
    Kokkos::View<int*, tbb_space> const arrived("arrived", 20), numbers("numbers", 7);
    run_teams(space, 20, size, [=](team_member const& team) {
      Kokkos::atomic_add(&arrived(team.league_rank()), 1);
      while (Kokkos::atomic_fetch_add(&arrived(team.league_rank()), 0) < size) std::this_thread::yield();
      Kokkos::atomic_add(&numbers(tbb_space::impl_hardware_thread_id()), 1);
    });
    CHECK(keel::laws::holds(arrived, [=](int) { return size; }));
    CHECK(keel::laws::total(numbers) == 20 * size);
    for (int i = 0; i < 7 / size * size; ++i) CHECK(numbers(i) > 0);
    long sum = 0; // each thread of a team adds
    Kokkos::parallel_reduce(
        "sum", tbb_teams(space, 20, size), [](team_member const& team, long& s) { s += team.league_rank(); }, sum);
    CHECK(sum == 190 * size);
  }
}

// Where Kokkos' library was built for one thread, its own start of a team loses threads, once in some hundred kernels.
TEST_CASE("space: the threads of a wide team all come, three hundred times") {
  tbb_space const space(64);
  std::atomic<int> came{0};
  for (int n = 0; n < 300; ++n) run_teams(space, 1, 64, [&](team_member const&) { ++came; });
  CHECK(came == 64 * 300);
}

TEST_CASE("space: a thread of a team may launch teams") {
  tbb_space const space(4);
  std::atomic<int> ran = 0;
  run_teams(space, 2, 2, [&](team_member const& outer) {
    run_teams(space, 3, 2, [&](team_member const& inner) {
      ++ran;
      inner.team_barrier();
    });
    outer.team_barrier();
  });
  CHECK(ran == 2 * 2 * 3 * 2);
}

TEST_CASE("space: each state of a pool of random numbers is held by one thread, and another waits until one is free") {
  using search = keel::space::detail::state_search<tbb_space>;
  Kokkos::View<int*, Kokkos::HostSpace> const all("all", 4);
  auto const locks = Kokkos::subview(all, std::make_pair(0, 3)); // the fourth is none of the pool's
  std::set<int> held;
  for (int n = 0; n < 3; ++n) held.insert(search::get_state_idx(locks));
  CHECK(held == std::set{0, 1, 2});
  for (int const free : {1, 2, 0}) {
    std::thread other([&] {
      std::this_thread::sleep_for(20ms);
      Kokkos::atomic_exchange(&locks(free), 0);
    });
    CHECK(search::get_state_idx(locks) == free);
    other.join();
    CHECK(keel::laws::holds(all, [](int n) { return n < 3 ? 1 : 0; }));
  }
}

#if KOKKOS_VERSION < 40000 && defined(KOKKOS_INTERNAL_NOT_PARALLEL)
TEST_CASE("space: a lock for atomics is held by one at a time") {
  double place = 0;
  CHECK(Kokkos::Impl::lock_address_host_space(&place));
  CHECK_FALSE(Kokkos::Impl::lock_address_host_space(&place));
  Kokkos::Impl::unlock_address_host_space(&place);
  CHECK(Kokkos::Impl::lock_address_host_space(&place));
  Kokkos::Impl::unlock_address_host_space(&place);
}
#endif

TEST_CASE("space: threads of teams run at once, are kept for the next kernel, and start again after a stop") {
  auto const threads_here = [] {
    std::filesystem::directory_iterator const tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  auto const become = [&](auto count) { // a thread that was joined is listed for a moment longer
    for (int n = 0; n < 2'000 && threads_here() != count; ++n) std::this_thread::sleep_for(1ms);
    return threads_here() == count;
  };
  keel::space::detail::reserved_threads team;
  auto const use = [&](int count) {
    std::atomic<int> here = 0;
    std::vector<std::thread::id> ids(std::size_t(count), std::thread::id{});
    team.run(count, [&](int i) {
      ids[std::size_t(i)] = std::this_thread::get_id();
      ++here;
      while (here < count) std::this_thread::yield();
    });
    return ids;
  };
  auto const before = threads_here();
  auto const first = use(3);
  CHECK(become(before + 2));
  CHECK(first[0] == std::this_thread::get_id());
  CHECK(std::set(first.begin(), first.end()).size() == 3);
  CHECK(use(3) == first);
  CHECK(use(2) == std::vector{first[0], first[1]});
  CHECK(use(1) == std::vector{first[0]});
  auto const wider = use(4);
  CHECK(std::equal(first.begin(), first.end(), wider.begin()));
  CHECK(become(before + 3));
  team.stop();
  CHECK(become(before));
  CHECK(std::ranges::count(use(3), std::thread::id{}) == 0);
  CHECK(become(before + 2));
}

TEST_CASE("space: a dynamic schedule gives the next chunk to a free thread") {
  if (tbb_space().threads() < 2) return;
  using dynamic = Kokkos::RangePolicy<tbb_space, Kokkos::Schedule<Kokkos::Dynamic>>;
  // The first index waits until another thread works on the first half, which an even cut would give to one.
  visitors all;
  Kokkos::parallel_for("uneven", dynamic(tbb_space(2), 0, 64), [&](int i) {
    if (i < 32) all.enter();
    if (i == 0) all.wait_for(2);
  });
  CHECK(all.count() == 2);
}

TEST_CASE("space: tbb gives the same bits every time") {
  auto const sum = [] { return sum_to<double>(tbb_space(), 100'000, [](long i) { return 1.0 / double(i + 1); }); };
  double const first = sum();
  bool same = true;
  for (int i = 0; i < 50; ++i) same = same && sum() == first;
  CHECK(same);
}

#else

TEST_CASE("space: tbb is an execution space") { keel::test::skip("no oneTBB"); }

#endif
