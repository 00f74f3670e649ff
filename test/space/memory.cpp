// SPDX-License-Identifier: MIT
#include <keel/space/memory.hpp>

#include <keel/space/numa.hpp>
#include <keel/space/pinned.hpp>
#include <keel/space/pool.hpp>
#include <keel/space/simulated_memory.hpp>

#include <support/test.hpp>
#include <laws/memory_space.hpp>
#include <space/host_bytes.hpp>

#include <atomic>
#include <thread>

namespace {

namespace ks = keel::space;
using counted = keel::test::counted_bytes;
using counted_space = ks::memory<counted>;
using other_space = ks::memory<keel::test::host_bytes>;

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

TYPE_TO_STRING_AS("a user's space", counted_space);
TYPE_TO_STRING_AS("simulated memory", ks::simulated_memory);
TYPE_TO_STRING_AS("a pool of host memory", ks::pool<>);
TYPE_TO_STRING_AS("pinned", ks::pinned); // Kokkos' host space where it has no accelerator: the control
TYPE_TO_STRING_AS("numa<0>", ks::numa<0>);
TYPE_TO_STRING_AS("numa_interleave", ks::numa_interleave);
TEST_CASE_TEMPLATE_INVOKE(memory_space, counted_space, ks::simulated_memory, ks::pool<>, ks::pinned, ks::numa<0>,
                          ks::numa_interleave);

TEST_CASE("space: the resource of a space that ends with the expression outlives it") {
  using space = ks::pool<>;
  static_assert(std::is_same_v<decltype(std::declval<space&>().resource()), space::resource_type const&>);
  static_assert(std::is_same_v<decltype(space().resource()), space::resource_type>);
  auto const& resource = space(ks::pool_resource<Kokkos::HostSpace>({.limit = 1 << 20})).resource();
  void* const p = resource.allocate(100, 64);
  CHECK(resource.held() > 0);
  resource.deallocate(p, 100, 64);
}

TEST_CASE("space: deep copies go from any of keel's spaces to any other") {
  CHECK(arrives<counted_space, other_space>());
  CHECK(arrives<counted_space, ks::simulated_memory>());
  CHECK(arrives<ks::simulated_memory, other_space>());
  CHECK(arrives<ks::simulated_memory, ks::simulated_memory>());
}

TEST_CASE("space: allocations shared and released on several threads are freed once each") {
  counted::given = counted::taken = 0;
  {
    std::vector<Kokkos::View<int*, counted_space>> views;
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
  CHECK(counted::given == 1200);
  CHECK(counted::taken == 1200);
}

TEST_CASE_TEMPLATE("space: host code touches a view of a host resource, and hands it to host code", Space,
                   counted_space, ks::pool<>, ks::pinned) {
  Kokkos::View<double*, Space> const a("a", 10);
  a(3) = 7;
  Kokkos::View<double*, Kokkos::HostSpace> const h = a;
  CHECK(h(3) == 7);
  CHECK(h.label() == "a");
  CHECK(Kokkos::create_mirror_view(a).data() == a.data());
}

TEST_CASE("space: an exhausted resource says which space, which label, and how much") {
  counted::limit = 1000;
  auto const said = keel::test::message_of([] { Kokkos::View<double*, counted_space> const a("big one", 1000); });
  counted::limit = 1 << 30;
  for (auto const* const words : {"counted", "big one", "8128"}) CHECK(said.find(words) != std::string::npos);
}

TEST_CASE("space: a resource is asked for one byte where none is wanted, and gets it back") {
  counted_space const space;
  for (std::size_t const bytes : {0, 24}) {
    space.deallocate("some", space.allocate("some", bytes), bytes);
    CHECK(counted::asked == std::max(bytes, std::size_t{1}));
    CHECK(counted::returned == counted::asked);
  }
}

TEST_CASE("space: a tool hears the user's bytes, or all of them where nothing else is said") {
  counted_space const space;
  auto const heard = [&](auto... bytes) {
    keel::laws::tool const listens("heard");
    space.deallocate("heard", space.allocate("heard", 64, bytes...), 64, bytes...);
    auto const plain = std::pair(listens.given.bytes, listens.taken.bytes);
    space.deallocate("heard", space.allocate(Kokkos::DefaultHostExecutionSpace(), "heard", 64, bytes...), 64, bytes...);
    CHECK(std::pair(listens.given.bytes, listens.taken.bytes) == plain);
    return plain;
  };
  CHECK(heard() == std::pair<std::uint64_t, std::uint64_t>(64, 64));
  CHECK(heard(48) == std::pair<std::uint64_t, std::uint64_t>(48, 48));
}

namespace {

template <class To, class From, bool Accessible, bool Assignable>
constexpr bool is_reached = [] {
  using access = Kokkos::Impl::MemorySpaceAccess<To, From>;
  return bool(access::accessible) == Accessible && bool(access::assignable) == Assignable && bool(access::deepcopy);
}();
using Kokkos::HostSpace;
using of_device = ks::simulated_memory;
// Host memory reaches and is assigned what Kokkos' own does, and device memory is only copied.
static_assert(is_reached<HostSpace, counted_space, true, true>); // a view of such memory is one of the host's
static_assert(is_reached<counted_space, HostSpace, true, false>);
static_assert(is_reached<counted_space, other_space, true, false>);
static_assert(is_reached<HostSpace, of_device, false, false>);
static_assert(is_reached<of_device, HostSpace, false, false>);
static_assert(is_reached<counted_space, of_device, false, false>);
static_assert(!Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, of_device>::accessible);
static_assert(!Kokkos::SpaceAccessibility<ks::simulated, HostSpace>::accessible);
static_assert(ks::detail::is_hostlike<counted_space> && !ks::detail::is_hostlike<int>);
static_assert(ks::detail::is_remote<of_device> && !ks::detail::is_remote<counted_space>);
static_assert(!ks::detail::Neighbours<HostSpace, HostSpace>);
static_assert(!ks::detail::Neighbours<counted_space, int> && !ks::detail::Neighbours<int, counted_space>);

} // namespace
