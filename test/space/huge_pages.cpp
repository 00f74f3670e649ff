// SPDX-License-Identifier: MIT
/// @file
/// A memory space of one's own: large pages of Linux. Everything a `View` needs of it is in the struct.

#include <keel/space/memory.hpp>

#include <doctest/doctest.h>
#include <laws/memory_space.hpp>

#include <sys/mman.h>

namespace {

struct huge_pages {
  static constexpr char const* name = "huge pages";
  static constexpr keel::space::reach reached_from = keel::space::reach::host;
  static constexpr std::size_t page = std::size_t{2} << 20;

  static std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

  void* allocate(std::size_t bytes, std::size_t) const {
    void* const p = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    madvise(p, whole_pages(bytes), MADV_HUGEPAGE); // a wish: small pages do where it is not granted
    return p;
  }
  void deallocate(void* pointer, std::size_t bytes, std::size_t) const { munmap(pointer, whole_pages(bytes)); }
};
using space = keel::space::memory<huge_pages>;

} // namespace

TYPE_TO_STRING_AS("a user's huge pages", space);
TEST_CASE_TEMPLATE_INVOKE(memory_space, space);

TEST_CASE("space: a user's own memory space works in views and kernels") {
  Kokkos::View<double**, space> const v("v", 100, 100);
  Kokkos::deep_copy(v, 0.5);
  double sum = 0;
  Kokkos::parallel_reduce(
      Kokkos::MDRangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Rank<2>>({0, 0}, {100, 100}),
      KOKKOS_LAMBDA(int i, int j, double& s) { s += v(i, j); }, sum);
  CHECK(sum == 5000);
}
