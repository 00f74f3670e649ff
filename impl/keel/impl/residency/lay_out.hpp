// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How the arrays of a variable lie, and what fields keep of them: the bodies of fields_state.hpp.

#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/layout/grid_cut.hpp>
#include <keel/impl/layout/lengths.hpp>
#include <keel/impl/layout/owner_search.hpp>
#include <keel/impl/residency/connect.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/programs.hpp>
#include <keel/impl/residency/reach.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <utility>

namespace keel::residency::detail {

// The shares of `rank` of the grids of all components, or its blocks; one if they are alike.
inline std::vector<share> shares_of(grid const& whole, std::span<grid const> further, int ranks, int rank) {
  std::vector<share> shares{share_of(whole, ranks, rank)};
  for (int b = 1; b < whole.blocks(); ++b)
    shares.push_back(share_of(whole, shares[0].processes, shares[0].blocks, rank, b));
  for (grid const& g : further) {
    if (g.rank() != whole.rank())
      throw error("residency::fields",
                  "component " + std::to_string(shares.size()) + " lies on a grid of " +
                      policy::counted(g.rank(), "dimension") + ", the first on one of " + std::to_string(whole.rank()),
                  "their arrays have one type", "Give all grids as many");
    if (g.blocks() > 1)
      throw error("residency::fields", "component " + std::to_string(shares.size()) + " lies on a grid in blocks",
                  "each block is a component", "Leave blocks or further_grids out");
    shares.push_back(share_of(g, ranks, rank));
  }
  return shares;
}

KEEL_INLINE fields_state::fields_state(grid const& whole, std::span<grid const> further, int ranks, int rank,
                                       int memories, int components, bool checks)
    : ledger_(provider_, memories, components), checks_(checks), poisons_(checks), has_blocks_(whole.blocks() > 1),
      rank_(rank), shares_(std::make_shared<share_list const>(shares_of(whole, further, ranks, rank))),
      programs_(std::make_unique<programs>(*this)) {
  if (checks) reaches_ = std::make_unique<std::deque<reach>>();
}
KEEL_INLINE fields_state::~fields_state() = default;

KEEL_INLINE void fields_state::lay_out(variable_info const& about, array_kind const& kind,
                                       std::initializer_list<lengths_given> given, kokkos_provider::allocator make,
                                       void* owner) {
  auto const name = std::string(about.name);
  int const lattice = find_lattice(about);
  share_list const& all_shares = *lattices_[std::size_t(lattice)].shares;
  int const on_grid = about.lies_on_grid ? all_shares[0].rank : 0, beyond = kind.dynamic - on_grid;
  std::string const whose = about.on.mesh.empty() ? "grid" : "mesh";
  if (beyond < 0)
    throw error("residency::fields",
                "variable " + name + " has " + policy::counted(kind.dynamic, "dimension") + " to be set, the " + whose +
                    " " + std::to_string(on_grid),
                "its first dimensions are the " + whose + "'s", "Declare it off_grid, or give it more");
  std::int64_t const* lengths = nullptr;
  bool is_own = false;
  for (lengths_given const& g : given)
    if (!is_own && g.lengths != nullptr && (g.is_own || (lengths == nullptr && g.count == beyond)))
      lengths = g.lengths, is_own = g.is_own && g.count == beyond;
  if (beyond > 0 && lengths == nullptr)
    throw error("residency::fields",
                "variable " + name + " has " + policy::counted(beyond, "dimension") + " beyond the " + whose +
                    "'s without a length",
                "every star needs one", "Pass extra<" + name + ">{...}");
  variable_record& v = variables_.emplace_back();
  v.about = &about, v.kind = &kind, v.lattice = lattice, v.arrays = about.levels * components();
  v.make = make, v.owner = owner;
  v.lengths.assign(lengths, lengths + beyond);
  if (about.is_scratch) make = [](void*, int, memory) {}; // when a schedule uses it
  arrays_.reserve(arrays_.size() + std::size_t(ledger_.memories()));
  for (int m = 0; m < ledger_.memories(); ++m) arrays_.emplace_back(nullptr, nullptr);
  provider_.add(shapes_of(v), about.levels, make, owner);
  int const number = ledger_.variables();
  (void)ledger_.add(about.name, about.levels, provider_.bytes_of(number), about.group, regions_of(v));
  ledger_.set_layers(number, layers_of(all_shares));
  for (int c = 1; c < int(all_shares.size()); ++c) ledger_.resize(number, c, provider_.bytes_of(number, c));
}

KEEL_INLINE std::vector<shape> fields_state::shapes_of(variable_record& v) const {
  lattice_record const& on = lattices_[std::size_t(v.lattice)];
  std::vector<shape> made;
  v.extents.clear();
  for (share const& part : *on.shares) {
    made.push_back(shape_on(part, on.mesh ? mesh_here(on.on.mesh).room : 0, *v.about, *v.kind, v.arrays,
                            v.lengths.data(), v.extents.emplace_back()));
    made.back().mesh = on.mesh.get();
  }
  return made;
}

// Those that have elements on some rank.
KEEL_INLINE region fields_state::regions_of(variable_record const& v) const {
  region regions = v.about->has_ghosts ? region::none : region::core;
  if (v.about->has_ghosts)
    for (share const& part : *lattices_[std::size_t(v.lattice)].shares) regions = regions | part.regions;
  return regions;
}

KEEL_INLINE void fields_state::add_mesh(std::string_view name, std::shared_ptr<elements const> part) {
  auto const size = std::int64_t(part->ids.size());
  meshes_.push_back({name, std::make_shared<mesh_share const>(std::move(part)), size, false});
}

KEEL_INLINE mesh_record const& fields_state::mesh_here(std::string_view name) const {
  for (mesh_record const& known : meshes_)
    if (known.name == name) return known;
  throw error("residency::fields", "the mesh " + std::string(name) + " is not there",
              "the fields have no partition of it", "Pass one with them");
}

// Variables that lie in the same way share their shares.
KEEL_INLINE int fields_state::find_lattice(variable_info const& about) {
  for (std::size_t n = 0; n < lattices_.size(); ++n)
    if (lattices_[n].on == about.on) return int(n);
  lattices_.push_back(lattice_of(about, shares_));
  return int(lattices_.size()) - 1;
}

KEEL_INLINE lattice_record fields_state::lattice_of(variable_info const& about,
                                                    std::shared_ptr<share_list const> const& grids) const {
  if (!about.on.mesh.empty()) {
    auto const& here = mesh(about.on.mesh);
    return {about.on, std::make_shared<share_list const>(1, here->of_variable()), here, {}};
  }
  if (about.on == lattice{}) return {about.on, grids, nullptr, {}};
  share_list all;
  for (share const& cells : *grids) all.push_back(share_of(cells, about.on, about.name));
  return {about.on, std::make_shared<share_list const>(std::move(all)), nullptr, {}};
}

KEEL_INLINE indices fields_state::rim_depth(std::span<request const> asked, component which) const {
  indices depth;
  for (request const& r : asked) {
    share const& part = local(which, r.variable);
    if (!part.ends.empty()) continue;                                // nothing of it is computed in pieces
    if (part.rank != local(which).rank) return local(which).extents; // all of it
    for (int d = 0; d < part.rank; ++d) depth[d] = std::max(depth[d], part.width[d] + part.longer[d]);
  }
  return depth;
}

// A piece that begins with the first owned cell has the variable's first owned element, too.
KEEL_INLINE bounds fields_state::owned_in(bounds const& cells, component which, int variable) const {
  bounds const of_grid = local(which).owned();
  bounds own = local(which, variable).owned();
  if (local(which, variable).rank != local(which).rank || !local(which, variable).ends.empty()) return own;
  for (int d = 0; d < local(which).rank; ++d) {
    std::int64_t const way = own.end[d] - of_grid.end[d];
    if (cells.begin[d] != of_grid.begin[d]) own.begin[d] = cells.begin[d] + way;
    own.end[d] = cells.end[d] + way;
  }
  return own;
}

// `room` is for how many elements of a mesh there is memory, `arrays` how many there are; `extra` are the lengths
// beyond the grid's.
KEEL_INLINE shape fields_state::shape_on(share const& part, std::int64_t room, variable_info const& about,
                                         array_kind const& kind, int arrays, std::int64_t const* extra,
                                         std::array<std::size_t, max_rank>& dynamic) const {
  int const on_grid = about.lies_on_grid ? part.rank : 0;
  shape lies;
  lies.rank = on_grid;
  lies.part = on_grid != 0 ? &part : nullptr;
  lies.has_ghosts = about.has_ghosts || on_grid == 0;
  lies.element_bytes = kind.element_bytes;
  lies.added_as = kind.added_as;
  std::int64_t extents[max_rank + 1]{};
  int const neighbours = kind.is_left ? 0 : kind.rank - 1;
  for (int d = 0; d < kind.rank; ++d) {
    extents[d] = d < on_grid ? std::max(part.extents[d], room) : d < kind.dynamic ? extra[d - on_grid] : kind.fixed[d];
    if (std::int64_t const rest = extents[d] % about.padding; d == neighbours && rest > 0 && extents[d] < most_bytes) {
      if (d >= kind.dynamic)
        throw error("residency::fields",
                    "variable " + std::string(about.name) + " is padded<" + std::to_string(about.padding) +
                        ">, and its dimension " + std::to_string(d) + " has " + policy::counted(extents[d], "element"),
                    "its type fixes them", "Give the type a multiple");
      extents[d] += about.padding - rest;
    }
    if (d < kind.dynamic) dynamic[std::size_t(d)] = std::size_t(extents[d]);
  }
  check_lengths("residency::fields", "variable ", about.name, {extents, std::size_t(kind.rank)},
                kind.element_bytes * arrays);
  for (int d = 0; d < kind.rank; ++d) {
    lies.elements *= extents[d];
    if (d >= on_grid) lies.inner *= extents[d];
  }
  std::int64_t stride = kind.is_left ? 1 : lies.inner;
  for (int k = 0; k < on_grid; ++k) {
    int const d = kind.is_left ? k : on_grid - 1 - k;
    lies.stride[d] = stride;
    stride *= extents[d];
  }
  lies.inner_stride = kind.is_left ? stride : 1;
  if (room > part.extents[0])
    lies.unused = kind.is_left && lies.inner != 1 ? -1 : lies.elements - part.extents[0] * lies.stride[0];
  return lies;
}

KEEL_INLINE std::string fields_state::cut(indices share::* into) const {
  std::string cuts;
  for (share const& s : std::span(*shares_).first(has_blocks_ ? 1 : shares_->size())) {
    if (!cuts.empty()) cuts += ' ';
    for (int d = 0; d < s.rank; ++d) {
      if (d > 0) cuts += 'x';
      cuts += std::to_string((s.*into)[d]);
    }
  }
  return cuts;
}

KEEL_INLINE void fields_state::print_cut() const {
  if (shares_->front().rank == 0) return; // only meshes
  std::printf("  ranks_in  -  %s  fields\n", cut(&share::processes).c_str());
  if (has_blocks_) std::printf("  blocks  -  %s  fields\n", cut(&share::blocks).c_str());
  std::fflush(stdout);
}

KEEL_INLINE std::pair<std::string, std::size_t const*> fields_state::described(int variable, int array) const {
  variable_record const& v = variables_[std::size_t(variable)];
  int const levels = v.about->levels;
  return {std::string(v.about->name) + " [" + std::to_string(array % levels) + "]",
          v.extents[v.extents.size() == 1 ? 0 : std::size_t(array / levels)].data()};
}

// Kokkos before 4.0 counts the elements of some layouts with 32 bits.
KEEL_INLINE void fields_state::check_size(int variable, int array, std::size_t elements) const {
  std::int64_t const wanted =
      provider_.shape_of(variable, array / variables_[std::size_t(variable)].about->levels).elements;
  if (std::int64_t(elements) < wanted)
    throw error("residency::fields", std::to_string(wanted) + " elements are too many for an array",
                "this Kokkos makes " + std::to_string(elements) + " of them");
}

} // namespace keel::residency::detail
