// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The arrays of fields, and how they lie on the grid and on meshes. What it keeps of each variable stands in
/// records.hpp, which users' sources do not compile.

#include <keel/impl/layout/geometry.hpp>
#include <keel/layout/grid.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>
#include <keel/validity/traffic.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency {
class kokkos_provider;
struct variable_info;
} // namespace keel::residency

namespace keel::residency::detail {

struct array_kind;
class copy_queue;
struct elements;
struct former_variable;
struct lengths_given;
struct mesh_record;
struct shape;
struct variable_record;

/// The views of one variable in one memory, without their type.
using array_views = std::unique_ptr<void, void (*)(void*)>;

/// What waits for the host's queues.
struct settling {
  void (*call)(void const*) = nullptr;
  void const* of = nullptr;
};

/// Lengths that a variable gets beyond the grid's or the mesh's.
struct new_lengths {
  int variable;
  std::span<std::int64_t const> lengths;
};

/// What new elements of a variable get: one element, or rows of an array that lies as the variable's arrays do.
struct new_values {
  int variable = -1;
  void const* element = nullptr;
  std::shared_ptr<void> rows = nullptr;
  std::size_t row_count = 0;
};

/// What a rank gets of a mesh.
struct new_cut {
  std::string_view mesh = {};
  std::shared_ptr<elements const> part = nullptr;
};

class arrays {
public:
  using allocator = void (*)(void* owner, int variable, memory m);

  /// For one of `ranks`; `memories` counts the host's.
  arrays(grid const& whole, std::span<grid const> further, int ranks, int rank, int memories, int components);
  ~arrays();
  arrays(arrays const&) = delete;
  arrays& operator=(arrays const&) = delete;

  // Before variables.
  /// A mesh on which variables may lie.
  void add_mesh(std::string_view name, std::shared_ptr<index_space const> cut);
  /// The host's queues, for `settle_host`.
  void settle_with(settling how) { settle_ = how; }
  /// Finds out how the arrays of the next variable lie on each share.
  void add(variable_info const& about, array_kind const& kind, std::initializer_list<lengths_given> given,
           allocator made_by, void* owner);
  /// Adds a variable whose arrays the application has, which lie so.
  void adopt(variable_info const& about, array_kind const& kind, shape const& lies, allocator made_by, void* owner);
  /// Forgets all variables, and ways in which they lie, but the first ones.
  void keep(std::size_t variables, std::size_t lattices);
  /// What copies to `m` and from it.
  void connect(memory m, copy_queue queue);

  /// Makes the arrays of all levels and components of a variable in memory `m`, as views of type `View`, from views of
  /// type `Made`; `options(label)` is what Kokkos gets beside the lengths. The body stands in setup.hpp.
  template <class View, class Made, class Options>
  void make(int variable, memory m, Options const& options);
  /// Says where they are, and what frees them.
  void place(int variable, memory m, std::vector<void*> data, array_views all);
  /// Lets the variable's owner make them at `room`, which is a scratch's for now.
  void make_at(int variable, memory m, std::byte* room);
  void free_scratch(int variable);
  /// The views of one variable in one memory, by component, then slot.
  [[nodiscard]] void const* views(int variable, memory m) const { return views_[place_of(variable, m)].get(); }
  /// The slot of a level, of one of `levels`, as `views` counts.
  [[nodiscard]] int slot(int variable, int level) const { return (*slots_)[std::size_t(variable)][std::size_t(level)]; }
  /// Returns when work on the host's memory that may go on asynchronously is done.
  void settle_host() const { settle_.call(settle_.of); }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int memories() const { return memories_; }
  [[nodiscard]] int components() const { return components_; }
  [[nodiscard]] bool has_blocks() const { return has_blocks_; }
  /// What a routine is called for: each block, one after the other, or all components.
  [[nodiscard]] component_range first_call(component_range range) const {
    return has_blocks_ ? component_range{range.begin, range.begin + 1} : range;
  }
  /// Goes on to the next, if there is one.
  [[nodiscard]] bool next_call(component_range& at, component_range range) const {
    if (!has_blocks_ || at.end >= range.of(components_).end) return false;
    at = {at.end, at.end + 1};
    return true;
  }
  void require_component(component which, component_range of, std::string_view routine) const;
  void require_one_call(component_range range, std::string_view routine) const;
  void require_all_blocks(component_range range, std::string_view entry) const;

  /// What this rank has of a mesh, whose elements have ids; how many elements, and which of them. They throw
  /// `keel::error` if the fields have no such mesh or layer, or if ghosts are scattered over it.
  [[nodiscard]] std::shared_ptr<elements const> const& part_of(std::string_view mesh) const;
  [[nodiscard]] std::int64_t size_of(std::string_view mesh) const;
  [[nodiscard]] element_range owned_of(std::string_view mesh) const;
  [[nodiscard]] element_range ghosts_of(std::string_view mesh) const;
  [[nodiscard]] element_range layer_of(std::string_view mesh, int n) const;
  /// This rank's share of the grid of a component.
  [[nodiscard]] share const& local(component which) const { return share_in(*shares_, which); }
  /// What this rank has of a component of a variable.
  [[nodiscard]] share const& local(component which, int variable) const { return share_in(shares_of(variable), which); }
  /// That of all components.
  [[nodiscard]] share_list const& shares_of(int variable) const;
  /// Layers of ghosts of a variable, also those that elements on the ends of cells add; and without these.
  [[nodiscard]] int layers(int variable) const { return lattice_of(variable)->layers(); }
  [[nodiscard]] int width(int variable) const;
  /// The sides where it has walls, as in `wall_condition`, on whatever rank.
  [[nodiscard]] unsigned wall_sides(int variable) const;
  /// Cells of the grid on each side that have elements in the rims of these variables.
  [[nodiscard]] indices rim_depth(std::span<request const> asked, component which) const;
  /// The owned elements of a variable that belong to these owned cells of the grid.
  [[nodiscard]] bounds owned_in(bounds const& cells, component which, int variable) const {
    return lattice_of(variable)->owned_in(cells, which);
  }
  /// The extents of the dynamic dimensions of a variable's first array.
  [[nodiscard]] std::size_t const* extents_of(int variable) const;
  [[nodiscard]] region_bytes bytes_of(int variable, int component) const;
  /// In a pool: the arrays begin where a line of any cache does.
  [[nodiscard]] std::size_t scratch_size_of(int variable, int component) const;
  /// How the grids are cut into `share::processes` or `blocks`: 2x2, and 1x4 after it for a second component that has a
  /// grid of its own.
  [[nodiscard]] std::string cut(indices share::* into) const;
  /// Prints it as a row of the table of knobs, which was printed before there was a grid.
  void print_cut() const;

  // records.hpp
  [[nodiscard]] kokkos_provider& provider() const { return *provider_; }
  [[nodiscard]] std::vector<variable_record> const& variables() const;
  [[nodiscard]] std::vector<mesh_record>& meshes() const;
  /// Those whose elements have ids.
  [[nodiscard]] std::vector<mesh_record const*> meshes_with_ids() const;
  [[nodiscard]] std::vector<std::shared_ptr<geometry const>>& lattices() const;
  [[nodiscard]] std::shared_ptr<share_list const> const& shares() const { return shares_; }
  [[nodiscard]] mesh_record& mesh_here(std::string_view name) const;
  [[nodiscard]] std::shared_ptr<geometry const> const& lattice_of(int variable) const;
  /// How the arrays of a variable would lie on the rank's first share.
  [[nodiscard]] share const& share_for(variable_info const& about);
  /// How its arrays lie, by component or one for all; sets its extents.
  [[nodiscard]] std::vector<shape> shapes_of(variable_record& v) const;
  /// The regions that have elements on some rank.
  [[nodiscard]] region regions_of(int variable) const;
  /// Gives a variable other arrays, and what it had to `other`. Does not throw.
  void swap(former_variable& other);
  /// Makes those that `old` had, in the same memories.
  void make_again(former_variable const& old);
  /// Other components. Does not throw.
  void swap(std::shared_ptr<share_list const>& shares, std::vector<std::shared_ptr<geometry const>>& lattices,
            int& count);

private:
  struct records;
  /// What `make` goes by. Of a scratch there is `room`; `kept` is by component that whose arrays stay, of `former`.
  struct order {
    int count, levels;
    std::byte* room;
    int const* kept;
    void const* former;
  };
  [[nodiscard]] order ordered(int variable, memory m) const;
  // What Kokkos gets for one array: its label and the lengths of its dynamic dimensions.
  [[nodiscard]] std::pair<std::string, std::size_t const*> described(int variable, int array) const;
  void check_size(int variable, int array, std::size_t elements) const;
  [[nodiscard]] std::size_t place_of(int variable, memory m) const {
    return std::size_t(variable * memories_) + std::size_t(m);
  }
  void list(variable_record& v, allocator made_by);
  int find_lattice(variable_info const& about);
  [[nodiscard]] shape shape_on(share const& part, std::int64_t room, variable_info const& about, array_kind const& kind,
                               int count, std::int64_t const* extra, std::array<std::size_t, max_rank>& dynamic) const;

  int rank_, memories_, components_;
  bool has_blocks_;
  std::shared_ptr<share_list const> shares_; // of the grid
  std::unique_ptr<kokkos_provider> provider_;
  std::vector<std::vector<int>> const* slots_; // of the provider
  std::unique_ptr<records> records_;
  std::vector<array_views> views_; // at place_of
  settling settle_;
  std::byte* room_ = nullptr;                 // of the scratch that is made
  former_variable const* replaced_ = nullptr; // while its arrays are made anew
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/arrays.ipp>
#endif
