// SPDX-License-Identifier: MIT
#include <keel/space/simulated.hpp>

#include <doctest/doctest.h>
#include <support/execution_laws.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using keel::space::simulated;
using keel::space::simulated_memory;
using range = Kokkos::RangePolicy<simulated>;
using device_view = Kokkos::View<int*, simulated_memory>;

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

} // namespace

KEEPS_ALL_LAWS(simulated);

TEST_CASE("space: a simulated kernel runs behind its caller, and a fence waits for it") {
  simulated const space;
  std::atomic<int> ran = 0;
  auto* const count = &ran;
  held kernel(space);
  Kokkos::parallel_for("count", range(space, 0, 10), KOKKOS_LAMBDA(int) { ++*count; });
  CHECK(ran == 0);
  kernel.let_go();
  space.fence();
  CHECK(ran == 10);
}

TEST_CASE("space: threads of the simulated device are numbered from 0, below its concurrency") {
  CHECK(int(simulated::impl_hardware_thread_id()) < simulated().concurrency());
  CHECK(simulated::impl_max_hardware_threads() == 1);
}

TEST_CASE("space: tools hear of the first device of its kind") {
  CHECK(Kokkos::Tools::Experimental::DeviceTypeTraits<simulated>::device_id(simulated()) == 0);
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
  using dynamic = Kokkos::TeamPolicy<simulated, Kokkos::Schedule<Kokkos::Dynamic>>;
  plain policy(simulated(), 3, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(100), Kokkos::PerThread(10));
  policy.set_scratch_size(1, Kokkos::PerTeam(1000), Kokkos::PerThread(20));
  auto const check = [](auto const& p) {
    CHECK(p.league_size() == 3);
    CHECK(p.team_size() == 1);
    CHECK(int(p.scratch_size(0)) == 110);
    CHECK(int(p.scratch_size(1)) == 1020);
  };
  check(policy);
  check(dynamic(policy));
  CHECK(plain(simulated(), 3, Kokkos::AUTO).team_size() == 1);
}

TEST_CASE("space: Kokkos::fence waits for every instance") {
  auto const one = simulated::new_instance();
  auto const two = simulated::new_instance();
  CHECK(one != two);
  CHECK(one == simulated(one));
  std::atomic<int> ran = 0;
  auto* const count = &ran;
  for (auto const& space : {one, two})
    Kokkos::parallel_for("slow", range(space, 0, 1), [=](int) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++*count;
    });
  Kokkos::fence();
  CHECK(ran == 2);
}

TEST_CASE("space: instances do not wait for each other") {
  auto const own = simulated::new_instance();
  simulated const space;
  held kernel(space);
  std::atomic<int> ran = 0;
  auto* const count = &ran;
  Kokkos::parallel_for("beside", range(own, 0, 1), KOKKOS_LAMBDA(int) { ++*count; });
  own.fence();
  CHECK(ran == 1);
  kernel.let_go();
  space.fence();
}

TEST_CASE("space: kernels and copies of an instance run in the order given") {
  simulated const space;
  device_view const device("device", 4);
  Kokkos::View<int*, Kokkos::HostSpace> const in("in", 4);
  Kokkos::View<int*, Kokkos::HostSpace> const out("out", 4);
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
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kernel.let_go();
  });
  Kokkos::View<int, Kokkos::HostSpace> const sum("sum");
  Kokkos::parallel_reduce("sum", range(space, 0, 10), KOKKOS_LAMBDA(int i, int& s) { s += i; }, sum);
  CHECK(sum() == 45);
  later.join();
}

TEST_CASE("space: memory is not given back while a kernel may use it") {
  simulated const space;
  std::atomic<int> last = 0;
  auto* const seen = &last;
  auto device = std::make_unique<device_view>("device", 1000);
  auto const raw = *device;
  {
    device_view const own("own", 1000);
    Kokkos::parallel_for("slow", range(space, 0, 1000), [=](int i) {
      if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      own(i) = i;
      *seen = own(i);
    });
  }
  CHECK(last == 999);
}

TEST_CASE("space: new memory is poisoned, and can be poisoned again") {
  device_view const device(Kokkos::view_alloc("device", Kokkos::WithoutInitializing), 5);
  auto const host = Kokkos::create_mirror_view(device);
  Kokkos::deep_copy(host, device);
  CHECK(std::uint32_t(host(0)) == keel::space::poison_word);
  CHECK(std::uint32_t(host(4)) == keel::space::poison_word);
  Kokkos::deep_copy(device, 1);
  keel::space::poison(device);
  Kokkos::deep_copy(host, device);
  CHECK(std::uint32_t(host(4)) == keel::space::poison_word);

  simulated const space;
  Kokkos::deep_copy(device, 1);
  Kokkos::View<int*, Kokkos::HostSpace> const out("out", 5);
  held kernel(space);
  keel::space::poison(space, device);
  kernel.let_go();
  Kokkos::deep_copy(space, out, device);
  space.fence();
  CHECK(std::uint32_t(out(2)) == keel::space::poison_word);
}

TEST_CASE("space: a kernel on a view in simulated memory may call another in place") {
  simulated const space;
  device_view const device("device", 10);
  Kokkos::parallel_for("outer", range(space, 0, 1), fill_inside{device});
  int sum = 0;
  Kokkos::parallel_reduce("sum", range(space, 0, 10), KOKKOS_LAMBDA(int i, int& s) { s += device(i); }, sum);
  CHECK(sum == 45);
}

TEST_CASE("space: host code may neither touch nor take simulated memory") {
  CHECK_FALSE(Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, simulated_memory>::accessible);
  CHECK_FALSE(Kokkos::SpaceAccessibility<simulated, Kokkos::HostSpace>::accessible);
  CHECK_FALSE(Kokkos::SpaceAccessibility<Kokkos::HostSpace, simulated_memory>::assignable);
}

TEST_CASE("space: tools hear a fence of all instances as number 0, and one of an instance as its number") {
  namespace tools = Kokkos::Tools::Experimental;
  auto const type = std::uint32_t(tools::DeviceTypeTraits<simulated>::id);
  simulated const space;
  keel::laws::heard_fences const heard;
  simulated::impl_static_fence();
  CHECK(heard.count(": Unnamed Global Fence", type * 0x1000000) == 1);
  space.fence();
  CHECK(heard.count("::fence: Unnamed Instance Fence", type * 0x1000000 + 1) == 1);
  CHECK(heard.all_ended());
}

TEST_CASE("space: a nest visits its tiles in its outer direction, and each tile in its inner one") {
  using point = std::pair<int, int>;
  using Kokkos::Iterate;
  auto const visited = [](auto outer, auto inner) {
    using policy = Kokkos::MDRangePolicy<simulated, Kokkos::Rank<2, decltype(outer)::value, decltype(inner)::value>>;
    std::vector<point> points;
    Kokkos::parallel_for("points", policy({0, 0}, {4, 4}, {2, 2}), [&](int i, int j) { points.emplace_back(i, j); });
    simulated().fence();
    return points;
  };
  constexpr std::integral_constant<Iterate, Iterate::Right> right;
  constexpr std::integral_constant<Iterate, Iterate::Left> left;
  auto const first_two_tiles = [&](auto outer, auto inner) {
    auto points = visited(outer, inner);
    CHECK(points.size() == 16);
    points.resize(8);
    return points;
  };
  using points = std::vector<point>;
  CHECK(first_two_tiles(right, right) == points{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}});
  CHECK(first_two_tiles(left, left) == points{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {3, 0}, {2, 1}, {3, 1}});
  CHECK(first_two_tiles(right, left) == points{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}});
}
