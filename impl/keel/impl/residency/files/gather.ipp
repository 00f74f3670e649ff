// SPDX-License-Identifier: MIT
#include <keel/impl/residency/files/gather.hpp>
#include <keel/exchange/transport.hpp>
#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/residency/files/checkpoint.hpp>
#include <keel/impl/residency/files/global_order.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/resize.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace keel::residency::detail {

/// What a rank has of a whole: boxes, and their elements one after the other.
struct gathered_part {
  std::vector<ordered_box> boxes;
  std::vector<std::byte> elements;

  void add(ordered_box const& box, void const* data, int element_bytes) {
    auto const* const from = static_cast<std::byte const*>(data);
    boxes.push_back(box);
    for_each_run(box, [&](std::int64_t at, std::int64_t, std::int64_t count) {
      elements.insert(elements.end(), from + at * element_bytes, from + (at + count) * element_bytes);
    });
  }
  void put(void* whole, int element_bytes) const {
    std::byte const* from = elements.data();
    for (ordered_box const& box : boxes)
      for_each_run(box, [&](std::int64_t, std::int64_t first, std::int64_t count) {
        auto const bytes = std::size_t(count * element_bytes);
        std::memcpy(static_cast<std::byte*>(whole) + first * element_bytes, from, bytes);
        from += bytes;
      });
  }
};

/// The parts of all ranks, on the root; of the others nothing.
inline std::vector<gathered_part> parts_on(int root, fields_state& f, agreement const& ranks, gathered_part mine,
                                           machine::failing_call const& failing) {
  auto const size = std::size_t(ranks.size()), me = std::size_t(ranks.rank());
  std::vector<std::uint64_t> counts(2 * size);
  counts[2 * me] = mine.boxes.size(), counts[2 * me + 1] = mine.elements.size();
  ranks.sum(counts);
  std::vector<gathered_part> all;
  messenger& by = *f.ranks_;
  auto const boxes = [](gathered_part const& p) { return p.boxes.size() * sizeof(ordered_box); };
  ranks.all_or_none(failing, [&] {
    if (ranks.rank() != root) return by.reserve(2);
    all.resize(size);
    for (std::size_t r = 0; r < size; ++r) {
      if (r == me) continue;
      all[r].boxes.resize(std::size_t(counts[2 * r])), all[r].elements.resize(std::size_t(counts[2 * r + 1]));
    }
    by.reserve(2 * size);
  });
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (r == me || all[r].boxes.empty()) continue;
    by.receive(all[r].boxes.data(), boxes(all[r]), int(r));
    if (!all[r].elements.empty()) by.receive(all[r].elements.data(), all[r].elements.size(), int(r));
  }
  if (ranks.rank() != root && !mine.boxes.empty()) {
    by.send(mine.boxes.data(), boxes(mine), root);
    if (!mine.elements.empty()) by.send(mine.elements.data(), mine.elements.size(), root);
  }
  by.wait();
  if (ranks.rank() == root) all[me] = std::move(mine);
  return all;
}

KEEL_INLINE void gather(fields_state& f, request const& what, int component, int root, gathered_array const& into) {
  agreement const& ranks = ranks_for(f, "gather");
  arrays const& on = f.arrays_;
  std::string const name(on.variables()[std::size_t(what.variable)].about->name);
  machine::failing_call const failing{"residency::gather", name, "is not gathered", "Take fewer elements"};
  if (root < 0 || root >= ranks.size())
    throw error("residency::gather", name + " is not gathered", "there is no rank " + std::to_string(root),
                "Name one of " + std::to_string(ranks.size()));
  on.require_component({component}, every_component.of(on.components()), "gather");
  bool const is_whole = on.has_blocks();
  component_range const range{is_whole ? 0 : component, is_whole ? on.components() : component + 1};
  number_elements(f.arrays_, ranks);
  array_kind const& kind = *on.variables()[std::size_t(what.variable)].kind;
  int const element = int(kind.element_bytes);
  elements const* const with_ids = on.lattice_of(what.variable)->with_ids();
  gathered_part mine, ids;
  std::vector<dimension_run> dimensions;
  ranks.all_or_none(failing, [&] {
    request const all{what.variable, what.level, region::owned, region::none};
    if (f.book_.keeps_ledger()) f.book_.acquire({&all, 1}, host, "gather", range);
    f.book_.settle_all("gather");
    for (int c = range.begin; c < range.end; ++c) {
      whole_variable const whole{on, what.variable, c};
      dimensions = whole.dimensions();
      // What every rank has is the root's.
      bool const is_on_all = on.provider().shape_of(what.variable, c).part == nullptr;
      if (is_on_all && ranks.rank() != root) continue;
      for (ordered_box const& box : whole.boxes(region::owned, !is_on_all))
        mine.add(box, on.provider().array(what.variable, what.level, c, host), element);
    }
    if (with_ids == nullptr) return;
    for (ordered_box const& box : boxes_of_ids(*with_ids)) ids.add(box, with_ids->ids.data(), 8);
  });
  auto const parts = parts_on(root, f, ranks, std::move(mine), failing);
  auto const all_ids = with_ids == nullptr ? parts : parts_on(root, f, ranks, std::move(ids), failing);
  ranks.all_or_none(failing, [&] {
    if (ranks.rank() != root) return;
    std::vector<std::size_t> dynamic;
    for (dimension_run const& d : dimensions) dynamic.push_back(std::size_t(d.count));
    if (kind.is_left) std::reverse(dynamic.begin(), dynamic.end());
    auto* const whole = static_cast<std::byte*>(into.make(into.view, dynamic.data()));
    if (with_ids == nullptr) {
      for (gathered_part const& p : parts) p.put(whole, element);
      return;
    }
    // In the order of ranks, then by id.
    std::int64_t before = 1, total = 0, after = element;
    for (dimension_run const& d : dimensions)
      if (d.of_grid == 0) total = d.count;
      else (total == 0 ? before : after) *= d.count;
    std::vector<std::byte> as_ranks_have_it(std::size_t(before * total * after));
    for (gathered_part const& p : parts) p.put(as_ranks_have_it.data(), element);
    auto const size = std::size_t(total);
    std::vector<std::int64_t> of_mesh(size), sorted(size);
    for (gathered_part const& p : all_ids) p.put(of_mesh.data(), 8);
    std::iota(sorted.begin(), sorted.end(), std::int64_t(0));
    std::sort(sorted.begin(), sorted.end(),
              [&](std::int64_t a, std::int64_t b) { return of_mesh[std::size_t(a)] < of_mesh[std::size_t(b)]; });
    for (std::int64_t n = 0; n < before; ++n)
      for (std::int64_t e = 0; e < total; ++e)
        std::memcpy(whole + (n * total + e) * after,
                    as_ranks_have_it.data() + (n * total + sorted[std::size_t(e)]) * after, std::size_t(after));
  });
}

} // namespace keel::residency::detail
