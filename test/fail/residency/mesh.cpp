// SPDX-License-Identifier: MIT
#include "heat.hpp"
#include <keel/exchange/device_ids.hpp>
#include <keel/layout/partition.hpp>

struct cells : kr::mesh<"cells"> {};
struct edges : kr::mesh<"edges"> {};
struct h : kr::variable<"h", double**, kr::levels<2>, kr::on_mesh<cells>> {};
struct un : kr::variable<"un", double*, kr::on_mesh<edges>> {};

struct a_run {
  keel::machine::basic_environment<keel::machine::alone> ranks;
  [[nodiscard]] auto& environment() { return ranks; }
  [[nodiscard]] std::string_view device_name() const { return "serial"; }
  template <class Tag>
  [[nodiscard]] auto execution_space() {
    return typename keel::device_traits<Tag>::execution_space{};
  }
};

struct flux : kr::routine<"flux", kr::on_device, kr::reads<kr::layer<kr::past<h, 1>, 1>>, kr::writes<h>>, idle {};

#if defined(AT_VERTICES)
// expect: a variable on a mesh lies in a way that only grids have
struct high : kr::variable<"high", double*, kr::on_mesh<cells>, kr::at<kr::vertex>> {};
constexpr auto levels = high::about.levels;
#elif defined(NOT_IN_FIELDS)
// expect: a variable lies on a mesh or a grid that these fields do not have
// expect: is_placed<un
void use(a_run& run, kr::partition<cells> const& c) { kr::fields<app, h, un> f{run, c, kr::extra<h>{10}}; }
#elif defined(UNFILLED)
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: finds_its_ghosts<flux, h
struct step : kr::schedule<kr::cycle<h>, flux> {};
void use(kr::fields<app, h, un>& f) { f.step(step{}); }
#elif defined(MIGRATE_TO_DOUBLES)
// expect: the destinations of migrate are no view of int in one dimension
void use(kr::fields<app, h, un>& f, Kokkos::View<double*> const& ranks) { f.migrate(cells{}, ranks); }
#elif defined(IDS_OF_INT)
// expect: ids are no view of std::int64_t in one dimension
auto made(keel::machine::environment const& env, Kokkos::View<int*> ids) { return kr::partition<cells>(env, ids); }
#elif defined(REPARTITION_TWICE)
// expect: repartition gets two partitions of one mesh
void use(kr::fields<app, h, un>& f, kr::partition<cells> const& c) { f.repartition(c, c); }
#elif defined(RESIZE_OF_NONE)
// expect: resize gets an extra without variables
void use(kr::fields<app, h, un>& f) { f.resize(kr::extra<>{10}); }
#else
struct step : kr::schedule<kr::cycle<h>, kr::exchange<kr::layer<kr::past<h, 1>, 1>>, flux> {};
void use(a_run& run, kr::partition<cells> const& c, kr::partition<edges> const& e) {
  kr::fields<app, h, un> f{run, c, e, kr::extra<h>{10}};
  f.step(step{});
  f.repartition(c, e), f.resize(kr::extra<h>{20}), f.reserve(cells{}, 100);
  f.migrate(cells{}, Kokkos::View<int*>("ranks", 100));
}
#endif
