// SPDX-License-Identifier: MIT
#include <keel/topology/memory_binding.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>
#include <support/refused_call.hpp>

#include <fstream>
#include <thread>

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kt = keel::topology;

namespace {

constexpr std::size_t bytes = std::size_t{1} << 20;

/// What `allocate_pages` says where it throws; empty where it does not.
std::string refusal(kt::id_set const& memories, std::size_t size = bytes) {
  return keel::test::message_of([&] { kt::free_pages(kt::allocate_pages(memories, size), size); });
}

using mask_words = unsigned long[64];

/// Whether the system itself binds a page to a memory, without keel and hwloc.
bool system_binds(int memory) {
  void* const page = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  mask_words mask{};
  mask[memory / 64] = 1UL << (memory % 64);
  long const code = syscall(SYS_mbind, page, 1, MPOL_BIND, mask, 8 * sizeof mask, 0);
  munmap(page, 1);
  return code == 0;
}

/// Whether the system binds pages at all; says so where it does not.
bool binds_pages() {
  auto const memories = kt::ordinary_memories();
  REQUIRE_FALSE(memories.empty());
  auto const why = kt::why_not_bindable(memories);
  if (!why.empty()) {
    CHECK_FALSE(system_binds(*memories.begin()));
    keel::test::skip("no binding of pages: " + why);
  }
  return why.empty();
}

/// Pages of this process's address space.
long pages_of_process() {
  long pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages;
  return pages;
}

/// The policy of the page at an address, or of the calling thread, asked of the system.
int policy_of(void const* at, unsigned long flags = MPOL_F_ADDR) {
  int policy = -1;
  return syscall(SYS_get_mempolicy, &policy, nullptr, 0, at, flags) == 0 ? policy : -1;
}
int policy_now() { return policy_of(nullptr, 0); }

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

} // namespace

// The first three look at other machines in processes of their own: hwloc reads its variables once.

TEST_CASE("topology: nothing is bound to the memories of another machine, and hwloc's silence is not believed") {
  auto const child = keel::test::in_child([] {
    setenv("HWLOC_SYNTHETIC", "numa:2 core:1 pu:1", 1);
    auto const why = kt::why_not_bindable({1});
    return contains(why, "another machine") && contains(refusal({1}), "another machine") ? 0 : 1;
  });
  CHECK(child.status == 0);
}

TEST_CASE("topology: a memory that the system does not know after all is refused by it") {
  auto const child = keel::test::in_child([] { // here hwloc believes in two memories, and tries
    setenv("HWLOC_SYNTHETIC", "numa:64 core:1 pu:1", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    if (kt::ordinary_memories() != kt::id_set::range(0, 64)) return 2;
    return contains(kt::why_not_bindable({63}), "the system does not bind") && contains(refusal({63}), "does not bind")
               ? 0
               : 1;
  });
  CHECK(child.status == 0);
}

TEST_CASE("topology: fast, slow and far memories are not ordinary") {
  auto const child = keel::test::in_child([] {
    setenv("HWLOC_XMLFILE", KEEL_TEST_DATA "/hbm.xml", 1);
    return kt::ordinary_memories() == kt::id_set{0, 2} ? 0 : 1; // neither HBM nor CXL nor NVM
  });
  CHECK(child.status == 0);
}

TEST_CASE("topology: pages lie where they were bound to, as the system says") {
  if (!binds_pages()) return;
  for (int const memory : kt::ordinary_memories()) {
    auto* const pages = static_cast<char*>(kt::allocate_pages({memory}, bytes));
    CHECK(kt::memories_of(pages, bytes).empty()); // nobody touched one yet
    std::memset(pages, 1, bytes);
    CHECK(kt::memories_of(pages, bytes) == kt::id_set{memory});
    CHECK(kt::memories_of(pages, 1) == kt::id_set{memory});
    CHECK(policy_of(pages) == MPOL_BIND);
    kt::free_pages(pages, bytes);
  }
}

TEST_CASE("topology: pages on several memories lie on each in turn") {
  if (!binds_pages()) return;
  auto const memories = kt::ordinary_memories();
  auto* const pages = static_cast<char*>(kt::allocate_pages(memories, bytes));
  std::memset(pages, 1, bytes);
  CHECK(kt::memories_of(pages, bytes) == memories);
  auto const page = std::size_t(sysconf(_SC_PAGESIZE));
  if (memories.size() > 1) CHECK(kt::memories_of(pages, page) != kt::memories_of(pages + page, page));
  if (memories.size() > 1) CHECK(policy_of(pages) == MPOL_INTERLEAVE);
  kt::free_pages(pages, bytes);
}

TEST_CASE("topology: to ask whether pages can be bound leaves none of them behind") {
  if (!binds_pages()) return;
  auto const memories = kt::ordinary_memories();
  long const before = pages_of_process();
  for (int n = 0; n < 4000; ++n) CHECK(kt::why_not_bindable(memories).empty());
  CHECK(pages_of_process() - before < 2000);
}

TEST_CASE("topology: what cannot be bound is an error that says why") {
  CHECK(contains(refusal({4000}), "no NUMA node 4000"));
  CHECK(contains(kt::why_not_bindable({}), "no memory is named"));
  CHECK(!refusal({}).empty());
  if (binds_pages()) CHECK(contains(refusal(kt::ordinary_memories(), std::size_t{1} << 50), "in all"));
}

TEST_CASE("topology: a container that refuses to bind, or to tell, is heard") {
  if (!binds_pages()) return;
  auto const memories = kt::ordinary_memories();
  std::string why;
  std::string refused;
  bool const filtered = keel::test::with_refused_call(SYS_mbind, [&] {
    why = kt::why_not_bindable(memories);
    refused = refusal(memories);
  });
  CHECK(filtered);
  CHECK(contains(why, "Operation not permitted"));
  CHECK(contains(refused, "Operation not permitted"));
  keel::test::with_refused_call(SYS_move_pages, [&] {
    int const here = 1;
    why = keel::test::message_of([&] { (void)kt::memories_of(&here, sizeof here); });
  });
  CHECK(contains(why, "Operation not permitted"));
  CHECK(refusal(memories).empty()); // elsewhere all is as it was
}

TEST_CASE("topology: a memory is preferred while the preference lives, also by threads that start meanwhile") {
  int const before = policy_now();
  int in_thread = -1;
  {
    kt::memory_preference const first{*kt::ordinary_memories().begin()};
    if (!first.why_not().empty()) {
      mask_words mask{};
      int policy = 0; // the two calls of the system that the preference needs
      bool const is_refused = syscall(SYS_get_mempolicy, &policy, mask, 8 * sizeof mask, nullptr, 0) != 0 ||
                              syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0) != 0;
      CHECK(is_refused);
      return keel::test::skip("no binding of pages: " + first.why_not());
    }
    CHECK(policy_now() == MPOL_PREFERRED);
    std::thread{[&] { in_thread = policy_now(); }}.join();
    for (int const none : {1000, -1, 4095, 4096, 4097, 1 << 20})
      CHECK_FALSE(kt::memory_preference{none}.why_not().empty());
    CHECK(policy_now() == MPOL_PREFERRED);
  }
  CHECK(in_thread == MPOL_PREFERRED);
  CHECK(policy_now() == before);
}
