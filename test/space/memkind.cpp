// SPDX-License-Identifier: MIT
#include <keel/space/memkind.hpp>

#include <support/test.hpp>

#if KEEL_WITH_MEMKIND

#include <keel/policy/error.hpp>

#include <laws/memory_space.hpp>

namespace {

namespace ks = keel::space;
using kind = ks::memory_kind;

std::string folder() {
  char const* const named = std::getenv("TMPDIR");
  return named ? named : "/tmp";
}

} // namespace

TYPE_TO_STRING_AS("memkind", ks::memkind);
TEST_CASE_TEMPLATE_INVOKE(memory_space, ks::memkind);

TEST_CASE("space: a kind that this machine lacks is refused, and known before") {
  CHECK(ks::memkind_resource::is_available(kind::plain));
  for (auto k : {kind::high_bandwidth, kind::high_bandwidth_preferred, kind::highest_capacity, kind::persistent}) {
    auto const refusal = keel::test::message_of([k] {
      ks::memkind_resource const resource(k);
      void* const p = resource.allocate(100, 64);
      resource.deallocate(p, 100, 64);
    });
    CHECK(refusal.empty() == ks::memkind_resource::is_available(k));
  }
}

TEST_CASE("space: memory comes out of a file") {
  ks::memkind const space(ks::memkind_resource(ks::memory_file{folder(), std::size_t{64} << 20}));
  Kokkos::View<double*, ks::memkind> const v(Kokkos::view_alloc("in a file", space), 1000);
  Kokkos::deep_copy(v, 2);
  CHECK(v(999) == 2);
  using bytes = Kokkos::View<char*, ks::memkind>;
  CHECK_THROWS_AS(bytes(Kokkos::view_alloc("too big", space), std::size_t{128} << 20), keel::error);
}

TEST_CASE("space: a file that cannot be is an error that names the folder") {
  auto const message = keel::test::message_of(
      [] { ks::memkind_resource const resource(ks::memory_file{"/no/such/folder", std::size_t{64} << 20}); });
  CHECK(message.find("/no/such/folder") != std::string::npos);
}

#else

TEST_CASE("space: memory of a kind is a memory space") { keel::test::skip("no memkind"); }

#endif
