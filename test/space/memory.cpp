// SPDX-License-Identifier: MIT
#include <keel/space/memory.hpp>

#include <keel/policy/error.hpp>
#include <keel/space/pool.hpp>
#include <keel/space/simulated_memory.hpp>

#include <doctest/doctest.h>
#include <laws/memory_space.hpp>

#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// A user's own resource; counts what it gave and refuses more than it has.
struct counted {
  static constexpr char const* name = "counted";
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
  static inline std::set<void*> given;
  static inline std::size_t limit = 1 << 30;

  void* allocate(std::size_t bytes, std::size_t alignment) const {
    if (bytes > limit) return nullptr;
    void* const p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    given.insert(p);
    return p;
  }
  void deallocate(void* p, std::size_t, std::size_t) const {
    given.erase(p);
    std::free(p);
  }
};
using counted_space = keel::space::memory<counted>;

/// Counts from any thread.
struct shared_out {
  static constexpr char const* name = "shared out";
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
  static inline std::atomic<int> given = 0;
  static inline std::atomic<int> taken = 0;
  void* allocate(std::size_t bytes, std::size_t alignment) const {
    ++given;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void deallocate(void* p, std::size_t, std::size_t) const {
    ++taken;
    std::free(p);
  }
};

using shared_space = keel::space::memory<shared_out>;

/// Tells what it is asked for and gets back, in bytes.
struct listening {
  static constexpr char const* name = "listening";
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
  std::vector<std::size_t>* heard;
  void* allocate(std::size_t bytes, std::size_t) const { return heard->push_back(bytes), std::malloc(bytes); }
  void deallocate(void* p, std::size_t bytes, std::size_t) const { heard->push_back(bytes), std::free(p); }
};

/// Host memory that others write into, and that counts how often it is fenced.
struct fenced {
  static constexpr char const* name = "fenced";
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
  int* fences;
  void* allocate(std::size_t bytes, std::size_t) const { return std::malloc(bytes); }
  void deallocate(void* p, std::size_t, std::size_t) const { std::free(p); }
  void fence() const { ++*fences; }
};

/// Whether what is counted up in `From` arrives in `To`.
template <class From, class To>
bool arrives() {
  Kokkos::View<double*, From> const from("from", 100);
  Kokkos::View<double*, To> const to("to", 100);
  keel::laws::count_up(from);
  Kokkos::deep_copy(to, from);
  return keel::laws::counts_up(to, 100);
}

} // namespace

TYPE_TO_STRING_AS("Kokkos' host space", Kokkos::HostSpace);
TYPE_TO_STRING_AS("a user's space", counted_space);
TYPE_TO_STRING_AS("simulated memory", keel::space::simulated_memory);
TEST_CASE_TEMPLATE_INVOKE(memory_space, Kokkos::HostSpace, counted_space, keel::space::simulated_memory);

TEST_CASE("space: the resource of a space that ends with the expression outlives it") {
  using space = keel::space::pool<>;
  static_assert(std::is_same_v<decltype(std::declval<space&>().resource()), space::resource_type const&>);
  static_assert(std::is_same_v<decltype(space().resource()), space::resource_type>);
  auto const& resource = space(keel::space::pool_resource<Kokkos::HostSpace>({.limit = 1 << 20})).resource();
  void* const p = resource.allocate(100, 64);
  CHECK(resource.held() > 0);
  resource.deallocate(p, 100, 64);
}

TEST_CASE("space: deep copies go from any of keel's spaces to any other") {
  using device_space = keel::space::simulated_memory;
  CHECK(arrives<counted_space, shared_space>());
  CHECK(arrives<counted_space, device_space>());
  CHECK(arrives<device_space, shared_space>());
  CHECK(arrives<device_space, device_space>());
}

TEST_CASE("space: a resource gets back all that it gave") {
  counted::given.clear();
  {
    Kokkos::View<double*, counted_space> a("a", 100);
    auto const b = a;
    Kokkos::View<int**, counted_space> const c("c", 3, 4);
    CHECK(counted::given.size() == 2);
    Kokkos::resize(a, 200);
    CHECK(counted::given.size() == 3);
  }
  CHECK(counted::given.empty());
}

TEST_CASE("space: allocations shared and released on several threads are freed once each") {
  shared_out::given = shared_out::taken = 0;
  {
    std::vector<Kokkos::View<int*, keel::space::memory<shared_out>>> views;
    for (int i = 0; i < 1200; ++i) views.emplace_back("shared", 4);
    std::vector<std::thread> threads;
    std::atomic<int> here = 0;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([mine = views, &here]() mutable {
        for (++here; here < 4;) std::this_thread::yield();
        for (auto const& v : mine)
          for (int again = 0; again < 3000; ++again) { // together on one view, so that they meet
            auto const copy = v;
            if (copy.extent(0) != 4) std::abort();
          }
        mine.clear();
      });
    views.clear();
    for (auto& thread : threads) thread.join();
  }
  CHECK(shared_out::given.load() == 1200);
  CHECK(shared_out::taken.load() == 1200);
}

TEST_CASE("space: host code touches a view of a host resource, and hands it to host code") {
  Kokkos::View<double*, counted_space> const a("a", 10);
  a(3) = 7;
  Kokkos::View<double*, Kokkos::HostSpace> const h = a;
  CHECK(h(3) == 7);
  CHECK(h.label() == "a");
  auto const mirror = Kokkos::create_mirror_view(a);
  CHECK(mirror.data() == a.data());
}

TEST_CASE("space: an exhausted resource says which space, which label, and how much") {
  counted::limit = 1000;
  std::string message;
  try {
    Kokkos::View<double*, counted_space> const a("big one", 1000);
  } catch (keel::error const& thrown) {
    message = thrown.what();
  }
  counted::limit = 1 << 30;
  CHECK(message.find("counted") != std::string::npos);
  CHECK(message.find("big one") != std::string::npos);
  CHECK(message.find("8128") != std::string::npos);
}

TEST_CASE("space: a resource is asked for one byte where none is wanted, and gets it back") {
  std::vector<std::size_t> heard;
  keel::space::memory<listening> const space{listening{&heard}};
  space.deallocate("none", space.allocate("none", 0), 0);
  space.deallocate("some", space.allocate("some", 24), 24);
  CHECK(heard == std::vector<std::size_t>{1, 1, 24, 24});
}

TEST_CASE("space: a space is fenced by its resource, once for each fence") {
  int fences = 0;
  keel::space::memory<fenced> const space{fenced{&fences}};
  space.fence();
  CHECK(fences == 1);
  space.fence();
  CHECK(fences == 2);
}

TEST_CASE("space: a tool hears the user's bytes, or all of them where nothing else is said") {
  counted_space const space;
  auto const heard = [&](auto... bytes) {
    keel::laws::tool const listens("heard");
    space.deallocate("heard", space.allocate("heard", 64, bytes...), 64, bytes...);
    auto const plain = std::pair(listens.given().bytes, listens.taken().bytes);
    space.deallocate("heard", space.allocate(Kokkos::DefaultHostExecutionSpace(), "heard", 64, bytes...), 64, bytes...);
    CHECK(std::pair(listens.given().bytes, listens.taken().bytes) == plain);
    return plain;
  };
  CHECK(heard() == std::pair<std::uint64_t, std::uint64_t>(64, 64));
  CHECK(heard(48) == std::pair<std::uint64_t, std::uint64_t>(48, 48));
}

TEST_CASE("space: host memory reaches and is assigned what Kokkos' own does, and device memory is only copied") {
  using Kokkos::HostSpace;
  using of_device = keel::space::simulated_memory;
  struct to {
    bool accessible, assignable, deepcopy;
  };
  auto const check = []<class To, class From>(To*, From*, to wanted) {
    using access = Kokkos::Impl::MemorySpaceAccess<To, From>;
    CHECK(bool(access::accessible) == wanted.accessible);
    CHECK(bool(access::assignable) == wanted.assignable);
    CHECK(bool(access::deepcopy) == wanted.deepcopy);
  };
  constexpr HostSpace* host = nullptr;
  constexpr counted_space* own = nullptr;
  constexpr shared_space* other = nullptr;
  constexpr of_device* device = nullptr;
  check(host, own, {true, true, true}); // a view of such memory is one of the host's
  check(own, host, {true, false, true});
  check(own, other, {true, false, true});
  check(host, device, {false, false, true});
  check(device, host, {false, false, true});
  check(own, device, {false, false, true});
  static_assert(keel::space::detail::is_hostlike<HostSpace> && keel::space::detail::is_hostlike<counted_space>);
  static_assert(!keel::space::detail::is_hostlike<of_device> && !keel::space::detail::is_hostlike<int>);
  static_assert(keel::space::detail::is_remote<of_device> && !keel::space::detail::is_remote<counted_space> &&
                !keel::space::detail::is_remote<HostSpace>);
  using keel::space::detail::Neighbours;
  static_assert(!Neighbours<HostSpace, HostSpace>);
  static_assert(!Neighbours<counted_space, int> && !Neighbours<int, counted_space>);
}
