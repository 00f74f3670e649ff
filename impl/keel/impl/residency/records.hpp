// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What arrays.hpp keeps of variables, of meshes, and of how variables lie on these and on the grid; and the ledger of
/// book.hpp.

#include <keel/exchange/kokkos_provider.hpp>
#include <keel/impl/layout/array_kind.hpp>
#include <keel/impl/layout/elements.hpp>
#include <keel/impl/layout/geometry.hpp>
#include <keel/impl/residency/arrays.hpp>
#include <keel/layout/grid.hpp>
#include <keel/impl/validity/observers.hpp>
#include <keel/layout/variable.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/ledger.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#if KEEL_COMPILED
extern template class keel::residency::ledger<keel::residency::kokkos_provider, keel::residency::detail::any_observer>;
#endif

namespace keel::residency::detail {

/// The ledger of fields, compiled once.
class field_ledger : public ledger<kokkos_provider, any_observer> {
public:
  using ledger::ledger;
};

struct variable_record {
  variable_info const* about;
  array_kind const* kind;
  int lattice;                                            ///< its number
  int arrays;                                             ///< of all levels and components
  std::vector<std::int64_t> lengths;                      ///< beyond the grid's or the mesh's
  std::vector<std::array<std::size_t, max_rank>> extents; ///< of the dynamic dimensions, by share
  arrays::allocator make;                                 ///< with `owner`: what makes its arrays
  void* owner;
  shape const* own = nullptr; ///< how arrays of the application lie
};

struct mesh_record {
  std::string_view name;
  std::shared_ptr<index_space const> space;
  std::shared_ptr<geometry const> bare; ///< of a variable with nothing of its own
  std::shared_ptr<elements const> part; ///< null if its elements have no ids
  std::int64_t room = 0;                ///< elements that there is memory for
  bool grows = false;                   ///< its elements move, so that there is more room than is needed

  mesh_record(std::string_view called, std::shared_ptr<index_space const> from) : name(called) {
    cut(std::move(from));
    room = size();
  }
  void cut(std::shared_ptr<index_space const> from) {
    lattice as;
    as.mesh = name;
    space = std::move(from), bare = space->lay(as), part = space->with_ids();
  }
  [[nodiscard]] std::int64_t size() const { return bare->shares.front().extents[0]; }
};

/// What a variable had before its arrays were replaced.
struct former_variable {
  int variable;
  variable_record lies;
  kokkos_provider::layout arrays;
  std::vector<array_views> views; ///< by memory; empty if all arrays stay
  std::vector<int> kept;          ///< by component, that whose arrays it takes; negative if it gets new ones
};

/// The shares of `rank` of the grids of all components, or its blocks; one if they are alike.
[[nodiscard]] share_list shares_of(grid const& whole, std::span<grid const> further, int ranks, int rank);

} // namespace keel::residency::detail
