// SPDX-License-Identifier: MIT
#include <keel/space/memory.hpp>

#include <support/test.hpp>
#include <laws/memory_space.hpp>
#include <space/host_bytes.hpp>

#include <atomic>

namespace {

/// Host memory whose elements are reached by calls, as those of another process are.
struct called : keel::test::host_bytes {
  static constexpr char const* name = "called";
  static inline std::atomic<int> reads = 0, writes = 0;

  template <class T>
  struct element {
    using value = std::remove_const_t<T>;
    T* at;
    explicit element(T* to) : at(to) {}
    element(element const&) = default;
    operator value() const {
      ++reads;
      return *at;
    }
    element const& operator=(value const& wanted) const
      requires(!std::is_const_v<T>)
    {
      ++writes;
      *at = wanted;
      return *this;
    }
    element const& operator=(element const& other) const
      requires(!std::is_const_v<T>)
    {
      return *this = static_cast<T>(other);
    }
  };
};

using space = keel::space::memory<called>;
using view = Kokkos::View<int**, Kokkos::LayoutRight, space>;
static_assert(std::is_same_v<view::reference_type, called::element<int>>);
static_assert(!std::is_lvalue_reference_v<Kokkos::View<int const*, space>::reference_type>);

} // namespace

TYPE_TO_STRING_AS("elements reached by calls", space);
TEST_CASE_TEMPLATE_INVOKE(memory_space, space);

TEST_CASE("space: a view reads and writes its elements by the resource, in kernels and sub-views too") {
  view const v("v", 4, 5);
  CHECK(v(3, 4) == 0);
  called::reads = called::writes = 0;
  Kokkos::parallel_for("fills", Kokkos::RangePolicy<space::execution_space>(0, 4), [=](int i) {
    for (int j = 0; j < 5; ++j) v(i, j) = 10 * i + j;
  });
  Kokkos::fence();
  CHECK(called::writes == 20);
  auto const row = Kokkos::subview(v, 2, Kokkos::ALL);
  CHECK(row(3) == 23);
  Kokkos::View<int const**, Kokkos::LayoutRight, space> const fixed = v;
  CHECK(fixed(1, 4) == 14);
  v(0, 0) = row(4);
  CHECK(fixed(0, 0) == 24);
  CHECK(called::writes == 21);
  CHECK(called::reads == 4);
}
