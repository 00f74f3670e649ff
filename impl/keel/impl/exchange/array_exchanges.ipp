// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/array_exchanges.hpp>
#include <keel/impl/exchange/exchange_engine.hpp>
#include <keel/impl/layout/arguments.hpp>
#include <keel/impl/layout/grid/grid_share.hpp>
#include <keel/machine/agreement.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace keel::residency::detail {

inline constexpr machine::failing_call planning{exchanger_name, "arrays", "are not exchanged", "Mend that one"};

[[nodiscard]] inline std::string array_number(std::size_t n) { return "array " + std::to_string(n + 1); }

KEEL_INLINE std::shared_ptr<array_exchanges> array_exchanges::made_of(messenger const& ranks,
                                                                      machine::agreement const& with,
                                                                      any_transports (*make)(messenger const&),
                                                                      settings how, bool agrees, grid const* whole,
                                                                      std::span<place const> meshes) {
  return std::make_shared<exchange_engine>(ranks, with, make, std::move(how), agrees, whole, meshes);
}

KEEL_INLINE exchange_engine::exchange_engine(messenger const& ranks, machine::agreement const& with,
                                             any_transports (*make)(messenger const&), settings how, bool agrees,
                                             grid const* whole, std::span<place const> meshes)
    : ranks_(ranks), with_(with), make_(make), how_(std::move(how)), agrees_(agrees) {
  machine::failing_call const making{exchanger_name, "the exchanger", "is not made", "Give what fits"};
  grid_arguments of_grid;
  argument partitions{"partitions"};
  with_.all_alike(making, [&] {
    for (place const& m : meshes) {
      m.space->require_ranks(with_, exchanger_name);
      if (std::any_of(meshes_.begin(), meshes_.end(), [&](place const& k) { return k.mesh == m.mesh; }))
        throw error(exchanger_name, "the mesh " + std::string(m.mesh) + " is given twice",
                    "arrays on it would lie in two ways", "Make an exchanger for each of its partitions");
      meshes_.push_back(m);
      partitions.add(std::int64_t(m.space->digest()));
    }
    if (whole == nullptr) return;
    if (whole->blocks() > 1)
      throw error(exchanger_name, "the grid is in blocks", "an array of the application has all of a rank's share",
                  "Leave blocks out");
    grid_ = std::make_shared<share_list>(1, share_of(*whole, with_.size(), with_.rank()));
  });
  if (whole != nullptr) of_grid.add(*whole);
  require_alike(with_, exchanger_name, "the exchanger is not made", of_grid.all);
  require_alike(with_, exchanger_name, "the exchanger is not made", {&partitions, 1});
}

KEEL_INLINE copy_queue const* exchange_engine::find_queue(void const* type, void const* space,
                                                          bool (*is_same)(void const*, void const*)) const {
  for (known_queue const& k : queues_)
    if (k.type == type && is_same(k.space.get(), space)) return k.queue.get();
  return nullptr;
}
KEEL_INLINE copy_queue const& exchange_engine::keep_queue(void const* type, std::shared_ptr<void const> space,
                                                          copy_queue made) {
  queues_.push_back({type, std::move(space), std::make_unique<copy_queue const>(std::move(made))});
  return *queues_.back().queue;
}

KEEL_INLINE geometry const& exchange_engine::geometry_of(array_ref const& a) const {
  lattice on = a.on;
  on.has_none = false; // of the application's own
  for (auto const& known : geometries_)
    if (known->on == on) return *known;
  if (on.mesh.empty()) {
    if (!grid_)
      throw error(exchanger_name, "an array is given without its mesh", "the exchanger has no grid",
                  "Say array_on<mesh>(...)");
    return *geometries_.emplace_back(std::make_shared<grid_share const>(grid_, on, "of the application"));
  }
  for (place const& m : meshes_)
    if (m.mesh == on.mesh) return *geometries_.emplace_back(m.space->lay(on));
  throw error(exchanger_name, "the mesh " + std::string(on.mesh) + " is not there",
              "the exchanger has no partition of it", "Make it with one");
}

// What is said of an array, whose mesh or grid has so many dimensions, that has to be the same on all ranks.
inline void add_to(argument& all, array_ref const& a, int on_grid) {
  all.add(a.on);
  all.add(a.element_bytes), all.add(a.says_layers ? a.layers : 0);
  for (int d = 0; d < a.indexed; ++d) all.add(a.index_of[std::size_t(d)]);
  for (int d = 0; d < a.rank; ++d) {
    bool is_of_grid = false;
    for (int k = 0; k < on_grid; ++k) is_of_grid = is_of_grid || a.index(k) == d;
    all.add(is_of_grid ? -1 : a.extents[d]);
  }
  all.add(a.is_on_device() ? 1 : 0);
}

KEEL_INLINE std::shared_ptr<array_plan> exchange_engine::plan(std::span<array_ref const> all) {
  auto known = std::find_if(plans_.begin(), plans_.end(), [&](auto const& p) { return p->is_planned_for(all); });
  bool const is_known = known != plans_.end();
  auto const check_all = [&] {
    if (all.empty()) throw error(exchanger_name, "no array is given", "", "Name some");
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (!is_known) require_fits(all[n], geometry_of(all[n]).shares.front(), exchanger_name, array_number(n));
      require_reached(all[n], exchanger_name, array_number(n));
    }
    require_idle(all);
  };
  argument said{"arrays, their order, types, lengths or memories"};
  bool is_good = true;
  // In the usual case one reduction: whether all ranks know the plan, and name the same arrays.
  try {
    check_all();
    for (array_ref const& a : all) add_to(said, a, geometry_of(a).shares.front().rank);
  } catch (std::exception const&) { // said again, to all
    is_good = false;
  }
  std::array<std::int64_t, 4> joined{is_good ? 1 : 0, is_known ? 1 : 0, std::int64_t(said.digest),
                                     ~std::int64_t(said.digest)};
  with_.min(joined);
  if (joined[0] == 0) with_.all_alike(planning, check_all);
  if (joined[2] != ~joined[3]) require_alike(with_, exchanger_name, "arrays are not exchanged", {&said, 1});
  if (joined[1] != 0) {
    std::rotate(plans_.begin(), known, known + 1);
    return plans_.front();
  }
  std::vector<std::int64_t> orders;
  with_.all_alike(planning, [&] {
    plans_.reserve(plans_.size() + 1);
    for (array_ref const& a : all) orders.push_back(order_of(a, geometry_of(a).shares.front().rank));
  });
  with_.min(orders);
  std::shared_ptr<planned_arrays> made;
  with_.all_alike(planning, [&] { made = std::make_shared<planned_arrays>(*this, all, orders); });
  made->connect();
  if (plans_.size() == most_plans) plans_.pop_back();
  plans_.insert(plans_.begin(), made);
  return made;
}

KEEL_INLINE std::shared_ptr<exchange_engine::ways> exchange_engine::ways_for(array_memory const* from,
                                                                             std::span<int const> partners) {
  auto const known = std::find_if(ways_.begin(), ways_.end(), [&](auto const& w) { return w->from == from; });
  bool const is_there = known != ways_.end();
  auto const others = is_there ? std::span<int const>((*known)->partners) : partners;
  if (with_.min(is_there && std::includes(others.begin(), others.end(), partners.begin(), partners.end()) ? 1 : 0) != 0)
    return *known;
  std::shared_ptr<ways> made;
  with_.all_alike(planning, [&] {
    if (!is_there) ways_.reserve(ways_.size() + 1);
    made = std::make_shared<ways>();
    made->from = from;
    std::set_union(partners.begin(), partners.end(), others.begin(), others.end(), std::back_inserter(made->partners));
    if (from != nullptr) made->queue = std::make_unique<copy_queue>(from->make_queue());
    made->all.prepare(make_(ranks_), ranks_, made->partners, how_);
  });
  with_.all_alike(planning,
                  [&] { made->all.connect(from != nullptr ? *made->queue : copy_queue(), memory(from != nullptr)); });
  if (is_there) *known = made; // plans that have the former one keep it
  else ways_.push_back(made);
  return made;
}

KEEL_INLINE void exchange_engine::require_idle(std::span<array_ref const> all) const {
  for (std::size_t n = 0; n < all.size(); ++n) {
    for (std::size_t k = 0; k < n; ++k)
      if (share_elements(all[k], all[n]))
        throw error(exchanger_name,
                    array_number(n) + (all[k].data == all[n].data ? " is " + array_number(k) + " again"
                                                                  : " has elements of " + array_number(k)),
                    "its ghosts would be filled twice", "Name it once");
    if (std::any_of(open_.begin(), open_.end(), [&](in_use const& u) { return share_elements(all[n], u.array); }))
      throw error(exchanger_name, array_number(n) + " is in an exchange that has begun", "its ghosts are on their way",
                  "Finish that one first");
  }
}

KEEL_INLINE planned_arrays::planned_arrays(exchange_engine& by, std::span<array_ref const> all,
                                           std::span<std::int64_t const> orders)
    : by_(&by) {
  arrays_.resize(all.size());
  for (std::size_t n = 0; n < all.size(); ++n) {
    array& a = arrays_[n];
    a.lies = all[n];
    geometry const& here = by_->geometry_of(a.lies);
    a.form = shape_of(a.lies, here.shares.front(), orders[n], exchanger_name, a.order);
    a.cut = &here.cut(1, by_->ranks_.rank(), a.lies.says_layers ? a.lies.layers : all_layers);
    array_memory const* const from = a.lies.is_on_device() ? a.lies.where : nullptr;
    a.part = 0;
    while (a.part < parts_.size() && parts_[a.part].from != from) ++a.part;
    if (a.part == parts_.size()) parts_.push_back({from, {}, nullptr, {}});
    for (partner const& one : a.cut->partners) parts_[a.part].partners.push_back(one.rank);
  }
  for (part& p : parts_) {
    std::sort(p.partners.begin(), p.partners.end());
    p.partners.erase(std::unique(p.partners.begin(), p.partners.end()), p.partners.end());
  }
}

KEEL_INLINE void planned_arrays::connect() {
  for (part& p : parts_) p.by = by_->ways_for(p.from, p.partners);
}

KEEL_INLINE bool planned_arrays::is_planned_for(std::span<array_ref const> all) const {
  return std::equal(arrays_.begin(), arrays_.end(), all.begin(), all.end(), [](array const& a, array_ref const& b) {
    return a.lies.lies_as(b) && a.lies.on == b.on && a.lies.indexed == b.indexed && a.lies.index_of == b.index_of &&
           a.lies.says_layers == b.says_layers && a.lies.layers == b.layers;
  });
}

KEEL_INLINE void planned_arrays::require_planned(std::span<array_ref> all, combine how) const {
  if (all.size() != arrays_.size())
    throw error(exchanger_name,
                policy::counted(std::int64_t(all.size()), "array") + " instead of " + std::to_string(arrays_.size()),
                "that is how many were planned", "Give as many, or make another plan");
  for (std::size_t n = 0; n < all.size(); ++n) {
    array_ref const& planned = arrays_[n].lies;
    array_ref& given = all[n];
    if (given.rank == 0 && given.element_bytes == planned.element_bytes && given.where == nullptr &&
        !planned.is_on_device()) { // a pointer
      void* const data = given.data;
      given = planned, given.data = data;
    }
    auto const lengths = [](array_ref const& a) {
      std::string text = policy::counted(a.element_bytes, "byte") + " an element";
      for (int d = 0; d < a.rank; ++d)
        text += (d == 0 ? ", " : " x ") + std::to_string(a.extents[d]) + " (by " + std::to_string(a.strides[d]) + ')';
      return text + (a.is_on_device() ? " in " + std::string(a.where->name) : "");
    };
    if (!planned.lies_as(given))
      throw error(exchanger_name, array_number(n) + " lies in another way than planned",
                  lengths(given) + "; planned are " + lengths(planned), "Make a plan for it");
    if (how == combine::add && planned.added_as == addend::none)
      throw error(exchanger_name, array_number(n) + " is to be accumulated", "its elements are no numbers",
                  "Exchange it, or accumulate its parts");
  }
  by_->require_idle(all);
}

KEEL_INLINE void planned_arrays::begin(std::span<array_ref> all, combine how, std::span<copy_queue const* const> queues,
                                       exchange& made) {
  if (by_->agrees_) by_->with_.all_alike(planning, [&] { require_planned(all, how); });
  else require_planned(all, how);
  made.halves.reserve(parts_.size());
  try {
    begin_halves(all, how, queues, made);
  } catch (...) { // other ranks wait for what has begun
    try {
      end(made);
    } catch (std::exception const&) {
    } // the first error says more
    throw;
  }
}

KEEL_INLINE void planned_arrays::begin_halves(std::span<array_ref const> all, combine how,
                                              std::span<copy_queue const* const> queues, exchange& made) {
  any_observer none;
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    part& p = parts_[n];
    copy_queue const* queue = p.by->queue.get();
    for (std::size_t k = 0; k < queues.size(); ++k)
      if (arrays_[k].part == n && queues[k] != nullptr) queue = queues[k];
    auto const at =
        std::find_if(p.calls.begin(), p.calls.end(), [&](call const& c) { return !c.is_open && c.queue == queue; });
    call& by = at != p.calls.end()
                   ? *at
                   : p.calls.emplace_back(call{queue, {p.by->all, queue != nullptr ? *queue : copy_queue()}});
    by.arrays.clear();
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (arrays_[k].part != n) continue;
      by.arrays.push_back({&arrays_[k].form, all[k].data, arrays_[k].cut, 0});
      if (all[k].where != nullptr && p.from == nullptr) all[k].where->fence();
    }
    by.halo.start(by.arrays, how, &made == &whole_);
    by.is_open = true;
    made.halves.push_back(&by);
    p.by->all.report_new(none);
  }
}

KEEL_INLINE void planned_arrays::end(exchange& begun) {
  any_observer none;
  std::exception_ptr failed;
  for (call* const by : begun.halves) {
    by->is_open = false;
    try {
      by->halo.finish(by->arrays, none);
    } catch (std::exception const&) {
      if (!failed) failed = std::current_exception();
    }
  }
  begun.halves.clear();
  if (failed) std::rethrow_exception(failed);
}

KEEL_INLINE std::unique_ptr<begun_exchange> planned_arrays::begin(std::span<array_ref> all, combine how,
                                                                  std::span<copy_queue const* const> queues) {
  auto made = std::make_unique<exchange>();
  by_->open_.reserve(by_->open_.size() + all.size());
  begin(all, how, queues, *made);
  for (array_ref const& a : all) by_->open_.push_back({a, made.get()});
  return made;
}
KEEL_INLINE void planned_arrays::finish(begun_exchange& begun) {
  std::erase_if(by_->open_, [&](exchange_engine::in_use const& u) { return u.by == &begun; });
  end(static_cast<exchange&>(begun));
}
KEEL_INLINE void planned_arrays::run(std::span<array_ref> all, combine how) {
  begin(all, how, {}, whole_);
  end(whole_);
}

} // namespace keel::residency::detail
