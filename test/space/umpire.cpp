// SPDX-License-Identifier: MIT
#include <keel/space/umpire.hpp>

#include <support/test.hpp>

#if KEEL_WITH_UMPIRE

#include <laws/memory_space.hpp>

#include <umpire/strategy/QuickPool.hpp>
#include <umpire/strategy/SizeLimiter.hpp>

#include <thread>

namespace {

namespace ks = keel::space;
using space = ks::umpire<>;
using resource = ks::umpire_resource<>;
using view = Kokkos::View<char*, space>;
using keel::test::message_of;

} // namespace

TYPE_TO_STRING_AS("Umpire over host memory", space);
TEST_CASE_TEMPLATE_INVOKE(memory_space, space);

TEST_CASE("space: an allocator of Umpire's is found by name, and a new one is made from a strategy") {
  auto const pool = resource().make<::umpire::strategy::QuickPool>("a pool", 1 << 20);
  CHECK(pool.allocator().getStrategyName() == "QuickPool");
  space const named(resource("a pool"));
  {
    view const v(Kokkos::view_alloc("v", named), 100);
    CHECK(pool.allocator().getAllocationCount() == 1);
    CHECK(pool.held() >= (1 << 20));
    CHECK(pool.high_water() >= 100);
  }
  CHECK(pool.allocator().getAllocationCount() == 0);
  CHECK(message_of([] { resource().make<::umpire::strategy::QuickPool>("a pool"); }).find("'a pool' already") !=
        std::string::npos);
}

TEST_CASE("space: an unknown name, an exhausted allocator and another upstream are three errors") {
  auto const unknown = message_of([] { resource("no such pool"); });
  CHECK(unknown.find("knows no allocator 'no such pool'") != std::string::npos);
  CHECK(unknown.find("HOST") != std::string::npos);

  space const limited(resource().make<::umpire::strategy::SizeLimiter>("limited", std::size_t{4096}));
  auto const full = message_of([&] { view const v(Kokkos::view_alloc("too big", limited), 5000); });
  CHECK(full.find("bytes (label=\"too big\")") != std::string::npos);
  CHECK(full.find("Umpire's allocator 'limited' says: Size limit exceeded.") != std::string::npos);
  CHECK(full.find('\n') == std::string::npos);
  view const fits(Kokkos::view_alloc("fits", limited), 1000);
  CHECK(fits.extent(0) == 1000);

  auto& manager = ::umpire::ResourceManager::getInstance();
  for (std::string const other : {"FILE", "SHARED", "NO_OP"})
    if (auto const names = manager.getResourceNames(); std::find(names.begin(), names.end(), other) != names.end())
      CHECK(message_of([&] { resource(manager.makeResource(other)); }).find("'" + other + "' is not over Host") !=
            std::string::npos);
}

TEST_CASE("space: Umpire gives something for no bytes, aligned like the rest") {
  void* const none = space().allocate("none", 0);
  CHECK(none != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(none) % space::alignment == 0);
  space().deallocate("none", none, 0);
}

TEST_CASE("space: an allocator of Umpire's may be used from many threads at once") {
  auto const pool = resource().make<::umpire::strategy::QuickPool>("for threads", 1 << 20);
  space const shared(pool);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < 2000; ++i) shared.deallocate("p", shared.allocate("p", i % 500), i % 500);
    });
  for (auto& thread : threads) thread.join();
  CHECK(pool.allocator().getAllocationCount() == 0);
}

#else

TEST_CASE("space: memory of Umpire's is a memory space") { keel::test::skip("no Umpire"); }

#endif
