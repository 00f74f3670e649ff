// SPDX-License-Identifier: MIT
#include <keel/space/pool.hpp>

#include <doctest/doctest.h>
#include <laws/memory_space.hpp>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using pool = keel::space::pool<>;
using resource = pool::resource_type;
using view = Kokkos::View<int*, pool>;

pool of_its_own(keel::space::pool_options options = {}) { return pool(resource(options)); }

} // namespace

TYPE_TO_STRING_AS("a pool of host memory", pool);
TEST_CASE_TEMPLATE_INVOKE(memory_space, pool);

TEST_CASE("space: a pool serves many views from few blocks of its upstream") {
  auto const space = of_its_own();
  {
    std::vector<view> views;
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
  std::string message;
  try {
    view const v(Kokkos::view_alloc("too big", space), 1 << 20);
  } catch (std::runtime_error const& thrown) { // as Kokkos' own spaces, in their words
    message = thrown.what();
  }
  CHECK(message.find("pool memory space failed to allocate ") != std::string::npos);
  CHECK(message.find("(label=\"too big\")") != std::string::npos);
  CHECK(message.find("insufficient memory") != std::string::npos); // Kokkos 3's word
  CHECK(space.resource().held() < (1 << 20));
  view const fits(Kokkos::view_alloc("fits", space), 100);
  CHECK(fits.extent(0) == 100);
}

TEST_CASE("space: spaces made by default share one pool, others do not") {
  auto const before = pool().resource().high_water();
  auto const own = of_its_own();
  view const a(Kokkos::view_alloc("a", own), 10);
  CHECK(pool().resource().high_water() == before);
  CHECK(own.resource().held() > 0);
}

TEST_CASE("space: a pool may be used from many threads at once") {
  auto const space = of_its_own();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        std::size_t const bytes = 1 + static_cast<std::size_t>(i * 7 % 500);
        auto* const p = static_cast<unsigned char*>(space.allocate("p", bytes));
        p[0] = static_cast<unsigned char>(t);
        p[bytes - 1] = static_cast<unsigned char>(t);
        wrong[t] += p[0] != t;
        space.deallocate("p", p, bytes);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}
