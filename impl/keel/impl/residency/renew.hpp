// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The bodies of renewal.hpp.

#include <keel/impl/residency/renewal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace keel::residency::detail {

KEEL_INLINE renewal::renewal(fields_state& of, std::span<cut_anew> meshes, std::string_view who)
    : fields_(of), meshes_(meshes), who_(who), former_(of) {
  for (std::size_t v = 0; v < of.variables_.size(); ++v) {
    auto const& on = of.lattices_[std::size_t(of.variables_[v].lattice)].on;
    auto const mesh = std::find_if(meshes.begin(), meshes.end(), [&](cut_anew const& m) { return m.mesh == on.mesh; });
    if (mesh == meshes.end()) continue;
    for (int l = 0; l < of.variables_[v].about->levels; ++l)
      for (int c = 0; c < of.components(); ++c) levels_.push_back({int(v), l, c, int(mesh - meshes.begin())});
  }
  for (level_here& one : levels_) {
    // The last memory that has this region; a device rather than the host.
    auto const memory_with = [&](region where) {
      if (of.variables_[std::size_t(one.variable)].about->is_scratch) return memory::none;
      if (!of.keeps_ledger_) return host;
      for (int m = of.ledger_.memories(); m-- > 0;)
        if (of.ledger_.is_open(memory(m)) &&
            of.ledger_.is_valid(one.variable, one.level, where, memory(m), one.component))
          return memory(m);
      return memory::none;
    };
    one.where = memory_with(region::owned);
    if (one.where == memory::none && memory_with(region::rim) != memory::none) one.where = memory_with(region::core);
    bool const can_move = one.where != memory::none && meshes_[std::size_t(one.mesh)].moves != nullptr;
    travelling_.push_back(can_move ? 1 : 0);
  }
}

KEEL_INLINE renewal::~renewal() {
  if (old_meshes_.empty()) return;
  fields_.meshes_.swap(old_meshes_);
  fields_.lattices_.swap(old_lattices_);
}

// Meshes and lattices beside those that are there.
KEEL_INLINE void renewal::take_meshes() {
  fields_state& f = fields_;
  std::vector<mesh_record> meshes = f.meshes_;
  std::vector<lattice_record> lattices;
  for (cut_anew const& next : meshes_) {
    auto& mesh = *std::find_if(meshes.begin(), meshes.end(), [&](auto const& m) { return m.name == next.mesh; });
    auto const size = std::int64_t(next.part->ids.size());
    mesh.grows = mesh.grows || next.grows;
    mesh.here = std::make_shared<mesh_share const>(next.part);
    stays_.push_back(mesh.grows ? size <= mesh.room : size == mesh.room);
    if (!stays_.back()) mesh.room = size;
  }
  for (auto& l : f.lattices_) {
    auto const mesh = std::find_if(meshes.begin(), meshes.end(), [&](auto const& m) { return m.name == l.on.mesh; });
    if (mesh == meshes.end() || mesh->here == l.mesh) lattices.push_back({l.on, l.shares, l.mesh, {}});
    else lattices.push_back({l.on, std::make_shared<share_list const>(1, mesh->here->of_variable()), mesh->here, {}});
  }
  f.meshes_.swap(meshes), f.lattices_.swap(lattices);
  old_meshes_ = std::move(meshes), old_lattices_ = std::move(lattices);
}

KEEL_INLINE void renewal::prepare() {
  fields_state& f = fields_;
  f.settle_all(who_);
  if (f.keeps_ledger_)
    for (std::size_t n = 0; n < levels_.size(); ++n)
      if (level_here const& one = levels_[n]; travelling_[n] != 0) {
        request const all{one.variable, one.level, region::owned, region::none};
        f.acquire({&all, 1}, one.where, who_, {one.component, one.component + 1});
      }
  f.settle_all(who_);
  // Meshes with room for more keep their arrays, larger ones if need be.
  for (cut_anew const& next : meshes_) {
    auto const& mesh = f.mesh_here(next.mesh);
    auto const size = std::int64_t(next.part->ids.size());
    if (!(mesh.grows || next.grows) || size <= mesh.room) continue;
    resizing larger{f, who_};
    larger.reserve(next.mesh, std::max(size, mesh.room + mesh.room / 2));
    larger.commit();
  }
  take_meshes();
  for (std::size_t n = 0; n < stays_.size(); ++n)
    if (stays_[n] && meshes_[n].moves) meshes_[n].moves->leave_out_unmoved(f.rank_);
  former_arrays::former const* old = nullptr;
  for (std::size_t n = 0; n < levels_.size(); ++n) {
    level_here const& one = levels_[n];
    auto const& record = f.variables_[std::size_t(one.variable)];
    if (one.level == 0 && one.component == 0)
      old = &former_.replace(one.variable, record, stays_[std::size_t(one.mesh)]);
    if (travelling_[n] == 0) continue;
    auto const& lies = old->arrays.lies;
    std::size_t const at =
        std::size_t(one.component * record.about->levels + f.provider_.slot(one.variable, one.level));
    moved_.push_back({meshes_[std::size_t(one.mesh)].moves.get(),
                      &lies[lies.size() == 1 ? 0 : std::size_t(one.component)],
                      &f.provider_.shape_of(one.variable, one.component), old->arrays.data[std::size_t(one.where)][at],
                      f.provider_.array(one.variable, one.level, one.component, one.where), one.where});
    moved_levels_.push_back(one);
  }
  f.relocation_.lay_out(moved_, f.provider_, f.rank_);
}

KEEL_INLINE void renewal::exchange() {
  fields_.ledger_.observer().before_exchange();
  if (!moved_.empty()) fields_.relocation_.exchange(*fields_.ranks_);
  notify(false);
}

KEEL_INLINE void renewal::notify(bool done) {
  std::vector<sent> all;
  for (level_here const& one : moved_levels_) all.push_back({one.variable, one.level, one.component, 0, who_});
  fields_.relocation_.for_each_sent([&](std::size_t array, std::size_t bytes) { all[array].bytes += bytes; });
  if (done)
    for (sent const& s : all)
      fields_.ledger_.traffic().add_bytes(s.variable, way::to_neighbours, region::rim, {0, s.bytes, s.bytes});
  fields_.ledger_.observer().after_exchange(all, done);
}

KEEL_INLINE void renewal::commit() {
  fields_state& f = fields_;
  f.ledger_.observer().before_exchange();
  f.relocation_.unpack();
  f.forget_layouts();
  auto const all_of = [](level_here const& one, region writes) {
    return request{one.variable, one.level, region::none, writes};
  };
  if (f.keeps_ledger_) {
    for (level_here const& one : levels_)
      if (one.component == 0) {
        request const all = all_of(one, region::everywhere);
        f.ledger_.lose({&all, 1}, {}, who_);
      }
    for (level_here const& one : levels_)
      if (one.level == 0 && one.component == 0) f.renew_bytes(one.variable);
    for (std::size_t n = 0; n < levels_.size(); ++n)
      if (level_here const& one = levels_[n]; travelling_[n] != 0) {
        request const all = all_of(one, region::owned);
        f.ledger_.post_call({&all, 1}, one.where, {one.component, one.component + 1}, who_);
      }
  }
  for (level_here const& one : levels_)
    for (int m = 0; m < f.ledger_.memories() && f.poisons_ && f.keeps_ledger_; ++m)
      for (region const part : {region::core, region::rim, region::halo})
        if (f.ledger_.is_open(memory(m)) &&
            !f.ledger_.is_valid(one.variable, one.level, part, memory(m), one.component))
          f.provider_.poison(one.variable, one.level, one.component, part, memory(m));
  notify(true);
  former_.drop();
  old_meshes_.clear();
}

} // namespace keel::residency::detail
