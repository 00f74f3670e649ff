// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Arrays of other lengths, meshes that are cut anew, elements that change their rank: what the calls of `fields` of
/// these names do. The bodies stand in resize.ipp. All are collective, and throw on all ranks or on none.

#include <keel/impl/residency/arrays.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace keel::machine {
class agreement;
}

namespace keel::residency::detail {

class agreement;
struct fields_state;
struct thunk;

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
