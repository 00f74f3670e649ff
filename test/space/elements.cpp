// SPDX-License-Identifier: MIT
#include <keel/space/memory.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <type_traits>

namespace {

/// Host memory whose elements are reached by calls, as those of another process are.
struct called {
  static constexpr char const* name = "called";
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
  static inline std::atomic<int> reads = 0, writes = 0, fences = 0;

  template <class T>
  struct element {
    T* at;
    explicit element(T* to) : at(to) {}
    element(element const&) = default;
    operator std::remove_const_t<T>() const {
      ++reads;
      return *at;
    }
    element const& operator=(T const& value) const
      requires(!std::is_const_v<T>)
    {
      ++writes;
      *at = value;
      return *this;
    }
    element const& operator=(element const& other) const
      requires(!std::is_const_v<T>)
    {
      return *this = static_cast<T>(other);
    }
  };

  void fence() const { ++fences; }
  void* allocate(std::size_t bytes, std::size_t alignment) const {
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void deallocate(void* pointer, std::size_t, std::size_t) const { std::free(pointer); }
};

using space = keel::space::memory<called>;
using view = Kokkos::View<int**, Kokkos::LayoutRight, space>;
static_assert(std::is_same_v<view::reference_type, called::element<int>>);
static_assert(!std::is_lvalue_reference_v<Kokkos::View<int const*, space>::reference_type>);

template <class M>
concept Fenced = requires(M const& m) { m.fence(); };
static_assert(Fenced<space>);

} // namespace

TEST_CASE("space: a view reads and writes its elements by the resource, in kernels and sub-views too") {
  view const v("v", 4, 5);
  CHECK(v.label() == "v");
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

TEST_CASE("space: a view of such elements is copied and keeps its allocation as others do") {
  view v("v", 3, 3);
  view const kept = v;
  CHECK(v.use_count() == 2);
  Kokkos::deep_copy(v, 7);
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> const host("host", 3, 3);
  Kokkos::deep_copy(host, v);
  CHECK(host(2, 2) == 7);
  host(1, 1) = 5;
  Kokkos::deep_copy(v, host);
  v = view();
  CHECK(kept.use_count() == 1);
  CHECK(kept(1, 1) == 5);
}

TEST_CASE("space: the fence of a space is the resource's") {
  called::fences = 0;
  space().fence();
  CHECK(called::fences == 1);
}
