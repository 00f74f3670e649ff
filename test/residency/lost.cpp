// SPDX-License-Identifier: MIT
/// @file
/// Kernels that fail late, and tracking that is chosen at the start.
#include <keel/residency/fields.hpp>

#include "cases.hpp"

namespace lost_cases {

using namespace test;

using devices = keel::list<host, keel::simulated>;
using app = application<devices>;
using both = application<devices, keel::list<kr::automatic, kr::checked>>;
struct x : kr::variable<"x", double*> {};
struct y : kr::variable<"y", double*> {};

/// In a kernel of a device on the host. Code for a GPU knows no exceptions.
KOKKOS_INLINE_FUNCTION void fail() {
#if !defined(__CUDA_ARCH__)
  throw std::runtime_error("in a kernel");
#endif
}

/// Fills `Part` on `Place`; with `fails`, throws after the first element, in the kernel.
template <class Place, class Part>
struct fill : kr::routine<"fill", Place, kr::writes<Part>> {
  template <class V>
  static void run(V v, double value, bool fails = false) {
    auto const a = v(Part{});
    Kokkos::parallel_for(
        "fill", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, int(a.extent(0))), KOKKOS_LAMBDA(int i) {
          if (fails && i == 1) fail();
          a(i) = value;
        });
  }
};
template <class X>
struct first : kr::routine<"first", kr::on_host, kr::reads<X>> {
  template <class V>
  static double run(V v) {
    return v(X{})(0);
  }
};
std::string warned;

TEST_CASE("residency: a kernel that fails late leaves nothing valid that its device alone has") {
  test::run<> run{"simulated"};
  kr::fields<app, x, y> f{run, kr::grid{{24}, kr::ghost_width{1}}};
  using set_x = fill<kr::on_device, kr::everywhere<x>>;
  using set_y = fill<kr::on_device, kr::everywhere<y>>;
  f.run(set_x{}, 1.);
  f.run(set_y{}, 1.);
  CHECK(f.run(first<y>{}) == 1); // now the host has it, too
  f.run(set_x{}, 2., true);
  CHECK(refuses([&] { (void)f.run(first<x>{}); }, "(in a kernel)"));
  CHECK(refuses([&] { (void)f.run(first<x>{}); }, "valid nowhere"));
  CHECK_FALSE(f.is_valid<x, keel::simulated>(kr::core));
  CHECK(f.run(first<y>{}) == 1);
}

TEST_CASE("residency: checked tracking is chosen at the start, and names all undeclared and unwritten data") {
  auto const undeclared = [](std::string tracking) {
    test::run<> run{"simulated", {.tracking = std::move(tracking)}};
    kr::fields<both, x, y> f{run, kr::grid{{24}, kr::ghost_width{1}}};
    f.run(fill<kr::on_host, kr::everywhere<y>>{}, 1.);
    double* const at = f.run(call<kr::updates<y>>{}, [](auto v) { return v(y{}).data(); });
    return message_of([&] { f.run(call<kr::writes<x>>{}, [&](auto v) { v(x{})(1) = at[1] = at[25] = 7; }); });
  };
  keel::policy::set_log_sink([](keel::policy::log_level, std::string_view text) { warned += text; });
  CHECK(undeclared("").empty());
  CHECK(undeclared("automatic").empty());
  CHECK(undeclared("checked").find("changed y, level 0, core, on the host; y, level 0, walls, on the host, which") !=
        std::string::npos);
  CHECK(refuses([&] { (void)undeclared("traced"); },
                "tracking names 'traced' (no tracking of this program is called so: "));
  warned.clear();
  {
    test::run<> run{"simulated"};
    kr::fields<application<devices, kr::checked>, x, y> f{run, kr::grid{{24}}};
    f.run(empty<"touch", kr::on_device, kr::writes<y>>{});
  }
  keel::policy::set_log_sink(nullptr);
  CHECK(warned.find("routine touch left 24 elements of y, level 0, owned, on the device simulated, unwritten") !=
        std::string::npos);
}

} // namespace lost_cases
