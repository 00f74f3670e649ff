// SPDX-License-Identifier: MIT
#include <keel/impl/layout/mesh/mesh_share.hpp>
#include <keel/impl/layout/elements.hpp>
#include <keel/machine/agreement.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace keel::residency::detail {

/// A mesh, as a partition cuts it.
class cut_mesh : public index_space {
public:
  cut_mesh(std::string_view name, std::shared_ptr<elements const> part) : name_(name), part_(std::move(part)) {}

  [[nodiscard]] std::shared_ptr<geometry const> lay(lattice const& as) const override {
    if (!regions_) regions_ = std::make_shared<mesh_regions const>(*part_);
    return std::make_shared<mesh_share const>(part_, as, regions_);
  }
  [[nodiscard]] std::uint64_t digest() const override { return part_->digest; }
  void require_ranks(machine::agreement const& ranks, std::string_view who) const override {
    if (part_->rank != ranks.rank() || part_->ranks != ranks.size())
      throw error(who,
                  "the partition of " + std::string(name_) + " was made on another environment than that of the run");
  }
  [[nodiscard]] std::shared_ptr<elements const> with_ids() const override { return part_; }

private:
  std::string_view name_;
  std::shared_ptr<elements const> part_;
  mutable std::shared_ptr<mesh_regions const> regions_;
};

KEEL_INLINE std::shared_ptr<index_space const> mesh_space(std::string_view mesh, std::shared_ptr<elements const> part) {
  return std::make_shared<cut_mesh const>(mesh, std::move(part));
}

KEEL_INLINE mesh_regions::mesh_regions(elements const& of) {
  std::int64_t const end = of.ends.empty() ? of.owned : of.ends.back();
  std::vector<std::uint64_t> is_outer(std::size_t(end) / 64 + 1); // a bit each
  auto const add = [&](layered_list const& l) {
    for (std::int32_t const e : l.elements) is_outer[std::size_t(e) / 64] |= std::uint64_t{1} << e % 64;
  };
  for (element_partner const& p : of.lists.partners) add(p.rims);
  add(of.lists.own_elements);
  std::vector<std::int32_t> all;
  for (std::size_t n = 0; n != is_outer.size(); ++n)
    for (std::uint64_t left = is_outer[n]; left != 0; left &= left - 1)
      all.push_back(std::int32_t(64 * n) + std::countr_zero(left));
  rim_list_ = element_list(std::move(all)), rim_ = index_set::of(rim_list_);
  halo_ = bounds{{{of.owned}}, {{end}}};
  if (of.order.empty()) return;
  halo_list_ = element_list({of.order.begin() + std::ptrdiff_t(of.owned), of.order.end()});
  halo_ = index_set::of(halo_list_);
}

KEEL_INLINE index_set const& mesh_regions::core(elements const& of) const {
  std::call_once(is_core_listed_, [&] {
    auto const outer = rim_list_.all();
    if (outer.empty() && of.order.empty()) {
      if (of.owned != 0) core_ = bounds{{}, {{of.owned}}};
      return;
    }
    std::vector<std::int32_t> inner;
    inner.reserve(std::size_t(of.owned) - outer.size());
    auto next = outer.begin(); // both lists ascend
    for (std::size_t n = 0; n != std::size_t(of.owned); ++n)
      if (std::int32_t const e = of.place(n); next != outer.end() && *next == e) ++next;
      else inner.push_back(e);
    core_list_ = element_list(std::move(inner)), core_ = index_set::of(core_list_);
  });
  return core_;
}

KEEL_INLINE mesh_share::mesh_share(std::shared_ptr<elements const> of, lattice const& as,
                                   std::shared_ptr<mesh_regions const> regions)
    : geometry(as), of_(std::move(of)), ends_{of_->owned},
      regions_(regions ? std::move(regions) : std::make_shared<mesh_regions const>(*of_)) {
  ends_.insert(ends_.end(), of_->ends.begin(), of_->ends.end());
  share& s = shares.emplace_back();
  s.rank = 1;
  s.ends = ends_;
  s.extents[0] = ends_.back();
  if (ends_.size() > 1) s.regions = region::inside;
  if (as.has_none) ++s.extents[0], s.regions = s.regions | region::walls;
}

// Among scattered ghosts nothing tells which are meant.
KEEL_INLINE bounds mesh_share::reach(share const& part, request const& asked, bool has_ghosts) const {
  if (on.has_none && overlap(asked.reads, region::walls)) return part.everywhere();
  int const layers = overlap(asked.reads, region::halo) ? asked.read_layers : all_layers;
  return part.within(has_ghosts || of_->is_scattered ? layers : 0);
}

KEEL_INLINE bounds mesh_share::owned_in(bounds const&, component) const {
  (void)of_->owned_range(on.mesh); // throws
  return shares.front().owned();
}

// Core and rim are one box, unless ghosts are scattered over them, as are these and the halo.
KEEL_INLINE index_sets mesh_share::sets_of(share const& part, region where, bool has_ghosts) const {
  where = where & (part.regions | region::inside);
  if (!has_ghosts) where = overlap(where, region::core) ? region::owned : region::none;
  index_sets set;
  auto const add = [&](index_set const& one) { set.add(one, 1); };
  bool const has_halo = overlap(where, region::halo);
  bool has_none = overlap(where, region::walls);
  std::int64_t const none = ends_.back();
  if ((where & region::owned) == region::owned && (has_halo || !of_->is_scattered)) {
    std::int64_t end = has_halo ? none : ends_.front();
    if (has_none && end == none) ++end, has_none = false;
    add(bounds{{}, {{end}}});
  } else {
    if (overlap(where, region::core)) add(regions_->core(*of_));
    if (overlap(where, region::rim)) add(regions_->rim());
    if (has_halo) add(regions_->halo());
  }
  if (has_none) add(bounds{{{none}}, {{none + 1}}});
  return set;
}

// Images are in segments of their own, layer by layer, so that each segment has an element once, as sums want it.
KEEL_INLINE decomposition mesh_share::make_cut(int components, int, int layers) const {
  layers = std::min(layers, int(of_->ends.size()));
  decomposition made;
  auto const add = [&](std::vector<segment>& segments, index_set const& p) {
    for (int c = 0; c < components && p.size(1) > 0; ++c) segments.push_back({c, p, c});
  };
  int const at_once = of_->has_images ? 1 : layers;
  for (int first = 0; first < layers; first += at_once) {
    auto const of = [&](layered_list const& list) { return list.of_layers(first, first + at_once); };
    auto const list_of = [&](std::initializer_list<layered_list const*> lists) -> element_list const& {
      std::vector<std::int32_t> numbers;
      for (layered_list const* list : lists) numbers.insert(numbers.end(), of(*list).begin(), of(*list).end());
      return *made.lists.emplace_back(std::make_unique<element_list>(std::move(numbers)));
    };
    for (element_partner const& p : of_->lists.partners) {
      if (first == 0) made.partners.push_back({p.rank, {}, {}});
      partner& to = made.partners[std::size_t(&p - of_->lists.partners.data())];
      if (auto const count = std::int64_t(of(p.rims).size()); count != 0)
        add(to.rims, index_set(list_of({&p.rims}), 0, count));
      if (!of(p.ghosts).empty()) add(to.ghosts, index_set::of(list_of({&p.ghosts})));
    }
    auto const& [partners, ghosts, owned] = of_->lists;
    if (auto const count = std::int64_t(of(ghosts).size()); count != 0) {
      element_list const& list = list_of({&ghosts, &owned, &ghosts});
      index_set const own(list, 0, count);
      for (int c = 0; c < components; ++c) made.own.push_back({{c, own, c}, {c, own.next_listed(), c}});
    }
  }
  return made;
}

KEEL_INLINE indices mesh_share::whole_extents(component, bool) const { return {{of_->numbers.total}}; }

KEEL_INLINE std::vector<placed_box> mesh_share::places(component, bool, region where, bool) const {
  std::vector<placed_box> made;
  std::int64_t next = of_->numbers.first;
  if (overlap(where, region::owned))
    of_->for_each_owned_run([&](std::int64_t begin, std::int64_t count) {
      made.push_back({{{begin, count, next}}});
      next += count;
    });
  return made;
}

} // namespace keel::residency::detail
