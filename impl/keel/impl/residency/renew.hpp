// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The bodies of renewal.hpp.

#include <keel/impl/exchange/moves.hpp>
#include <keel/impl/exchange/packing.hpp>
#include <keel/impl/residency/renewal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace keel::residency::detail {

// The last memory that has a region; a device rather than the host.
KEEL_INLINE void renewal::add(int variable, int component, int from, element_moves const* moves) {
  fields_state const& f = fields_;
  variable_info const& about = *f.arrays_.variables()[std::size_t(variable)].about;
  for (int l = 0; l < about.levels && !about.is_scratch; ++l) { // a scratch holds nothing now
    auto const memory_with = [&](region where) {
      if (!f.book_.keeps_ledger()) return host;
      for (int m = f.book_.ledger().memories(); m-- > 0;)
        if (f.book_.ledger().is_open(memory(m)) && f.book_.ledger().is_valid(variable, l, where, memory(m), from))
          return memory(m);
      return memory::none;
    };
    level_here& one = levels_.emplace_back(level_here{variable, l, component, from, moves});
    if (moves != nullptr) one.where = memory_with(region::owned);
    if (moves != nullptr && one.where == memory::none && memory_with(region::rim) != memory::none)
      one.where = memory_with(region::core);
    travelling_.back() = one.where != memory::none ? 1 : 0;
    travelling_.push_back(0);
  }
}

KEEL_INLINE new_values const* renewal::values_of(int variable) const {
  for (new_values const& one : values_)
    if (one.variable == variable) return &one;
  return nullptr;
}

// A rank whose elements are all new has nothing that could be valid nowhere.
KEEL_INLINE void renewal::leave_without_values(element_moves const& moves) {
  for (std::size_t n = 0; n < levels_.size() && fields_.book_.keeps_ledger(); ++n) {
    level_here& one = levels_[n];
    if (one.moves != &moves) continue;
    bool const has_values = values_of(one.variable) != nullptr;
    if (has_values && one.where == memory::none && !moves.leaves()) one.where = host, one.is_all_new = true;
    one.lacks_values = !has_values;
    travelling_[n] = has_values && one.where != memory::none ? 1 : 0;
  }
}

KEEL_INLINE void new_values::pack(shape const& to, std::vector<std::int32_t> const& elements, std::byte* into) const {
  bounds const box{{}, {{std::int64_t(elements.size())}}};
  if (rows == nullptr) {
    for (std::int64_t n = 0; n < box.end[0] * to.inner; ++n, into += to.element_bytes)
      std::memcpy(into, element, std::size_t(to.element_bytes));
    return;
  }
  shape lies = to;
  if (to.inner != 1 && to.stride[0] == 1) lies.inner_stride = std::int64_t(row_count);
  move_on_host({motion::gather, &lies, rows.get(), into, box, elements.data()});
}

KEEL_INLINE void renewal::fill_new() {
  for (std::size_t n = 0; n < moved_.size(); ++n) {
    moved_array const& a = moved_[n];
    std::vector<std::int32_t> const* const fresh = a.moves != nullptr ? &a.moves->fresh : nullptr;
    if (fresh == nullptr || fresh->empty()) continue;
    bounds const box{{}, {{std::int64_t(fresh->size())}}};
    std::vector<std::uint64_t> words(padded(*a.to_lies, box) / 8);
    if (new_values const* const given = values_of(moved_levels_[n].variable))
      given->pack(*a.to_lies, *fresh, reinterpret_cast<std::byte*>(words.data()));
    box_move all{motion::scatter, a.to_lies, a.to, words.data(), box, fresh->data()};
    if (a.where == host) {
      move_on_host(all);
      continue;
    }
    copy_queue const& queue = fields_.arrays_.provider().queue_of(a.where);
    std::shared_ptr<std::byte> bytes, numbers;
    try {
      bytes = queue.send("keel: new elements", words.data(), words.size() * 8),
      numbers = queue.send("keel: new elements", fresh->data(), fresh->size() * sizeof(std::int32_t));
      all.buffer = bytes.get(), all.elements = reinterpret_cast<std::int32_t const*>(numbers.get());
      queue.move({&all, 1});
    } catch (...) { // what was begun still uses the words
      queue.fence();
      throw;
    }
    queue.fence();
  }
}

KEEL_INLINE void renewal::gather() {
  fields_state& f = fields_;
  f.book_.settle_all(who_);
  if (f.book_.keeps_ledger())
    for (std::size_t n = 0; n < levels_.size(); ++n)
      if (level_here const& one = levels_[n]; travelling_[n] != 0 && !one.is_all_new) {
        request const all{one.variable, one.level, region::owned, region::none};
        f.book_.acquire({&all, 1}, one.where, who_, {one.from, one.from + 1});
      }
  f.book_.settle_all(who_);
}

KEEL_INLINE void renewal::lay_out() {
  fields_state& f = fields_;
  for (std::size_t n = 0; n < levels_.size(); ++n) {
    level_here const& one = levels_[n];
    if (travelling_[n] == 0) continue;
    kokkos_provider::layout const& old = std::find_if(former_.all().begin(), former_.all().end(), [&](auto const& had) {
                                           return had.variable == one.variable;
                                         })->arrays;
    int const slot = f.arrays_.provider().slot(one.variable, one.level),
              levels = f.arrays_.variables()[std::size_t(one.variable)].about->levels;
    moved_.push_back({one.moves, &old.lies[old.lies.size() == 1 ? 0 : std::size_t(one.from)],
                      &f.arrays_.provider().shape_of(one.variable, one.component),
                      old.data[std::size_t(one.where)][std::size_t(one.from * levels + slot)],
                      f.arrays_.provider().array(one.variable, one.level, one.component, one.where), one.where});
    moved_levels_.push_back(one);
  }
  f.relocation_.lay_out(moved_, f.arrays_.provider(), f.arrays_.rank());
  for (level_here const& one : moved_levels_) sent_.push_back({one.variable, one.level, one.component, 0, who_});
  f.relocation_.for_each_sent([&](std::size_t array, std::size_t bytes) { sent_[array].bytes += bytes; });
  f.relocation_.pack(*f.ranks_);
}

KEEL_INLINE void renewal::exchange() {
  fields_.book_.observer().before_exchange();
  if (!moved_.empty()) fields_.relocation_.exchange(*fields_.ranks_);
  fields_.book_.observer().after_exchange(sent_, false);
}

KEEL_INLINE void renewal::unpack() {
  fields_state& f = fields_;
  f.book_.observer().before_exchange();
  f.relocation_.unpack();
  fill_new();
  auto const has_values = [&](std::size_t n, memory m, region part) {
    return part != region::halo && travelling_[n] != 0 && levels_[n].where == m;
  };
  for (std::size_t n = 0; n < levels_.size() && f.book_.poisons() && f.book_.keeps_ledger(); ++n)
    for (int m = 0; m < f.book_.ledger().memories(); ++m)
      for (region const part : {region::core, region::rim, region::halo})
        if (f.book_.ledger().is_open(memory(m)) && !has_values(n, memory(m), part))
          f.arrays_.provider().poison(levels_[n].variable, levels_[n].level, levels_[n].component, part, memory(m));
  f.book_.observer().after_exchange(sent_, true);
}

KEEL_INLINE void renewal::lose() {
  fields_state& f = fields_;
  if (!f.book_.keeps_ledger()) return;
  for (level_here const& one : levels_)
    if (request const all{one.variable, one.level, region::none, region::everywhere}; one.from >= 0)
      f.book_.ledger().lose({&all, 1}, {one.component, one.component + 1}, who_);
}

KEEL_INLINE void renewal::commit() {
  fields_state& f = fields_;
  lose();
  if (f.book_.keeps_ledger()) {
    for (former_variable const& had : former_.all()) f.book_.renew(had.variable);
    for (level_here const& one : levels_) f.book_.ledger().set_lacks_values(one.variable, one.lacks_values);
    for (std::size_t n = 0; n < levels_.size(); ++n)
      if (level_here const& one = levels_[n]; travelling_[n] != 0) {
        request const all{one.variable, one.level, region::none, region::owned};
        f.book_.ledger().post_call({&all, 1}, one.where, {one.component, one.component + 1}, who_);
      }
  }
  for (sent const& s : sent_)
    f.book_.ledger().traffic().add_bytes(s.variable, way::to_neighbours, region::rim, {0, s.bytes, s.bytes});
  f.forget_layouts();
  former_.drop();
}

KEEL_INLINE mesh_renewal::mesh_renewal(fields_state& of, std::span<cut_anew> meshes, std::string_view who,
                                       std::span<new_values const> values)
    : renewal(of, who, values), meshes_(meshes) {
  for (std::size_t v = 0; v < of.arrays_.variables().size(); ++v) {
    auto const& on = of.arrays_.lattices()[std::size_t(of.arrays_.variables()[v].lattice)].on;
    auto const mesh = std::find_if(meshes.begin(), meshes.end(), [&](cut_anew const& m) { return m.mesh == on.mesh; });
    for (int c = 0; c < of.arrays_.components() && mesh != meshes.end(); ++c) add(int(v), c, c, mesh->moves.get());
  }
}

KEEL_INLINE mesh_renewal::~mesh_renewal() {
  if (old_meshes_.empty()) return;
  fields_.arrays_.meshes().swap(old_meshes_);
  fields_.arrays_.lattices().swap(old_lattices_);
}

// Meshes and lattices beside those that are there.
KEEL_INLINE void mesh_renewal::take_meshes() {
  fields_state& f = fields_;
  std::vector<mesh_record> meshes = f.arrays_.meshes();
  std::vector<lattice_record> lattices;
  for (cut_anew const& next : meshes_) {
    auto& mesh = *std::find_if(meshes.begin(), meshes.end(), [&](auto const& m) { return m.name == next.mesh; });
    auto const size = std::int64_t(next.part->ids.size());
    mesh.grows = mesh.grows || next.grows;
    mesh.here = std::make_shared<mesh_share const>(next.part);
    stays_.push_back(mesh.grows ? size <= mesh.room : size == mesh.room);
    if (!stays_.back()) mesh.room = size;
  }
  for (auto& l : f.arrays_.lattices()) {
    auto const mesh = std::find_if(meshes.begin(), meshes.end(), [&](auto const& m) { return m.name == l.on.mesh; });
    if (mesh == meshes.end() || mesh->here == l.mesh) lattices.push_back({l.on, l.shares, l.mesh});
    else lattices.push_back({l.on, std::make_shared<share_list const>(1, mesh->here->of_variable()), mesh->here});
  }
  f.arrays_.meshes().swap(meshes), f.arrays_.lattices().swap(lattices);
  old_meshes_ = std::move(meshes), old_lattices_ = std::move(lattices);
}

KEEL_INLINE void mesh_renewal::prepare() {
  fields_state& f = fields_;
  gather();
  // Meshes with room for more keep their arrays, larger ones if need be.
  for (cut_anew const& next : meshes_) {
    auto const& mesh = f.arrays_.mesh_here(next.mesh);
    auto const size = std::int64_t(next.part->ids.size());
    if (!(mesh.grows || next.grows) || size <= mesh.room) continue;
    resizing larger{f, who_};
    larger.reserve(next.mesh, std::max(size, mesh.room + mesh.room / 2));
    larger.commit();
  }
  take_meshes();
  for (std::size_t n = 0; n < stays_.size(); ++n)
    if (stays_[n]) meshes_[n].moves->leave_out_unmoved(f.arrays_.rank()), is_in_place_ = true;
  for (std::size_t v = 0; v < f.arrays_.variables().size(); ++v)
    for (std::size_t n = 0; n < meshes_.size(); ++n)
      if (meshes_[n].mesh == f.arrays_.lattices()[std::size_t(f.arrays_.variables()[v].lattice)].on.mesh)
        (void)former_.replace(int(v), f.arrays_.variables()[v], stays_[n]);
  lay_out();
}

KEEL_INLINE void mesh_renewal::commit() {
  renewal::commit();
  old_meshes_.clear();
}

} // namespace keel::residency::detail
