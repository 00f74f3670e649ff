// SPDX-License-Identifier: MIT
#include <keel/impl/residency/arrays.hpp>
#include <keel/exchange/kokkos_provider.hpp>
#include <keel/impl/layout/grid/grid_cut.hpp>
#include <keel/impl/layout/grid/grid_share.hpp>
#include <keel/impl/layout/lengths.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstdio>

namespace keel::residency::detail {

struct arrays::records {
  std::vector<mesh_record> meshes;
  std::vector<std::shared_ptr<geometry const>> lattices;
  std::vector<variable_record> variables;
};

KEEL_INLINE share_list shares_of(grid const& whole, std::span<grid const> further, int ranks, int rank) {
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

KEEL_INLINE int arrays::width(int variable) const {
  std::int64_t most = 0;
  for (share const& s : shares_of(variable))
    for (int k = 0; k < s.rank; ++k) most = std::max(most, s.width[k]);
  return int(most);
}

KEEL_INLINE unsigned arrays::wall_sides(int variable) const {
  unsigned const along = variables()[std::size_t(variable)].about->on.along;
  unsigned sides = 0;
  for (share const& s : shares_of(variable))
    for (int d = 0, k = 0; d < max_grid_rank && k < s.rank; ++d)
      if (along == 0 || (along >> d & 1) != 0) {
        if (s.width[k] > 0 && !s.wraps[std::size_t(k)]) sides |= (k == s.folds.at ? 1U : 3U) << (2 * d);
        ++k;
      }
  return sides;
}

KEEL_INLINE arrays::arrays(grid const& whole, std::span<grid const> further, int ranks, int rank, int memories,
                           int components)
    : rank_(rank), memories_(memories), components_(components), has_blocks_(whole.blocks() > 1),
      shares_(std::make_shared<share_list const>(detail::shares_of(whole, further, ranks, rank))),
      provider_(std::make_unique<kokkos_provider>()), slots_(&provider_->slots()),
      records_(std::make_unique<records>()) {}
KEEL_INLINE arrays::~arrays() = default;

KEEL_INLINE void arrays::connect(memory m, copy_queue queue) { provider_->connect(m, std::move(queue)); }

KEEL_INLINE void arrays::add(variable_info const& about, array_kind const& kind,
                             std::initializer_list<lengths_given> given, allocator made_by, void* owner) {
  auto const name = std::string(about.name);
  int const lattice = find_lattice(about);
  share_list const& all_shares = lattices()[std::size_t(lattice)]->shares;
  int const on_grid = about.lies_on_grid ? all_shares[0].rank : 0, beyond = kind.dynamic - on_grid;
  std::string const whose(lattices()[std::size_t(lattice)]->kind());
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
  variable_record& v = records_->variables.emplace_back();
  v.about = &about, v.kind = &kind, v.lattice = lattice, v.arrays = about.levels * components_;
  v.make = made_by, v.owner = owner;
  v.lengths.assign(lengths, lengths + beyond);
  if (about.is_scratch) made_by = [](void*, int, memory) {}; // when a schedule uses it
  list(v, made_by);
}
KEEL_INLINE void arrays::adopt(variable_info const& about, array_kind const& kind, shape const& lies, allocator made_by,
                               void* owner) {
  if (about.on.turns)
    throw error("residency::fields", "an array of vectors that turn is adopted, " + std::string(about.name),
                "the application's arrays lie in any order", "Declare it, and let keel make it");
  int const lattice = find_lattice(about);
  variable_record& v = records_->variables.emplace_back();
  v.about = &about, v.kind = &kind, v.lattice = lattice, v.arrays = about.levels;
  v.make = made_by, v.owner = owner, v.own = &lies;
  list(v, made_by);
}
KEEL_INLINE void arrays::list(variable_record& v, allocator made_by) {
  views_.reserve(views_.size() + std::size_t(memories_));
  for (int m = 0; m < memories_; ++m) views_.emplace_back(nullptr, nullptr);
  provider_->add(shapes_of(v), v.about->levels, made_by, v.owner);
}
KEEL_INLINE void arrays::keep(std::size_t variables, std::size_t lattices) {
  auto const cut = [](auto& all, std::size_t first) {
    while (all.size() > first) all.pop_back();
  };
  provider_->keep(variables);
  cut(views_, variables * std::size_t(memories_));
  cut(records_->variables, variables), cut(records_->lattices, lattices);
}
KEEL_INLINE share const& arrays::share_for(variable_info const& about) {
  return lattices()[std::size_t(find_lattice(about))]->shares.front();
}

KEEL_INLINE std::vector<shape> arrays::shapes_of(variable_record& v) const {
  geometry const& on = *lattices()[std::size_t(v.lattice)];
  std::vector<shape> made;
  v.extents.clear();
  if (v.own != nullptr) {
    made.push_back(*v.own);
    made.back().part = &on.shares.front(), made.back().on = &on;
    return made;
  }
  std::int64_t room = 0;
  for (mesh_record const& m : meshes())
    if (m.name == on.on.mesh) room = m.room + (on.on.has_none ? 1 : 0);
  for (share const& part : on.shares) {
    made.push_back(shape_on(part, room, *v.about, *v.kind, v.arrays, v.lengths.data(), v.extents.emplace_back()));
    if (made.back().part != nullptr) made.back().on = &on;
  }
  return made;
}

KEEL_INLINE region arrays::regions_of(int variable) const {
  bool const has_ghosts = variables()[std::size_t(variable)].about->has_ghosts;
  region regions = has_ghosts ? region::none : region::core;
  if (has_ghosts)
    for (share const& part : shares_of(variable)) regions = regions | part.regions;
  return regions;
}

KEEL_INLINE void arrays::add_mesh(std::string_view name, std::shared_ptr<index_space const> cut) {
  meshes().emplace_back(name, std::move(cut));
}

KEEL_INLINE std::vector<variable_record> const& arrays::variables() const { return records_->variables; }
KEEL_INLINE std::vector<mesh_record>& arrays::meshes() const { return records_->meshes; }
KEEL_INLINE std::vector<std::shared_ptr<geometry const>>& arrays::lattices() const { return records_->lattices; }
KEEL_INLINE std::shared_ptr<geometry const> const& arrays::lattice_of(int variable) const {
  return lattices()[std::size_t(variables()[std::size_t(variable)].lattice)];
}
KEEL_INLINE mesh_record& arrays::mesh_here(std::string_view name) const {
  for (mesh_record& known : meshes())
    if (known.name == name) return known;
  throw error("residency::fields", "the mesh " + std::string(name) + " is not there",
              "the fields have no partition of it", "Pass one with them");
}
KEEL_INLINE std::vector<mesh_record const*> arrays::meshes_with_ids() const {
  std::vector<mesh_record const*> made;
  for (mesh_record const& m : meshes())
    if (m.part != nullptr) made.push_back(&m);
  return made;
}
KEEL_INLINE std::shared_ptr<elements const> const& arrays::part_of(std::string_view name) const {
  if (auto const& part = mesh_here(name).part) return part;
  throw error("residency::fields", "elements of " + std::string(name) + " have no ids", "a partition would give them",
              "Cut it by one");
}
KEEL_INLINE std::int64_t arrays::size_of(std::string_view name) const { return mesh_here(name).size(); }
KEEL_INLINE element_range arrays::owned_of(std::string_view name) const {
  bounds const owned = mesh_here(name).bare->owned_in({}, component{});
  return {owned.begin[0], owned.end[0]};
}
KEEL_INLINE element_range arrays::ghosts_of(std::string_view name) const {
  return {owned_of(name).end, mesh_here(name).bare->shares.front().ends.back()};
}
KEEL_INLINE element_range arrays::layer_of(std::string_view name, int n) const {
  element_range const owned = owned_of(name);
  auto const& ends = mesh_here(name).bare->shares.front().ends;
  if (n < 1 || n >= int(ends.size()))
    throw error("residency::fields", "layer " + std::to_string(n) + " of " + std::string(name) + " is not there",
                "there are " + std::to_string(ends.size() - 1), "Count from 1");
  return {n == 1 ? owned.end : ends[std::size_t(n) - 1], ends[std::size_t(n)]};
}
KEEL_INLINE share_list const& arrays::shares_of(int variable) const { return lattice_of(variable)->shares; }
KEEL_INLINE std::size_t const* arrays::extents_of(int variable) const {
  return variables()[std::size_t(variable)].extents.front().data();
}
KEEL_INLINE region_bytes arrays::bytes_of(int variable, int component) const {
  return provider_->bytes_of(variable, component);
}

// Variables that lie in the same way share their shares.
KEEL_INLINE int arrays::find_lattice(variable_info const& about) {
  for (std::size_t n = 0; n < lattices().size(); ++n)
    if (lattices()[n]->on == about.on) return int(n);
  if (about.on.mesh.empty()) lattices().push_back(std::make_shared<grid_share const>(shares_, about.on, about.name));
  else lattices().push_back(mesh_here(about.on.mesh).space->lay(about.on));
  return int(lattices().size()) - 1;
}

KEEL_INLINE indices arrays::rim_depth(std::span<request const> asked, component which) const {
  indices depth;
  for (request const& r : asked) {
    share const& part = local(which, r.variable);
    bool const lies_along_some = lattice_of(r.variable)->on.along != 0 && part.rank != local(which).rank;
    if (lies_along_some) return local(which).extents; // all of it
    for (int d = 0; d < part.rank; ++d) depth[d] = std::max(depth[d], part.width[d] + part.longer[d]);
  }
  return depth;
}

// `room` is for how many elements of a mesh there is memory, `count` how many arrays there are; `extra` are the lengths
// beyond the grid's.
KEEL_INLINE shape arrays::shape_on(share const& part, std::int64_t room, variable_info const& about,
                                   array_kind const& kind, int count, std::int64_t const* extra,
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
                kind.element_bytes * count);
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

KEEL_INLINE std::string arrays::cut(indices share::* into) const {
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

KEEL_INLINE void arrays::print_cut() const {
  if (shares_->front().rank == 0) return; // only meshes
  std::printf("  ranks_in  -  %s  fields\n", cut(&share::processes).c_str());
  if (has_blocks_) std::printf("  blocks  -  %s  fields\n", cut(&share::blocks).c_str());
  std::fflush(stdout);
}

KEEL_INLINE std::pair<std::string, std::size_t const*> arrays::described(int variable, int array) const {
  variable_record const& v = variables()[std::size_t(variable)];
  int const levels = v.about->levels;
  return {std::string(v.about->name) + " [" + std::to_string(array % levels) + "]",
          v.extents[v.extents.size() == 1 ? 0 : std::size_t(array / levels)].data()};
}

// Kokkos before 4.0 counts the elements of some layouts with 32 bits.
KEEL_INLINE void arrays::check_size(int variable, int array, std::size_t elements) const {
  std::int64_t const wanted =
      provider_->shape_of(variable, array / variables()[std::size_t(variable)].about->levels).elements;
  if (std::int64_t(elements) < wanted)
    throw error("residency::fields", std::to_string(wanted) + " elements are too many for an array",
                "this Kokkos makes " + std::to_string(elements) + " of them");
}

KEEL_INLINE arrays::order arrays::ordered(int variable, memory m) const {
  variable_record const& v = variables()[std::size_t(variable)];
  order made{v.arrays, v.about->levels, v.about->is_scratch ? room_ : nullptr, nullptr, nullptr};
  if (replaced_ != nullptr && !replaced_->kept.empty())
    made.kept = replaced_->kept.data(), made.former = replaced_->views[std::size_t(m)].get();
  return made;
}
KEEL_INLINE void arrays::place(int variable, memory m, std::vector<void*> data, array_views all) {
  variable_record const& v = variables()[std::size_t(variable)];
  bool const has_gaps = v.own != nullptr && v.own->unused < 0; // in which others may lie
  if (v.about->is_scratch || has_gaps) provider_->place_shared(variable, m, std::move(data));
  else provider_->place(variable, m, std::move(data));
  views_[place_of(variable, m)] = std::move(all); // when all are there
}

KEEL_INLINE std::size_t arrays::scratch_size_of(int variable, int component) const {
  return (provider_->size_of(variable, component) + 127) / 128 * 128;
}
KEEL_INLINE void arrays::make_at(int variable, memory m, std::byte* room) {
  variable_record const& v = variables()[std::size_t(variable)];
  room_ = room;
  v.make(v.owner, variable, m);
}
KEEL_INLINE void arrays::free_scratch(int variable) {
  for (int m = 0; m < memories_; ++m) views_[place_of(variable, memory(m))].reset();
}

KEEL_INLINE void arrays::swap(former_variable& other) {
  std::swap(records_->variables[std::size_t(other.variable)], other.lies);
  provider_->swap(other.variable, other.arrays);
  for (std::size_t m = 0; m < other.views.size(); ++m)
    std::swap(views_[place_of(other.variable, memory(m))], other.views[m]);
}
KEEL_INLINE void arrays::make_again(former_variable const& old) {
  struct making {
    former_variable const*& at;
    ~making() { at = nullptr; }
  } const until_made{replaced_ = &old};
  for (int m = 0; m < memories_; ++m)
    if (!old.arrays.data[std::size_t(m)].empty()) provider_->create(old.variable, memory(m));
}
KEEL_INLINE void arrays::swap(std::shared_ptr<share_list const>& shares,
                              std::vector<std::shared_ptr<geometry const>>& lattices, int& count) {
  shares_.swap(shares);
  records_->lattices.swap(lattices);
  std::swap(components_, count);
}

KEEL_INLINE void arrays::require_component(component which, component_range of, std::string_view routine) const {
  auto const refuse = [&](std::string const& why, std::string_view hint) {
    throw error("residency", "routine " + std::string(routine) + " wants component " + std::to_string(which.index), why,
                hint);
  };
  if (which.index < 0 || which.index >= components_)
    refuse("there are " + std::to_string(components_), "Ask for an existing one");
  if (has_blocks_ && (which.index < of.begin || which.index >= of.end))
    throw error("residency",
                "routine " + std::string(routine) + " wants component " + std::to_string(which.index - of.begin),
                "it is called for each block, which is its component 0", "Leave the component out");
  if (which.index < of.begin || which.index >= of.end)
    refuse("it runs for component " + std::to_string(of.begin) + " only, so the others are neither copied nor marked",
           "Run it for all components");
}

KEEL_INLINE void arrays::require_one_call(component_range range, std::string_view routine) const {
  if (range.of(components_).end - range.begin > 1)
    throw error("residency", "routine " + std::string(routine) + " returns a value, and is called for each block",
                "one value is not kept of " + std::to_string(components_),
                "Make it a reduce, or run it for a component");
}

KEEL_INLINE void arrays::require_all_blocks(component_range range, std::string_view entry) const {
  if (has_blocks_ && range.of(components_).end - range.begin < components_)
    throw error("residency", std::string(entry) + " is run for block " + std::to_string(range.begin) + " only",
                "it is a neighbour of the others", "Run it for all");
}

} // namespace keel::residency::detail
