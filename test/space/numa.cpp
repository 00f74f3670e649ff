// SPDX-License-Identifier: MIT
#include <keel/space/numa.hpp>

#include <keel/space/pool.hpp>

#include <support/test.hpp>
#include <support/refused_call.hpp>

#include <sys/syscall.h>

namespace ks = keel::space;
namespace kt = keel::topology;

namespace {

/// Whether the system binds pages at all; says so where it does not.
bool binds_pages() {
  auto const why = ks::numa_interleave_resource::why_not_available();
  if (!why.empty()) keel::test::skip("no binding of pages: " + why);
  return why.empty();
}

/// What a view of the space says that it throws, without some words.
template <class Space>
std::string missing(std::vector<std::string> const& words) {
  auto const said = keel::test::message_of([] { Kokkos::View<double*, Space> const v("my label", 1000); });
  std::string none;
  for (std::string const& each : words)
    if (said.find(each) == std::string::npos) none += each + " is not in " + said;
  return none;
}

/// The first two nodes of the machine, if it has them.
template <int Node>
void check_node() {
  using space = ks::numa<Node>;
  if (space::resource_type::is_available()) {
    Kokkos::View<double*, space> const v("v", 100000);
    CHECK(ks::memories_of(v) == kt::id_set{Node});
    Kokkos::View<double*, space> const raw(Kokkos::view_alloc("raw", Kokkos::WithoutInitializing), 100000);
    Kokkos::deep_copy(raw, v);
    CHECK(ks::memories_of(raw) == kt::id_set{Node});
  } else {
    CHECK(missing<space>({space::name(), "my label", "NUMA node " + std::to_string(Node)}) == "");
  }
}

} // namespace

TEST_CASE("space: a view's pages lie on the node of its space, asked of the system") {
  if (!binds_pages()) return;
  CHECK(ks::numa<0>::resource_type::is_available()); // Linux has a node 0 even where it knows no nodes
  check_node<0>();
  check_node<1>();
}

TEST_CASE("space: interleaved pages lie on every memory") {
  if (!binds_pages()) return;
  Kokkos::View<double*, ks::numa_interleave> const v("v", 100000);
  CHECK(ks::memories_of(v) == kt::ordinary_memories());
  CHECK(ks::memories_of(Kokkos::View<double*, ks::numa_interleave>("none", 0)).empty());
}

TEST_CASE("space: an absent node is compiled in, not available, and an error that names space and label") {
  CHECK_FALSE(ks::numa<4000>::resource_type::is_available());
  CHECK(missing<ks::numa<4000>>({"numa<4000>", "my label", "this machine has no NUMA node 4000"}) == "");
}

TEST_CASE("space: where the system refuses to bind, a node's memory is not available") {
  if (!binds_pages()) return;
  bool available = true;
  std::string unsaid;
  bool const filtered = keel::test::with_refused_call(SYS_mbind, [&] {
    available = ks::numa<0>::resource_type::is_available();
    unsaid = missing<ks::numa<0>>({"Operation not permitted"});
  });
  CHECK(filtered);
  CHECK_FALSE(available);
  CHECK(unsaid == "");
}

TEST_CASE("space: small allocations on a node come from a pool over it") {
  if (!binds_pages()) return;
  using space = ks::pool<ks::numa<0>>;
  Kokkos::View<int*, space> const a("a", 10);
  Kokkos::View<int*, space> const b("b", 10);
  Kokkos::deep_copy(b, 1);
  CHECK(ks::memories_of(b) == kt::id_set{0});
}

TEST_CASE("space: the name of memory on a node has the node's number") {
  CHECK(ks::numa_resource<0>::name == std::string{"numa<0>"});
  CHECK(ks::numa_resource<9>::name == std::string{"numa<9>"});
  CHECK(ks::numa_resource<10>::name == std::string{"numa<10>"});
  CHECK(ks::numa<110>::name() == std::string{"numa<110>"});
  CHECK(ks::numa<1234567890>::name() == std::string{"numa<1234567890>"});
}
