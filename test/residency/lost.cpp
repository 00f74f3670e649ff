// SPDX-License-Identifier: MIT
/// @file
/// Kernels that fail late, what is copied for walls and analyses, and tracking that is chosen at the start.
#include <keel/residency/fields.hpp>

#include "cases.hpp"

namespace lost_cases {

using namespace test;

using devices = keel::list<host, keel::simulated>;
using app = application<devices>;
using both = application<devices, keel::list<kr::automatic, kr::checked>>;
struct x : kr::variable<"x", double*, kr::levels<2>> {};
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
template <class Place, class... Clauses>
using touch = empty<"touch", Place, Clauses...>;

struct fields_on : test::run<> {
  explicit fields_on(bool is_periodic = false) : test::run<>{"simulated"}, is_periodic_(is_periodic) {}
  bool is_periodic_;
  kr::fields<app, x, y> f{*this, kr::grid{{24}, kr::ghost_width{1}, kr::periodic{is_periodic_}}};
};

std::string warned;

TEST_CASE("residency: a kernel that fails late leaves nothing valid that its device alone has") {
  fields_on on;
  using set_x = fill<kr::on_device, kr::everywhere<x>>;
  using set_y = fill<kr::on_device, kr::everywhere<y>>;
  on.f.run(set_x{}, 1.);
  on.f.run(set_y{}, 1.);
  CHECK(on.f.run(first<y>{}) == 1); // now the host has it, too
  on.f.run(set_x{}, 2., true);
  CHECK(refuses([&] { (void)on.f.run(first<x>{}); }, "(in a kernel)"));
  CHECK(refuses([&] { (void)on.f.run(first<x>{}); }, "valid nowhere"));
  CHECK_FALSE(on.f.is_valid<x, keel::simulated>(kr::core));
  CHECK(on.f.run(first<y>{}) == 1);
}

TEST_CASE("residency: an analysis copies what its entries wrote, and no more") {
  fields_on on(true);
  on.f.run(fill<kr::on_device, kr::everywhere<x>>{}, 1.);
  on.f.run(fill<kr::on_device, kr::everywhere<kr::past<x, 1>>>{}, 1.);
  on.f.run(kr::analysis<kr::exchange<kr::past<x, 1>>>{});
  CHECK(on.f.traffic().bytes(kr::way::to_host) == on.f.bytes<x>()[1]);
  on.f.run(kr::analysis<fill<kr::on_device, kr::past<x, 1>>>{}, 2.);
  CHECK(on.f.is_valid<kr::past<x, 1>>(kr::region::owned));
  CHECK_FALSE(on.f.is_valid<x>(kr::core));
}

TEST_CASE("residency: copies of walls stand in the table and in its sums") {
  struct step
      : kr::schedule<touch<kr::on_host, kr::writes<kr::walls<y>>>, touch<kr::on_device, kr::reads<kr::walls<y>>>,
                     touch<kr::on_host, kr::reads<kr::walls<y>>>> {};
  static_assert(kr::plan<app, step, keel::simulated>::copies(kr::host, kr::device) == 1);
  std::ostringstream text;
  kr::explain<app, step>(text);
  CHECK(text.str().find("host to simulated  0     0    0     1\n") != std::string::npos);
  CHECK(text.str().find("host       y[0]  walls   reads   never") != std::string::npos);
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
    f.run(touch<kr::on_device, kr::writes<y>>{});
  }
  keel::policy::set_log_sink(nullptr);
  CHECK(warned.find("routine touch left 24 elements of y, level 0, owned, on the device simulated, unwritten") !=
        std::string::npos);
}

} // namespace lost_cases
