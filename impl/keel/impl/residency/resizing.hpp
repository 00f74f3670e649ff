// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Arrays that change their size. The bodies stand in resize.hpp.

#include <keel/impl/residency/fields_state.hpp>

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// What variables had before their arrays were replaced. Puts it back in the end, unless it was dropped.
class former_arrays {
public:
  explicit former_arrays(fields_state& of) : fields_(of) {}
  ~former_arrays();
  former_arrays(former_arrays const&) = delete;
  former_arrays& operator=(former_arrays const&) = delete;

  /// Lays a variable out anew, in new arrays where there were some, but for components that keep theirs; or all in the
  /// same ones. Returns what it had.
  former_variable const& replace(int variable, variable_record next, bool in_place, std::vector<int> kept = {});
  [[nodiscard]] std::deque<former_variable> const& all() const { return all_; }
  void drop() { all_.clear(); }

private:
  fields_state& fields_;
  std::deque<former_variable> all_;
};

/// Variables that get other lengths, or room for more elements. What both arrays have is copied in each memory; the
/// rest is zeros.
class resizing {
public:
  resizing(fields_state& of, std::string_view who);
  ~resizing();
  resizing(resizing const&) = delete;
  resizing& operator=(resizing const&) = delete;

  /// The lengths of a variable beyond the grid's or the mesh's.
  void set_lengths(int variable, std::span<std::int64_t const> lengths);
  /// Room for so many elements of a mesh.
  void reserve(std::string_view mesh, std::int64_t size);
  /// A number for all lengths that were set, the same on ranks that set the same.
  [[nodiscard]] argument const& lengths() const { return lengths_; }
  void commit();

private:
  void copy(former_variable const& old);

  fields_state& fields_;
  former_arrays former_;
  std::vector<mesh_record> old_meshes_;
  std::vector<int> changed_;
  argument lengths_{"lengths"};
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/resize.hpp>
#endif
