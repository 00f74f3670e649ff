// SPDX-License-Identifier: MIT
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>>, from_past<> {};

#if defined(DEVICE_IS_NO_TAG)
// expect: names what is no tag of a device
// expect: is_tag<Kokkos::HostSpace>
template <class Tag, class... Tags>
Tag first_of(keel::list<Tag, Tags...>);
struct stranger : app {
  using devices = keel::list<decltype(first_of(app::devices{})), Kokkos::HostSpace>;
};
void use(kr::fields<stranger, eta>& f) { f.run(kr::exchange<eta>{}); }
#elif defined(NAMES_ALIKE)
// expect: keel::residency::fields: two variables have one name
struct other : kr::variable<"eta", double**> {};
void use(kr::fields<app, eta, other>& f) { f.run(kr::exchange<eta>{}); }
#elif defined(OFF_WITH_TWO_MEMORIES)
// expect: keel::residency::off: the list has a device with memory of its own
struct untracked : two_memories {
  using tracking = kr::off;
};
void use(kr::fields<untracked, eta, du>& f) { f.run(rhs{}); }
#elif defined(OVERWRITTEN_THROUGH_CONST)
// expect: data cannot be overwritten through a view of const elements
using constant = Kokkos::View<double const**, Kokkos::LayoutRight, Kokkos::HostSpace>;
void use(kr::fields<app, eta>& f, constant const& v) { f.require_invalid_data(v); }
#elif defined(PADDED_SCALAR)
// expect: keel::residency::variable: a scalar is padded
struct total : kr::variable<"total", double, kr::padded<8>> {};
#elif defined(PAST_OF_ONE_LEVEL)
// expect: copy_from_past of a variable that has only one level
void use(kr::fields<app, du>& f) { f.copy_from_past<du>(); }
#elif defined(TRACKING_IS_NONE)
// expect: the tracking of the application's policy is no tracking
// expect: tracking_of<untracked>
struct untracked : app {
  using tracking = kr::on_host;
};
void use(kr::fields<untracked, eta>& f) { f.run(kr::exchange<eta>{}); }
#elif defined(VARIABLE_NOT_IN_FIELDS)
// expect: names a variable that these fields do not have
// expect: is_in_fields<du
// expect: rhs
void use(kr::fields<app, eta>& f) { f.run(rhs{}); }
#else
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
#endif
