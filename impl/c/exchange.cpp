// SPDX-License-Identifier: MIT
/// @file
/// Exchangers for C.

#include "objects.hpp"

#include <keel/exchange/exchanger.hpp>

namespace keel::c {

void run(std::shared_ptr<plan_object> const& plan, arrays_call what, int* open) {
  auto& given = plan->given;
  if (what != arrays_call::begin)
    return plan->it->run(given,
                         what == arrays_call::exchange ? kr::detail::combine::replace : kr::detail::combine::add);
  require(open, "what begins");
  auto made = std::make_shared<open_object>();
  made->by = plan;
  made->it = plan->it->begin(given, kr::detail::combine::replace, {});
  *open = add(std::move(made));
}

namespace {
int call(int handle, int count, keel_array const* arrays, arrays_call what, int* open = nullptr) {
  return guarded([&] {
    auto const plan = share<plan_object>(handle);
    plan->given.clear();
    for (keel_array const& a : listed(count, arrays, "the list of arrays")) {
      std::size_t const n = plan->given.size();
      bool const is_address = a.rank == 0 && n < plan->planned.size();
      plan->given.push_back(is_address ? plan->planned[n] : ref_of(a));
      if (is_address) plan->given.back().data = a.data;
    }
    run(plan, what, open);
  });
}
} // namespace

} // namespace keel::c

using namespace keel::c;
namespace kr = keel::residency;

int keel_exchanger(int ranks, int grid, int count, int const* partitions, int* made) {
  return guarded([&] {
    auto const env = get<ranks_object>(ranks).it;
    auto const [whole, meshes] = places_of(*env, grid, count, partitions, made);
    kr::messenger const of(*env);
    keel::machine::agreement const with(*of.environment<runtime::ranks>());
    auto x = std::make_shared<exchanger_object>();
    x->ranks = env, x->with = with;
    x->it = kr::detail::array_exchanges::made_of(
        of, with, [](kr::messenger const& m) { return kr::detail::transports_of(kr::all_transports{}, m); },
        run().residency_settings(), kr::detail::tracking_of<c_app>::chosen(run()).checks, whole, meshes);
    *made = add(std::move(x));
  });
}
int keel_plan(int exchanger, int count, keel_array const* arrays, int* made) {
  return guarded([&] {
    auto plan = std::make_shared<plan_object>();
    plan->by = share<exchanger_object>(exchanger);
    plan->by->with.all_alike({"c", "a plan", "is not made", "Mend that one"}, [&] {
      require(made, "the plan");
      for (keel_array const& a : listed(count, arrays, "the list of arrays")) plan->planned.push_back(ref_of(a));
    });
    plan->it = plan->by->it->plan(plan->planned);
    *made = add(std::move(plan));
  });
}
int keel_exchange(int plan, int count, keel_array const* arrays) {
  return call(plan, count, arrays, arrays_call::exchange);
}
int keel_accumulate(int plan, int count, keel_array const* arrays) {
  return call(plan, count, arrays, arrays_call::accumulate);
}
int keel_begin(int plan, int count, keel_array const* arrays, int* open) {
  return call(plan, count, arrays, arrays_call::begin, open);
}
int keel_finish(int open) {
  return guarded([&] {
    auto const begun = share<open_object>(open);
    (void)keel_free(open);
    begun->by->it->finish(*begun->it);
  });
}
