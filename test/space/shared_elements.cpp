// SPDX-License-Identifier: MIT
#include <keel/space/shared.hpp>

#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>

#include <doctest/doctest.h>
#include <laws/memory_space.hpp>

#include <atomic>
#include <type_traits>

namespace {

namespace km = keel::machine;
using ranks = km::environment::ranks;

/// An element that several processes read and write at once.
template <class T>
class posted_element {
public:
  using value = std::remove_const_t<T>;
  explicit posted_element(T* at) : at_(const_cast<value*>(at)) {}
  posted_element(posted_element const&) = default;

  operator value() const { return whole().load(); }
  posted_element const& operator=(value const& wanted) const {
    whole().store(wanted);
    return *this;
  }
  posted_element const& operator=(posted_element const& other) const { return *this = static_cast<value>(other); }
  /// The sum, which no other process changes between the reading and the writing.
  value operator+=(value added) const {
    value before = whole().load();
    while (!whole().compare_exchange_weak(before, before + added)) {
    }
    return before + added;
  }

private:
  std::atomic_ref<value> whole() const { return std::atomic_ref<value>(*at_); }
  value* at_;
};

/// Memory of a node whose elements are reached by calls: what a program writes to carry a space of its own.
template <class Ranks>
struct posted_resource : keel::space::shared_resource<Ranks> {
  static constexpr char const* name = "posted";
  using keel::space::shared_resource<Ranks>::shared_resource;
  template <class T>
  using element = posted_element<T>;
};
template <class Ranks>
using posted_memory = keel::space::memory<posted_resource<Ranks>>;

using posted = posted_memory<ranks>;
template <class Data>
using view = Kokkos::View<Data, Kokkos::LayoutRight, posted>;
using range = Kokkos::RangePolicy<posted::execution_space>;
static_assert(std::is_same_v<view<double*>::reference_type, posted_element<double>>);

#if KEEL_WITH_MPI
/// Each rank of MPI is a node of its own, so that it keeps the laws without waiting for others.
struct apart : ranks {
  static communicator world() { return borrow(MPI_COMM_SELF); }
};
using own = posted_memory<apart>;
#endif
using alone = posted_memory<km::alone>;

} // namespace

#if KEEL_WITH_MPI
TYPE_TO_STRING_AS("elements shared by one rank of MPI", own);
TEST_CASE_TEMPLATE_INVOKE(memory_space, own);
#endif
TYPE_TO_STRING_AS("elements shared by one rank alone", alone);
TEST_CASE_TEMPLATE_INVOKE(memory_space, alone);

TEST_CASE("space: all ranks add to the same elements at once, and no addition is lost") {
  posted const space;
  int const size = space.resource().size();
  view<long*> const counts("counts", 7);
  CHECK(counts.use_count() == 1);
  space.fence(); // until then Kokkos fills it with zeros
  Kokkos::parallel_for("add", range(0, 7000), [=](int i) { counts(i % 7) += i; });
  Kokkos::fence();
  space.fence();
  long all = 0;
  for (int c = 0; c < 7; ++c) all += counts(c);
  CHECK(all == 6999L * 7000 / 2 * size);
  space.fence();
}

TEST_CASE("space: a rank writes its row of shared elements by a sub-view, and its neighbour reads it") {
  posted const space;
  int const me = space.resource().rank();
  int const size = space.resource().size();
  view<double**> const table("table", size, 300);
  space.fence();
  auto const mine = Kokkos::subview(table, me, Kokkos::ALL);
  Kokkos::parallel_for("write", range(0, 300), [=](int i) { mine(i) = 1000 * me + i; });
  Kokkos::fence();
  space.fence();

  int const other = (me + 1) % size;
  auto const theirs = Kokkos::subview(table, other, std::make_pair(100, 200));
  double sum = 0;
  Kokkos::parallel_reduce("read", range(0, 100), [=](int i, double& s) { s += theirs(i); }, sum);
  CHECK(sum == 100 * (1000 * other + 100) + 99 * 100 / 2);
  space.fence();
}

TEST_CASE("space: shared elements are copied as a whole, by one kernel, and from one rank's row to the next") {
  posted const space;
  int const me = space.resource().rank();
  int const size = space.resource().size();
  view<int**> const a("a", size, 40);
  view<int**> const b("b", size, 40);
  space.fence();
  auto const row = Kokkos::subview(a, me, Kokkos::ALL);
  Kokkos::Experimental::local_deep_copy(row, 5 + me);
  space.fence();
  auto const from = Kokkos::subview(a, (me + 1) % size, Kokkos::ALL);
  auto const to = Kokkos::subview(b, me, Kokkos::ALL);
  Kokkos::Experimental::local_deep_copy(to, from);
  space.fence();

  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> const host("host", size, 40);
  Kokkos::deep_copy(host, b);
  bool good = true;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < 40; ++i) good = good && host(r, i) == 5 + (r + 1) % size;
  CHECK(good);
  space.fence();
}

TEST_CASE("space: Kokkos' atomic views count over all ranks of a node") {
  keel::space::shared<ranks> const space;
  Kokkos::View<int*, keel::space::shared<ranks>> const plain("plain", 3);
  view<int*> const called("called", 3);
  space.fence();
  Kokkos::View<int*, keel::space::shared<ranks>, Kokkos::MemoryTraits<Kokkos::Atomic>> const counts = plain;
  Kokkos::View<int*, Kokkos::LayoutRight, posted, Kokkos::MemoryTraits<Kokkos::Atomic>> const others = called;
  Kokkos::parallel_for("count", range(0, 9000), [=](int i) {
    counts(i % 3) += 1;
    others(i % 3) += 2;
  });
  Kokkos::fence();
  space.fence();
  for (int c = 0; c < 3; ++c) CHECK(plain(c) == 3000 * space.resource().size());
  for (int c = 0; c < 3; ++c) CHECK(called(c) == 6000 * space.resource().size());
  space.fence();
}
