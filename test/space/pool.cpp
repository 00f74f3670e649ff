// SPDX-License-Identifier: MIT
#include <keel/space/pool.hpp>

#include <support/test.hpp>
#include <space/host_bytes.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using pool = keel::space::pool<>;
using pool_resource = pool::resource_type;
using pool_view = Kokkos::View<int*, pool>;

/// Memory that notices two threads which ask for it, or give it back, at once.
struct for_one_at_a_time : keel::test::host_bytes {
  static inline std::atomic<int> inside = 0, met = 0;

  static void meet() {
    if (inside++ != 0) ++met;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --inside;
  }
  void* allocate(std::size_t bytes, std::size_t alignment) const {
    meet();
    return host_bytes::allocate(bytes, alignment);
  }
  void deallocate(void* p, std::size_t bytes, std::size_t alignment) const {
    meet();
    host_bytes::deallocate(p, bytes, alignment);
  }
};

pool of_its_own(keel::space::pool_options options = {}) { return pool(pool_resource(options)); }

} // namespace

TEST_CASE("space: a pool serves many views from few blocks of its upstream") {
  auto const space = of_its_own();
  {
    std::vector<pool_view> views;
    for (int i = 0; i < 1000; ++i) views.emplace_back(Kokkos::view_alloc("small", space), 16);
    auto const held = space.resource().held();
    CHECK(held > 1000 * 16 * sizeof(int));
    views.clear();
    for (int i = 0; i < 1000; ++i) views.emplace_back(Kokkos::view_alloc("small", space), 16);
    CHECK(space.resource().held() == held);
  }
  auto const most = space.resource().high_water();
  space.resource().release();
  CHECK(space.resource().held() == 0);
  CHECK(space.resource().high_water() == most);
}

TEST_CASE("space: a pool takes no more than its limit, and says so") {
  auto const space = of_its_own({.limit = 1 << 20});
  auto const message =
      keel::test::message_of([&] { pool_view const v(Kokkos::view_alloc("too big", space), 1 << 20); });
  CHECK(message.find("pool memory space failed to allocate ") != std::string::npos);
  CHECK(message.find("(label=\"too big\")") != std::string::npos);
  CHECK(message.find("insufficient memory") != std::string::npos); // Kokkos 3's word
  CHECK(space.resource().held() < (1 << 20));
  pool_view const fits(Kokkos::view_alloc("fits", space), 100);
  CHECK(fits.extent(0) == 100);
}

TEST_CASE("space: spaces made by default share one pool, others do not") {
  auto const before = pool().resource().high_water();
  auto const own = of_its_own();
  pool_view const a(Kokkos::view_alloc("a", own), 10);
  CHECK(pool().resource().high_water() == before);
  CHECK(own.resource().held() > 0);
}

TEST_CASE("space: threads that use a pool at once reach its upstream one after another") {
  using upstream = keel::space::memory<for_one_at_a_time>;
  keel::space::pool<upstream> const space(keel::space::pool_resource<upstream>(keel::space::pool_options{}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) space.deallocate(space.allocate(2 << 20), 2 << 20);
    });
  for (auto& thread : threads) thread.join();
  CHECK(for_one_at_a_time::met == 0);
}

TEST_CASE("space: the largest block of a pool is a mebibyte, and its upstream is like no other") {
  CHECK(keel::space::pool_options{}.largest_block == 1 << 20);
  using upstream = keel::space::detail::counted_upstream<Kokkos::HostSpace>;
  upstream const one({}, 100), other({}, 100);
  CHECK(one.is_equal(one));
  CHECK_FALSE(one.is_equal(other));
}
