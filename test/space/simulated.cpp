// SPDX-License-Identifier: MIT
#include <keel/space/simulated.hpp>

#include <support/test.hpp>
#include <support/execution_laws.hpp>

#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <fstream>
#include <thread>

namespace {

using keel::space::simulated;
using keel::space::simulated_memory;
using namespace std::chrono_literals;
using range = Kokkos::RangePolicy<simulated>;
using device_view = Kokkos::View<int*, simulated_memory>;
using host_view = Kokkos::View<int*, Kokkos::HostSpace>;

// Structs where nvcc takes no lambda: in a constructor, and in another one.
struct wait_for {
  std::atomic<bool> const* go;
  void operator()(int) const {
    while (!go->load()) std::this_thread::yield();
  }
};
struct fill_inside {
  device_view where;
  void operator()(int) const {
    device_view const device = where;
    Kokkos::parallel_for("inner", range(0, 10), KOKKOS_LAMBDA(int i) { device(i) = i; });
  }
};

/// A kernel that runs until it is let go, however long the host takes.
class held {
public:
  explicit held(simulated const& space) { Kokkos::parallel_for("held", range(space, 0, 1), wait_for{&go_}); }
  void let_go() { go_ = true; }

private:
  std::atomic<bool> go_ = false;
};

void throw_behind(simulated const& space, char const* text) {
  Kokkos::parallel_for("throws", range(space, 0, 3), [=](int i) {
    if (i == 1) throw std::out_of_range(text);
  });
}
template <class Wait>
std::string thrown_by(Wait const& wait) {
  try {
    wait();
  } catch (std::out_of_range const& e) {
    return e.what();
  }
  return "nothing";
}

} // namespace

KEEPS_ALL_LAWS(simulated);

TEST_CASE("space: a simulated kernel runs behind its caller and beside other instances, and a fence waits for it") {
  simulated const space;
  auto const own = simulated::new_instance();
  CHECK(own != space);
  CHECK(own == simulated(own));
  std::atomic<int> ran = 0, beside = 0;
  held kernel(space);
  Kokkos::parallel_for("count", range(space, 0, 10), [&](int) { ++ran; });
  Kokkos::parallel_for("beside", range(own, 0, 1), [&](int) { ++beside; });
  own.fence();
  CHECK(beside == 1);
  CHECK(ran == 0);
  kernel.let_go();
  space.fence();
  CHECK(ran == 10);
  for (auto const& each : {own, simulated::new_instance()})
    Kokkos::parallel_for("slow", range(each, 0, 1), [&](int) {
      std::this_thread::sleep_for(20ms);
      ++beside;
    });
  Kokkos::fence(); // for every instance
  CHECK(beside == 3);
}

TEST_CASE("space: threads of the simulated device have number 0, as its fence of all instances has for tools") {
  CHECK(simulated::impl_hardware_thread_id() == 0);
  CHECK(simulated::impl_max_hardware_threads() == 1);
  namespace tools = Kokkos::Tools::Experimental;
  CHECK(tools::DeviceTypeTraits<simulated>::device_id(simulated()) == 0);
  keel::laws::heard_fences const heard;
  simulated::impl_static_fence();
  CHECK(heard.count(": Unnamed Global Fence", std::uint32_t(tools::DeviceTypeTraits<simulated>::id) << 24) == 1);
}

TEST_CASE("space: bytes are filled with zeros in the order of the queue") {
  simulated const space;
  std::vector<unsigned char> bytes(100'000, 7);
  keel::space::detail::fill_with_zeros(space, bytes.data() + 1, bytes.size() - 2);
  space.fence();
  CHECK(std::count(bytes.begin(), bytes.end(), 0) == 99'998);
  CHECK((bytes.front() == 7 && bytes.back() == 7));
}

TEST_CASE("space: a team policy keeps sizes and scratch memory when its properties change") {
  using plain = Kokkos::TeamPolicy<simulated>;
  plain policy(simulated(), 3, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(100), Kokkos::PerThread(10));
  policy.set_scratch_size(1, Kokkos::PerTeam(1000), Kokkos::PerThread(20));
  Kokkos::TeamPolicy<simulated, Kokkos::Schedule<Kokkos::Dynamic>> const other(policy);
  CHECK(other.league_size() == 3);
  CHECK(other.team_size() == 1);
  CHECK(int(other.scratch_size(0)) == 110);
  CHECK(int(other.scratch_size(1)) == 1020);
  CHECK(plain(simulated(), 3, Kokkos::AUTO).team_size() == 1);
  CHECK(plain::scratch_size_max(0) == 32 << 10); // as on Kokkos' own host spaces of every version
  CHECK(plain::scratch_size_max(1) == 20 << 20); // Kokkos 5 has 80 MiB on OpenMP
}

TEST_CASE("space: kernels and copies of an instance run in the order given") {
  simulated const space;
  device_view const device("device", 4);
  host_view const in("in", 4), out("out", 4);
  Kokkos::deep_copy(in, 5);
  held kernel(space);
  Kokkos::deep_copy(space, device, in);
  Kokkos::parallel_for("add", range(space, 0, 4), KOKKOS_LAMBDA(int i) { device(i) += i; });
  Kokkos::deep_copy(space, out, device);
  CHECK(out(3) == 0);
  in(3) = 10; // seen: the copy is still to come
  kernel.let_go();
  space.fence();
  CHECK(out(0) == 5);
  CHECK(out(2) == 7);
  CHECK(out(3) == 13);
}

TEST_CASE("space: a result for the host is there when the reduction returns") {
  simulated const space;
  held kernel(space);
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    kernel.let_go();
  });
  Kokkos::View<int, Kokkos::HostSpace> const sum("sum");
  Kokkos::parallel_reduce("sum", range(space, 0, 10), KOKKOS_LAMBDA(int i, int& s) { s += i; }, sum);
  CHECK(sum() == 45);
  later.join();
}

TEST_CASE("space: memory is not given back while a kernel may use it, and while an exception waits for its caller") {
  simulated const space;
  std::atomic<int> last = 0;
  {
    device_view const own("own", 1000);
    Kokkos::parallel_for("slow", range(space, 0, 1000), [=, seen = &last](int i) {
      if (i == 0) std::this_thread::sleep_for(20ms);
      own(i) = i;
      *seen = own(i);
    });
  }
  CHECK(last == 999);
  {
    device_view const v("v", 3);
    throw_behind(space, "kept");
  }
  CHECK(thrown_by([&] { space.fence(); }) == "kept");
}

TEST_CASE("space: new memory is poisoned") {
  device_view const device(Kokkos::view_alloc("device", Kokkos::WithoutInitializing), 5);
  host_view const out("out", 5);
  Kokkos::deep_copy(out, device);
  for (int i = 0; i < 5; ++i) CHECK(std::uint32_t(out(i)) == keel::space::poison_word);
}

TEST_CASE("space: a kernel on a view in simulated memory may call another in place") {
  simulated const space;
  device_view const device("device", 10);
  Kokkos::parallel_for("outer", range(space, 0, 1), fill_inside{device});
  int sum = 0;
  Kokkos::parallel_reduce("sum", range(space, 0, 10), KOKKOS_LAMBDA(int i, int& s) { s += device(i); }, sum);
  CHECK(sum == 45);
}

TEST_CASE("space: a nest visits its tiles in its outer direction, and each tile in its inner one") {
  using point = std::pair<int, int>;
  using Kokkos::Iterate;
  auto const first_two_tiles = [](auto outer, auto inner) {
    using policy = Kokkos::MDRangePolicy<simulated, Kokkos::Rank<2, decltype(outer)::value, decltype(inner)::value>>;
    std::vector<point> points;
    Kokkos::parallel_for("points", policy({0, 0}, {4, 4}, {2, 2}), [&](int i, int j) { points.emplace_back(i, j); });
    simulated().fence();
    CHECK(points.size() == 16);
    points.resize(8);
    return points;
  };
  constexpr std::integral_constant<Iterate, Iterate::Right> right;
  constexpr std::integral_constant<Iterate, Iterate::Left> left;
  using points = std::vector<point>;
  CHECK(first_two_tiles(right, right) == points{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}});
  CHECK(first_two_tiles(left, left) == points{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {3, 0}, {2, 1}, {3, 1}});
  CHECK(first_two_tiles(right, left) == points{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}});
}

TEST_CASE("space: what a simulated kernel throws, the next fence, reduction or copy throws, with its text, and once") {
  simulated const space;
  int sum = 0;
  device_view const v("v", 3);
  auto const fence = [&] { space.fence(); };
  auto const reduce = [&] { Kokkos::parallel_reduce("sum", range(space, 0, 3), [](int i, int& s) { s += i; }, sum); };
  throw_behind(space, "index 1");
  CHECK(thrown_by(fence) == "index 1");
  CHECK(thrown_by(fence) == "nothing");
  throw_behind(space, "again");
  CHECK(thrown_by([] { Kokkos::fence(); }) == "again");
  throw_behind(space, "before a sum");
  CHECK(thrown_by(reduce) == "before a sum");
  CHECK(thrown_by(reduce) == "nothing");
  CHECK(sum == 3);
  throw_behind(space, "before a copy");
  CHECK(thrown_by([&] { Kokkos::deep_copy(v, 0), Kokkos::fence(); }) == "before a copy");
}

TEST_CASE("space: what was launched between a kernel that throws and the fence is dropped") {
  simulated const space;
  int runs = 0;
  auto const launch = [&] { Kokkos::parallel_for("runs", range(space, 0, 1), [&](int) { ++runs; }); };
  throw_behind(space, "index 1");
  launch();
  CHECK(thrown_by([&] { space.fence(); }) == "index 1");
  CHECK(runs == 0);
  launch();
  space.fence();
  CHECK(runs == 1);
}

TEST_CASE("space: a caller that never fences comes a bounded number of kernels ahead of the simulated device") {
  constexpr int count = 10'000;
  auto const space = simulated::new_instance();
  std::atomic<int> launched = 0, ran = 0;
  held kernel(space);
  std::thread caller([&] {
    for (int n = 0; n < count; ++n, ++launched) Kokkos::parallel_for("counts", range(space, 0, 1), [&](int) { ++ran; });
  });
  for (int before = -1; before != launched;) {
    before = launched;
    std::this_thread::sleep_for(300ms);
  }
  CHECK(launched > 1000);
  CHECK(launched <= int(keel::space::detail::queue::most_ahead));
  CHECK(ran == 0);
  kernel.let_go();
  caller.join();
  space.fence();
  CHECK(ran == count);
}

TEST_CASE("space: the poison is no number, known as an integer, and fills bytes to the last and no further") {
  double d[2];
  keel::space::detail::fill_with_poison(d, sizeof d);
  auto const bits = std::bit_cast<std::uint64_t>(d[1]);
  CHECK((bits & 0x7ff8'0000'0000'0000) == 0x7ff0'0000'0000'0000); // signalling
  CHECK(std::isnan(std::bit_cast<float>(keel::space::poison_word)));
  CHECK(std::bit_cast<std::int32_t>(keel::space::poison_word) == 2'146'754'221);
  unsigned char bytes[16] = {};
  keel::space::detail::fill_with_poison(bytes, 7);
  CHECK(bytes[3] == 0x7f);
  CHECK(bytes[6] == 0xf4);
  CHECK(bytes[7] == 0);
}

TEST_CASE("space: closed pages are as many as asked for, apart from each other, and given back") {
  auto& pages = keel::space::detail::guarded_pages::all();
  std::size_t const ahead = keel::space::detail::bytes_ahead, page = std::size_t(sysconf(_SC_PAGESIZE));
  for (std::size_t bytes : {ahead + 1, ahead + page, ahead + page + 1}) {
    std::vector<unsigned char*> all(8);
    for (auto& p : all) p = static_cast<unsigned char*>(pages.allocate(bytes, ahead));
    for (std::size_t n = 0; n < all.size(); ++n) std::memset(all[n], int(n + 1), bytes);
    for (std::size_t n = 0; n < all.size(); ++n) CHECK(std::size_t(std::count(all[n], all[n] + bytes, n + 1)) == bytes);
    for (auto* const p : all) CHECK(pages.deallocate(p));
  }
  auto const mapped_pages = [] {
    long size = 0;
    std::ifstream("/proc/self/statm") >> size;
    return size;
  };
  long const before = mapped_pages();
  for (int n = 0; n < 1000; ++n) CHECK(pages.deallocate(pages.allocate(ahead + 16 * page, ahead)));
  CHECK(mapped_pages() - before < 8000);
}
