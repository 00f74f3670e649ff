// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/array_plan.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace keel::residency::detail {

KEEL_INLINE array_plan::array_plan(array_exchanges& by, std::span<array_ref const> all,
                                   std::span<std::int64_t const> orders)
    : by_(&by) {
  arrays_.resize(all.size());
  for (std::size_t n = 0; n < all.size(); ++n) {
    array& a = arrays_[n];
    a.lies = all[n];
    share const here = by_->share_for(a.lies);
    a.form = shape_of(a.lies, here, orders[n] % unclear_order, exchanger_name, a.order);
    a.cut = &by_->cut_of(a.lies, here);
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

KEEL_INLINE void array_plan::connect() {
  for (part& p : parts_) p.by = by_->ways_for(p.from, p.partners);
}

KEEL_INLINE bool array_plan::is_planned_for(std::span<array_ref const> all) const {
  return std::equal(arrays_.begin(), arrays_.end(), all.begin(), all.end(), [](array const& a, array_ref const& b) {
    return a.lies.lies_as(b) && a.lies.on == b.on && a.lies.indexed == b.indexed && a.lies.index_of == b.index_of &&
           a.lies.says_layers == b.says_layers && a.lies.layers == b.layers;
  });
}

KEEL_INLINE void array_plan::require_planned(std::span<array_ref> all, combine how) const {
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

KEEL_INLINE void array_plan::begin(std::span<array_ref> all, combine how, std::span<copy_queue const* const> queues,
                                   exchange& made) {
  if (by_->agrees_) by_->with_.all_alike(planning, [&] { require_planned(all, how); });
  else require_planned(all, how);
  made.halves.reserve(parts_.size());
  by_->open_.reserve(by_->open_.size() + all.size());
  try {
    begin_halves(all, how, queues, made);
  } catch (...) { // other ranks wait for what has begun
    try {
      finish(made);
    } catch (std::exception const&) {
    } // the first error says more
    throw;
  }
  for (std::size_t n = 0; n < all.size(); ++n)
    by_->open_.push_back(array_exchanges::use_of(arrays_[n].lies, all[n].data, &made));
}

KEEL_INLINE void array_plan::begin_halves(std::span<array_ref const> all, combine how,
                                          std::span<copy_queue const* const> queues, exchange& made) {
  any_observer none;
  for (std::size_t n = 0; n < parts_.size(); ++n) {
    part& p = parts_[n];
    copy_queue const* queue = p.by->queue.get();
    exchange::half half{};
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (arrays_[k].part != n) continue;
      half.arrays.push_back({&arrays_[k].form, all[k].data, arrays_[k].cut, 0});
      if (k < queues.size() && queues[k] != nullptr) queue = queues[k];
      if (all[k].where != nullptr && p.from == nullptr) all[k].where->fence();
    }
    auto at =
        std::find_if(p.calls.begin(), p.calls.end(), [&](call const& c) { return !c.is_open && c.queue == queue; });
    if (at == p.calls.end())
      at = p.calls.insert(
          at, {queue, std::make_unique<halo_exchange>(p.by->all, queue != nullptr ? *queue : copy_queue()), false});
    half.by = at->halo.get();
    half.by->start(half.arrays, how);
    at->is_open = true;
    made.halves.push_back(std::move(half));
    p.by->all.report_new(none);
  }
}

KEEL_INLINE void array_plan::finish(exchange& begun) {
  any_observer none;
  std::erase_if(by_->open_, [&](array_exchanges::in_use const& u) { return u.by == &begun; });
  auto const halves = std::move(begun.halves);
  begun.halves.clear();
  std::exception_ptr failed;
  for (exchange::half const& h : halves) {
    for (part& p : parts_)
      for (call& c : p.calls)
        if (c.halo.get() == h.by) c.is_open = false;
    try {
      h.by->finish(h.arrays, none);
    } catch (std::exception const&) {
      if (!failed) failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

KEEL_INLINE void array_plan::run(std::span<array_ref> all, combine how) {
  exchange made;
  begin(all, how, {}, made);
  finish(made);
}

} // namespace keel::residency::detail
