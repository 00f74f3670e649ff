// SPDX-License-Identifier: MIT
#include <keel/space/memory.hpp>
#define DOCTEST_CONFIG_IMPLEMENT
#include <keel/laws/memory_space.hpp>
#include <sys/mman.h>

/// A memory space of one's own: large pages of Linux. All that a `Kokkos::View` needs of it is in the struct.
struct huge_pages {
  static constexpr char const* name = "huge pages";
  static constexpr keel::space::reach reached_from = keel::space::reach::host;

  static std::size_t whole_pages(std::size_t bytes) {
    constexpr std::size_t page = std::size_t{2} << 20;
    return (bytes + page - 1) / page * page;
  }
  void* allocate(std::size_t bytes, std::size_t) const {
    void* const p = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    madvise(p, whole_pages(bytes), MADV_HUGEPAGE); // a wish: small pages do where it is not granted
    return p;
  }
  void deallocate(void* pointer, std::size_t bytes, std::size_t) const { munmap(pointer, whole_pages(bytes)); }
};
using space = keel::space::memory<huge_pages>;

/// keel's laws of a memory space, run on it with doctest.
TEST_CASE_TEMPLATE_INVOKE(memory_space, space);
TYPE_TO_STRING(space);

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::View<double*, space> const v("v", 100);
  Kokkos::deep_copy(v, 0.5);
  return doctest::Context(argc, argv).run();
}
