// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Arrays of other lengths, meshes that are cut anew, elements that change their rank: what the calls of `fields` of
/// these names do. The bodies stand in resize.ipp. All are collective, and throw on all ranks or on none.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace keel::machine {
class agreement;
}

namespace keel::residency::detail {

class agreement;
struct elements;
struct fields_state;
struct thunk;

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

/// Throws unless all partitions were made on these ranks, and are the same.
void check_meshes(fields_state const& f, machine::agreement const& ranks);
/// The ranks of the fields. Throws if they have other ones than the policy.
[[nodiscard]] agreement const& ranks_for(fields_state const& f, std::string_view call);

void resize(fields_state& f, std::span<new_lengths const> all);
void reserve(fields_state& f, std::string_view mesh, std::int64_t size);
/// `find_values` sets `values`, which new elements get.
void repartition(fields_state& f, std::span<new_cut const> cuts, std::span<new_values const> values, thunk find_values);
/// `find` sets `destinations`.
void migrate(fields_state& f, std::string_view mesh, std::span<int const> const& destinations, thunk find);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/resize.ipp>
#endif
