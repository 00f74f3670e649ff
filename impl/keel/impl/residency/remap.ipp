// SPDX-License-Identifier: MIT
#include <keel/impl/residency/remap.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/residency/exchanger.hpp>
#include <keel/impl/residency/fields_state.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

namespace keel::residency::detail {

KEEL_INLINE remap::remap(fields_state& of, std::string_view who, std::span<new_values const> values)
    : next{of.arrays_.meshes(), of.arrays_.lattices(), of.arrays_.shares(), of.arrays_.components(), {}}, fields_(of),
      arrays_(of.arrays_), book_(of.book_), who_(who), values_(values) {}

KEEL_INLINE remap::~remap() {
  if (is_installed_) swap();
  for (; !former_.empty(); former_.pop_back()) arrays_.swap(former_.back());
}

KEEL_INLINE void remap::swap() {
  arrays_.meshes().swap(next.meshes);
  arrays_.swap(next.shares, next.lattices, next.components);
  if (next.states) book_.ledger().swap(*next.states);
}

KEEL_INLINE void remap::install() {
  swap();
  is_installed_ = true;
}

KEEL_INLINE former_variable const& remap::replace(int variable, variable_record lies, bool in_place,
                                                  std::vector<int> kept) {
  former_variable made{variable, std::move(lies), {}, {}, std::move(kept)};
  made.arrays.lies = arrays_.shapes_of(made.lies);
  if (in_place) made.arrays.data = arrays_.provider().layout_of(variable).data;
  else
    for (int m = 0; m < arrays_.memories(); ++m) made.views.emplace_back(nullptr, nullptr);
  former_variable& old = former_.emplace_back(std::move(made));
  arrays_.swap(old);
  if (!in_place) arrays_.make_again(old);
  return old;
}

KEEL_INLINE void remap::zero(int variable, int level, int component, memory m) {
  kokkos_provider& by = arrays_.provider();
  by.queue_of(m).to_device(by.array(variable, level, component, m), by.array(variable, level, component, host),
                           by.size_of(variable, component));
}

// As many elements as both have in each dimension, the fastest first; the slowest one by one, if a strip has too few.
KEEL_INLINE void remap::copy(former_variable const& old) {
  int const variable = old.variable;
  variable_record const& is = arrays_.variables()[std::size_t(variable)];
  array_kind const& kind = *is.kind;
  kokkos_provider& by = arrays_.provider();
  for (int c = 0; c < arrays_.components() && !is.about->is_scratch; ++c) { // a scratch holds nothing now
    shape from, to;
    from.element_bytes = to.element_bytes = kind.element_bytes;
    std::vector<dimension_run> before, after;
    bool grows = false;
    for (std::int64_t k = 0, here = 1, there = 1; k < kind.rank; ++k) {
      int const d = kind.is_left ? int(k) : kind.rank - 1 - int(k);
      auto const length = [&](variable_record const& r) {
        auto const& extents = r.extents[r.extents.size() == 1 ? 0 : std::size_t(c)];
        return d < kind.dynamic ? std::int64_t(extents[std::size_t(d)]) : kind.fixed[d];
      };
      std::int64_t const had = length(old.lies), has = length(is);
      shape const& lies = by.shape_of(variable, c);
      std::int64_t const both = d < lies.rank ? lies.part->extents[d] : std::min(had, has);
      before.push_back({-1, both, here}), after.push_back({-1, both, there});
      grows = grows || has > had;
      here *= had, there *= has;
    }
    std::size_t const in_strip = std::min<std::size_t>(before.size(), strip::max - 1);
    from.order = std::span(before).first(in_strip), to.order = std::span(after).first(in_strip);
    std::int64_t strips = 1;
    for (std::size_t k = in_strip; k < before.size(); ++k) strips *= before[k].count;
    for (int l = 0; l < is.about->levels; ++l)
      for (int k = arrays_.memories(); k-- > 0;) { // the host last, whose new array is zeros until then
        memory const m{std::uint8_t(k)};
        auto const& data = old.arrays.data[std::size_t(k)];
        bool const is_valid =
            !book_.keeps_ledger() || std::any_of(std::begin(single_regions), std::end(single_regions), [&](region one) {
              return book_.ledger().is_valid(variable, l, one, m, c, 0);
            });
        if (data.empty() || !is_valid) continue;
        std::vector<job> moves;
        for (std::int64_t n = 0; n < strips; ++n) {
          auto* source = static_cast<std::byte*>(data[std::size_t(c * is.about->levels + by.slot(variable, l))]);
          auto* target = static_cast<std::byte*>(by.array(variable, l, c, m));
          std::int64_t rest = n;
          for (std::size_t d = in_strip; d < before.size(); ++d) {
            std::int64_t const bytes = rest % before[d].count * kind.element_bytes;
            source += bytes * before[d].stride, target += bytes * after[d].stride;
            rest /= before[d].count;
          }
          moves.push_back(job_of(motion::copy, to, target, source, {}, nullptr, &from));
        }
        copy_queue const* const queue = &by.queue_of(m);
        until_done({&queue, 1}, [&] {
          if (grows && m != host) zero(variable, l, c, m);
          queue->move(moves);
        });
      }
  }
}

KEEL_INLINE void remap::fill(int variable, int component, int from, element_moves const* moves) {
  variable_info const& about = *arrays_.variables()[std::size_t(variable)].about;
  for (int l = 0; l < about.levels && !about.is_scratch; ++l) { // a scratch holds nothing now
    auto const memory_with = [&](region where) { return book_.memory_with(variable, l, where, from); };
    level_here& one = levels_.emplace_back(level_here{variable, l, component, from, moves});
    if (moves != nullptr) one.where = memory_with(region::owned);
    if (moves != nullptr && one.where == memory::none && memory_with(region::rim) != memory::none)
      one.where = memory_with(region::core);
    numbers_.resize(2 * levels_.size() + 1);
  }
}

KEEL_INLINE bool remap::has_none(int variable) const {
  return arrays_.variables()[std::size_t(variable)].about->on.has_none;
}
KEEL_INLINE new_values const* remap::values_of(int variable) const {
  auto const at = std::find_if(values_.begin(), values_.end(), [&](auto const& v) { return v.variable == variable; });
  return at != values_.end() ? &*at : nullptr;
}

// A rank whose elements are all new has nothing that could be valid nowhere.
KEEL_INLINE void remap::lack_values(element_moves const& moves) {
  for (level_here& one : levels_) {
    if (one.moves != &moves || !book_.keeps_ledger()) continue;
    one.lacks_values = values_of(one.variable) == nullptr;
    if (!one.lacks_values && one.where == memory::none && !moves.leaves_any) one.where = host, one.is_all_new = true;
  }
}

// By the least and the most of numbers, that of a memory plus one, 0 if the values are nowhere. Of several memories all
// take the host's.
KEEL_INLINE void remap::agree_on_levels(thunk find) {
  auto const step = [&] {
    find();
    for (std::size_t n = 0; level_here const& one : levels_) {
      std::int64_t const number = one.lacks_values || one.where == memory::none ? 0 : 1 + std::int64_t(one.where);
      numbers_[n++] = number, numbers_[n++] = -number;
    }
  };
  fields_.agreement_->all_or_none({"residency::fields", who_, "is not done", take_less}, step, numbers_);
  for (std::size_t n = 0; level_here & one : levels_) {
    std::int64_t const least = numbers_[n++], most = -numbers_[n++];
    one.travels = least > 0;
    if (one.travels) one.where = least == most ? memory(least - 1) : host;
  }
}

// Packs the values of these elements, which go to an array that lies so.
inline void pack_new(new_values const& given, shape const& to, std::span<std::int32_t const> elements,
                     std::byte* into) {
  bounds const box{{}, {{std::int64_t(elements.size())}}};
  if (given.rows == nullptr) {
    for (std::int64_t n = 0; n < box.end[0] * to.inner; ++n, into += to.element_bytes)
      std::memcpy(into, given.element, std::size_t(to.element_bytes));
    return;
  }
  shape lies = to;
  if (to.inner != 1 && to.stride[0] == 1) lies.inner_stride = std::int64_t(given.row_count);
  move_on_host(job_of(motion::gather, lies, given.rows.get(), into, box, elements.data()));
}

KEEL_INLINE void remap::gather() {
  book_.settle_all(who_);
  if (book_.keeps_ledger())
    for (level_here const& one : levels_)
      if (one.travels && !one.is_all_new) {
        request const all{one.variable, one.level, region::owned, region::none};
        book_.acquire({&all, 1}, one.where, who_, {one.from, one.from + 1});
      }
  book_.settle_all(who_);
}

KEEL_INLINE void remap::find_arrays() {
  kokkos_provider& by = arrays_.provider();
  for (level_here const& one : levels_) {
    if (!one.travels) continue;
    kokkos_provider::layout const& old = std::find_if(former_.begin(), former_.end(), [&](auto const& had) {
                                           return had.variable == one.variable;
                                         })->arrays;
    int const levels = arrays_.variables()[std::size_t(one.variable)].about->levels;
    auto const number = std::size_t(one.from * levels + by.slot(one.variable, one.level));
    decomposition const& cut = one.moves->cut;
    for (partner const& p : cut.partners) fields_.exchanger_->add_partner(p.rank);
    halo_array const from{&old.lies[old.lies.size() == 1 ? 0 : std::size_t(one.from)],
                          old.data[std::size_t(one.where)][number], &cut, 0},
        to{&by.shape_of(one.variable, one.component), by.array(one.variable, one.level, one.component, one.where), &cut,
           0};
    moved_.push_back({from, to, &by.queue_of(one.where), one.where});
    sent_.push_back({one.variable, one.level, one.component, bytes_sent(from, combine::replace), who_});
    if (from.data == to.data || one.where == host) continue;
    std::int64_t count = 0;
    for (partner const& p : cut.partners)
      for (segment const& s : p.ghosts) count += s.box.size(to.lies->rank);
    if (count == (to.lies->rank == 0 ? 1 : to.lies->part->owned().size(to.lies->rank))) continue;
    copy_queue const* const queue = &by.queue_of(one.where);
    until_done({&queue, 1}, [&] { zero(one.variable, one.level, one.component, one.where); });
  }
}

KEEL_INLINE void remap::exchange() {
  book_.observer().before_exchange();
  if (!moved_.empty()) relocation_->exchange();
  book_.observer().after_exchange(sent_, false);
}

KEEL_INLINE void remap::unpack() {
  book_.observer().before_exchange();
  relocation_->for_each_new([&](std::size_t array, std::span<std::int32_t const> elements, std::byte* into) {
    shape const& lies = *moved_[array].to.lies;
    new_values const* const given = values_of(sent_[array].variable);
    if (given != nullptr) pack_new(*given, lies, elements, into);
    else std::memset(into, 0, padded(lies, {{}, {{std::int64_t(elements.size())}}}));
  });
  relocation_->unpack();
  for (level_here const& one : levels_) // the element of with_none begins anew
    if (one.moves != nullptr && has_none(one.variable)) {
      shape const& lies = arrays_.provider().shape_of(one.variable, one.component);
      std::int64_t const none = lies.part->extents[0] - 1;
      bounds const box{{{none}}, {{none + 1}}};
      std::vector<std::byte> zeros(padded(lies, box));
      move_on_host(job_of(motion::scatter, lies, arrays_.provider().array(one.variable, one.level, one.component, host),
                          zeros.data(), box));
    }
  for (level_here const& one : levels_)
    for (int m = 0; m < arrays_.memories() && book_.poisons() && book_.keeps_ledger(); ++m)
      for (region const part : {region::core, region::rim, region::halo})
        if (book_.ledger().is_open(memory(m)) && !(part != region::halo && one.travels && one.where == memory(m)))
          arrays_.provider().poison(one.variable, one.level, one.component, part, memory(m));
  book_.observer().after_exchange(sent_, true);
}

KEEL_INLINE void remap::lose() {
  for (level_here const& one : levels_)
    if (request const all{one.variable, one.level, region::none, region::everywhere};
        one.from >= 0 && book_.keeps_ledger())
      book_.ledger().lose({&all, 1}, {one.component, one.component + 1}, who_);
}

KEEL_INLINE void remap::run(thunk find, thunk lay_out) {
  fields_state& f = fields_;
  auto const agree = [&](auto const& step, std::span<std::int64_t> all) {
    f.agreement_->all_or_none({"residency::fields", who_, "is not done", take_less}, step, all);
  };
  agree_on_levels(find);
  std::array<std::int64_t, 2> reaches_all{1, 0}, is_intact{1, 0};
  relocation_ = std::move(f.relocation_);
  auto const make_room = [&] {
    if (!relocation_) relocation_ = std::make_shared<relocation>(*f.ranks_, f.exchanger_->all_ways());
    relocation_->lay_out(moved_);
  };
  agree(
      [&] {
        gather();
        lay_out();
        find_arrays();
        make_room();
        reaches_all[0] = f.exchanger_->reaches_partners() ? 1 : 0;
      },
      reaches_all);
  exchanger::ways ways;
  auto const swap_ways = [&] {
    if (reaches_all[0] == 0) f.exchanger_->swap(ways);
  };
  swap_ways();
  try {
    std::span const slot = std::span(is_intact).last(1);
    if (reaches_all[0] == 0) {
      agree([&] { f.prepare_to_connect(); }, slot);
      agree([&] { f.connect(), relocation_.reset(), make_room(); }, slot);
    }
    agree([&] { relocation_->pack(); }, slot);
    agree([&] { exchange(); }, slot);
    agree(
        [&] {
          for (former_variable const& had : former_) is_intact[0] = had.views.empty() ? 0 : is_intact[0];
          unpack();
        },
        is_intact);
  } catch (...) {
    swap_ways(); // back to the former ways to other ranks
    if (is_intact[0] == 0) lose();
    throw;
  }
  commit();
}

KEEL_INLINE void remap::commit() {
  if (relocation_) fields_.relocation_ = std::move(relocation_);
  any_observer& observer = book_.observer();
  for (former_variable const& had : former_)
    if (!had.kept.empty()) observer.renumber(had.variable, had.kept);
  lose();
  for (former_variable const& had : former_) { // others have the bytes that they had
    variable_record const& v = arrays_.variables()[std::size_t(had.variable)];
    auto const lattice = std::size_t(v.lattice);
    if (arrays_.lattices()[lattice] != next.lattices[lattice] || v.lengths != had.lies.lengths)
      book_.renew(had.variable);
  }
  for (level_here const& one : levels_) {
    if (!book_.keeps_ledger()) break;
    book_.ledger().set_lacks_values(one.variable, one.lacks_values);
    if (request const all{one.variable, one.level, region::none, region::owned}; one.travels)
      book_.ledger().post_call({&all, 1}, one.where, {one.component, one.component + 1}, who_);
    if (request const none{one.variable, one.level, region::none, region::walls};
        one.moves != nullptr && has_none(one.variable))
      book_.ledger().post_call({&none, 1}, host, {one.component, one.component + 1}, who_);
  }
  for (sent const& s : sent_)
    book_.traffic().add_bytes(s.variable, way::to_neighbours, region::rim, {0, s.bytes, s.bytes});
  fields_.exchanger_->forget(), fields_.executor_.forget();
  is_installed_ = false;
  former_.clear();
}

} // namespace keel::residency::detail
