// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The bodies of resizing.hpp.

#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/exchange/moves.hpp>
#include <keel/impl/exchange/packing.hpp>
#include <keel/impl/layout/id_table.hpp>
#include <keel/impl/residency/resizing.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace keel::residency::detail {

KEEL_INLINE former_arrays::~former_arrays() {
  while (!all_.empty()) fields_.arrays_.swap(all_.back()), all_.pop_back();
}

KEEL_INLINE former_variable const& former_arrays::replace(int variable, variable_record next, bool in_place,
                                                          std::vector<int> kept) {
  fields_state& f = fields_;
  former_variable made{variable, std::move(next), {}, {}, std::move(kept)};
  made.arrays.lies = f.arrays_.shapes_of(made.lies);
  kokkos_provider::complete(made.arrays.lies);
  if (in_place) made.arrays.data = f.arrays_.provider().layout_of(variable).data;
  else
    for (int m = 0; m < f.book_.ledger().memories(); ++m) made.views.emplace_back(nullptr, nullptr);
  all_.push_back(std::move(made));
  former_variable& old = all_.back();
  f.arrays_.swap(old);
  if (!in_place) f.arrays_.make_again(old);
  return old;
}

KEEL_INLINE resizing::resizing(fields_state& of, std::string_view who) : fields_(of), former_(of) {
  of.book_.settle_all(who);
  old_meshes_ = of.arrays_.meshes();
}
KEEL_INLINE resizing::~resizing() { fields_.arrays_.meshes().swap(old_meshes_); }

KEEL_INLINE void resizing::set_lengths(int variable, std::span<std::int64_t const> lengths) {
  variable_record next = fields_.arrays_.variables()[std::size_t(variable)];
  if (next.lengths.size() != lengths.size())
    throw error("residency::fields",
                "variable " + std::string(next.about->name) + " has " +
                    policy::counted(std::int64_t(next.lengths.size()), "dimension") +
                    " beyond the grid's or mesh's, resize gets " +
                    policy::counted(std::int64_t(lengths.size()), "length"),
                "every star needs one", "Give as many");
  next.lengths.assign(lengths.begin(), lengths.end());
  lengths_.add(variable);
  for (std::int64_t const n : lengths) lengths_.add(n);
  changed_.push_back(variable);
  copy(former_.replace(variable, std::move(next), false));
}

KEEL_INLINE void resizing::reserve(std::string_view mesh, std::int64_t size) {
  fields_state& f = fields_;
  (void)f.arrays_.mesh_here(mesh); // throws if there is none
  if (size < 0)
    throw error("residency::fields",
                "mesh " + std::string(mesh) + " gets room for " + std::to_string(size) + " elements",
                "it has none or more", "Give a number that is not negative");
  for (mesh_record& m : f.arrays_.meshes()) {
    if (m.name != mesh) continue;
    m.grows = true;
    if (size <= m.room) return;
    m.room = size;
  }
  for (int v = 0; v < int(f.arrays_.variables().size()); ++v)
    if (f.arrays_.lattices()[std::size_t(f.arrays_.variables()[std::size_t(v)].lattice)].on.mesh == mesh)
      copy(former_.replace(v, f.arrays_.variables()[std::size_t(v)], false));
}

// Element by element of the grid or mesh, runs of what both have beyond it.
KEEL_INLINE void resizing::copy(former_variable const& old) {
  fields_state& f = fields_;
  int const variable = old.variable;
  variable_record const &was = old.lies, &is = f.arrays_.variables()[std::size_t(variable)];
  if (is.about->is_scratch) return; // it holds nothing now
  array_kind const& kind = *is.kind;
  for (int c = 0; c < f.arrays_.components(); ++c) {
    auto const one_of = [&](auto const& all) -> auto& { return all[all.size() == 1 ? 0 : std::size_t(c)]; };
    shape from = one_of(old.arrays.lies), to = f.arrays_.provider().shape_of(variable, c);
    auto const length = [&](variable_record const& r, int d) {
      return d < kind.dynamic ? std::int64_t(one_of(r.extents)[std::size_t(d)]) : kind.fixed[d];
    };
    struct run {
      std::int64_t from, to;
    };
    std::vector<run> runs{{0, 0}};
    std::int64_t here = 1, there = 1, together = 1;
    bool is_joined = true, grows = to.elements > from.elements;
    for (int k = to.rank; k < kind.rank; ++k) {
      int const d = kind.is_left ? k : kind.rank - 1 - (k - to.rank);
      std::int64_t const before = length(was, d), after = length(is, d), both = std::min(before, after);
      grows = grows || after > before;
      if (is_joined) {
        together *= both, is_joined = before == after;
      } else {
        std::vector<run> more;
        for (std::int64_t n = 0; n < both; ++n)
          for (run const& r : runs) more.push_back({r.from + n * here, r.to + n * there});
        runs = std::move(more);
      }
      here *= before, there *= after;
    }
    from.inner = to.inner = together;
    bounds const box = to.rank != 0 ? to.part->everywhere() : bounds{};
    std::size_t const bytes = padded(from, box);
    for (int l = 0; l < is.about->levels; ++l) {
      auto const at = std::size_t(c * is.about->levels + f.arrays_.provider().slot(variable, l));
      for (int k = f.book_.ledger().memories(); k-- > 0;) { // the host last, whose new array is zeros until then
        memory const m{std::uint8_t(k)};
        auto const& data = old.arrays.data[std::size_t(k)];
        bool const is_valid_there = !f.book_.keeps_ledger() ||
                                    std::any_of(std::begin(single_regions), std::end(single_regions), [&](region one) {
                                      return f.book_.ledger().is_valid(variable, l, one, m, c, 0);
                                    });
        if (data.empty() || !is_valid_there) continue;
        auto* const target = static_cast<std::byte*>(f.arrays_.provider().array(variable, l, c, m));
        std::vector<box_move> out, in;
        std::shared_ptr<std::byte> buffer;
        if (m != host) buffer = f.arrays_.provider().queue_of(m).allocate("keel: resizing", runs.size() * bytes);
        std::vector<std::uint64_t> words(m == host ? runs.size() * bytes / 8 : 0);
        std::byte* place = m == host ? reinterpret_cast<std::byte*>(words.data()) : buffer.get();
        for (run const& r : runs) {
          out.push_back({motion::gather, &from,
                         static_cast<std::byte*>(data[at]) + r.from * from.inner_stride * from.element_bytes, place,
                         box});
          in.push_back({motion::scatter, &to, target + r.to * to.inner_stride * to.element_bytes, place, box});
          place += bytes;
        }
        if (m == host) {
          for (auto const* list : {&out, &in})
            for (box_move const& each : *list) move_on_host(each);
          continue;
        }
        copy_queue const& queue = f.arrays_.provider().queue_of(m);
        try {
          if (grows)
            queue.to_device(target, f.arrays_.provider().array(variable, l, c, host),
                            f.arrays_.provider().size_of(variable, c));
          queue.move(out), queue.move(in);
        } catch (...) { // what was begun still uses the buffer
          queue.fence();
          throw;
        }
        queue.fence();
      }
    }
  }
}

KEEL_INLINE void resizing::commit() {
  fields_.forget_layouts();
  for (int const v : changed_) fields_.book_.renew(v);
  former_.drop();
  old_meshes_ = fields_.arrays_.meshes();
}

} // namespace keel::residency::detail
