// SPDX-License-Identifier: MIT
#include <keel/residency/fields.hpp>

#include "cases.hpp"

#include <keel/layout/partition.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/peer_memory.hpp>
#include <keel/space/plugins.hpp>

#include <new>

// Not without a name: nvcc loses such a namespace among the arguments of a kernel.
namespace costing {

using namespace test;

std::atomic<int> allocations, arrays, fences, labels, kernels;
thread_local int launching = 0; // a device may allocate for it

namespace tools = Kokkos::Tools::Experimental;
/// Counts kernels, arrays, and what else is allocated but by a device that is given a kernel or a copy. Kokkos 4.6
/// allocates no bytes with each kernel of teams.
void count_calls(bool yes) {
  auto const begin_kernel = [](char const*, std::uint32_t, std::uint64_t*) { ++kernels, ++launching; };
  auto const begin_copy = [](Kokkos_Profiling_SpaceHandle, char const*, void const*, Kokkos_Profiling_SpaceHandle,
                             char const*, void const*, std::uint64_t) { ++launching; };
  tools::set_begin_parallel_for_callback(yes ? +begin_kernel : nullptr);
  tools::set_end_parallel_for_callback(yes ? +[](std::uint64_t) { --launching; } : nullptr);
  tools::set_begin_deep_copy_callback(yes ? +begin_copy : nullptr);
  tools::set_end_deep_copy_callback(yes ? +[] { --launching; } : nullptr);
  tools::set_begin_fence_callback(yes ? +[](char const*, std::uint32_t, std::uint64_t*) { ++labels; } : nullptr);
  tools::set_allocate_data_callback(
      yes ? +[](Kokkos_Profiling_SpaceHandle, char const*, void const*, std::uint64_t bytes) { arrays += bytes != 0; }
          : nullptr);
  kernels = allocations = arrays = fences = labels = 0;
}

/// Hears of each fence of all queues.
struct fenced {
  static constexpr std::string_view name = "fenced";
  static constexpr int order = 950;
  static void initialize(keel::space::settings const&) {}
  static void finalize() {}
  static void fence(std::string const&) { ++fences; }
  static void print_configuration(std::ostream&, bool) {}
};

using devices = keel::where_supported<keel::list<host, twin, keel::cuda, keel::hip>>;
template <class Exchange>
using costed = application<devices, kr::automatic, Kokkos::LayoutRight, km::mpi, Exchange>;

struct a : kr::variable<"a", double**, kr::levels<2>> {};
struct b : kr::variable<"b", float**> {};
struct c : kr::variable<"c", double***> {};
struct ring : kr::mesh<"ring"> {};
struct d : kr::variable<"d", double**, kr::on_mesh<ring>> {};
struct number : empty<"number", kr::on_device, kr::writes<a, b, c, d>> {};
struct step : kr::schedule<kr::cycle<a>, number, kr::exchange<a, b, c, d>> {};
struct number_a : empty<"number_a", kr::on_device, kr::writes<a>> {};

/// Calls f(step) for fields whose exchanges went some times by this transport.
template <class Exchange>
void in_steady_steps(std::string_view device, std::string_view transport, auto const& f) {
  test::run<km::mpi> run{device, {.exchange_through = std::string(transport)}};
  std::int64_t const own = 5, first = own * run.environment().rank(), count = own * run.environment().size();
  std::vector<std::int64_t> const ghosts{(first + count - 1) % count, (first + own) % count};
  std::vector<std::int64_t> owned;
  for (std::int64_t i = 0; i < own; ++i) owned.push_back(first + i);
  kr::partition<ring> const part{run.environment(), owned, ghosts};
  kr::fields<costed<Exchange>, a, b, c, d> all{run, kr::grid{{12, 14}, kr::ghost_width{1}, kr::periodic{true}}, part,
                                               kr::extra<c, d>{2}};
  auto const once = [&] { all.step(step{}); };
  for (int i = 0; i < 4; ++i) once();
  f(run.environment().size(), once);
}

} // namespace costing
using namespace costing;

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP) // with these Kokkos allocates for tools
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  if (launching == 0) ++allocations;
  return std::malloc(bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* const made = operator new(bytes, std::nothrow)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }
#endif

TEST_CASE("residency: an exchange by peer takes one kernel, however many variables and partners there are") {
  keel::for_each_device<devices>([&]<class Tag>(Tag) {
    if (std::is_same_v<Tag, host> || !keel::available<Tag>()) return;
    CAPTURE(Tag::name);
    in_steady_steps<kr::on_device>(Tag::name, "peer", [](int, auto const& once) {
      count_calls(true);
      once();
      CHECK(kernels == 1);
      count_calls(false);
    });
    // What is packed at a fold may be unpacked, too.
    test::run<km::mpi> run{Tag::name, {.exchange_through = "peer"}};
    int const ranks = run.environment().size();
    kr::fields<costed<kr::on_device>, a> folded{
        run,
        kr::grid{
            {12 * ranks, 8}, kr::ghost_width{1}, kr::periodic{true, false}, kr::fold<1>{}, kr::ranks_in{ranks, 1}}};
    folded.run(number_a{});
    for (int n = 0; n < 3; ++n) folded.run(kr::exchange<a>{});
    count_calls(true);
    folded.run(kr::exchange<a>{});
    CHECK(kernels == (ranks == 1 ? 1 : 2));
    count_calls(false);
  });
}

TEST_CASE("residency: a step allocates and maps nothing and never waits for all queues, by any transport") {
  keel::space::detail::enroll<fenced>();
  auto const& peers = keel::space::peer_memory::of_host();
  auto const count = [&](int, auto const& once) {
    count_calls(true);
    once(); // names for tools are made
    count_calls(true);
    std::size_t const mapped = peers.made() + peers.mapped();
    for (int i = 0; i < 4; ++i) once();
    int const allocated = allocations, made = arrays, shown = labels;
    count_calls(false);
    CHECK(made == 0);
    CHECK(allocated <= shown);          // Kokkos copies the label of a fence for tools
    for (int i = 0; i < 4; ++i) once(); // without tools, for which Kokkos waits
    CHECK(fences == 0);
    CHECK(peers.made() + peers.mapped() == mapped);
  };
  keel::policy::set_log_level(keel::policy::log_level::error); // some are passed over
  keel::for_each_device<devices>([&]<class Tag>(Tag) {
    if (!keel::available<Tag>()) return;
    for (std::string_view const transport : {"staged", "direct", "peer", "nccl"}) {
      CAPTURE(Tag::name);
      CAPTURE(transport);
      in_steady_steps<kr::on_host>(Tag::name, transport, count);
      in_steady_steps<kr::on_device>(Tag::name, transport, count);
    }
  });
  keel::policy::set_log_level(keel::policy::log_level::warning);
}

namespace costing {

struct atoms : kr::mesh<"atoms"> {};
struct place : kr::variable<"place", double* [3], kr::levels<2>, kr::on_mesh<atoms>> {};
struct push : empty<"push", kr::on_device, kr::writes<place>> {};

} // namespace costing

TEST_CASE("residency: elements that move to and fro get no new arrays, nor buffers") {
  keel::for_each_device<devices>([&]<class Tag>(Tag) {
    if (!keel::available<Tag>()) return;
    CAPTURE(Tag::name);
    test::run<km::mpi> run{Tag::name};
    int const rank = run.environment().rank(), next = (rank + 1) % run.environment().size();
    std::vector<std::int64_t> owned;
    for (int i = 0; i < 40; ++i) owned.push_back(100 * rank + i);
    kr::fields<costed<kr::on_device>, place> f{run, kr::partition<atoms>{run.environment(), owned}};
    f.reserve(atoms{}, 50);
    auto const move = [&](int n) {
      f.run(kr::cycle<place>{}), f.run(push{});
      std::vector<int> ranks(std::size_t(f.size(atoms{})), rank);
      for (std::size_t i = std::size_t(n % 4); i < ranks.size(); i += 4) ranks[i] = next;
      f.migrate(atoms{}, ranks);
    };
    for (int n = 0; n < 5; ++n) move(n);
    count_calls(true);
    for (int n = 0; n < 5; ++n) move(n);
    CHECK(arrays == 0);
    count_calls(false);
    CHECK(f.size(atoms{}) == 40);
  });
}
