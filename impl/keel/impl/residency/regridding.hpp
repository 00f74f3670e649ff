// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Components that come and go: grids that are cut anew. The bodies stand in regrid.hpp.

#include <keel/impl/residency/field_ledger.hpp>
#include <keel/impl/residency/renewal.hpp>
#include <keel/layout/grid.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace keel::residency::detail {

class grid_renewal : public renewal {
public:
  /// Throws `keel::error` if the patches do not fit.
  grid_renewal(fields_state& of, std::span<residency::patch const> patches);
  ~grid_renewal();
  /// The digest of the patches.
  [[nodiscard]] argument digest() const;
  void prepare();
  void commit();

private:
  /// By component, that whose arrays a variable keeps; negative if it gets new ones.
  [[nodiscard]] std::vector<int> const& kept(int variable) const;
  [[nodiscard]] element_moves const* moves(int variable, int component);
  /// What the fields are made of, or what they were made of before.
  void swap();

  std::span<residency::patch const> patches_;
  std::vector<int> kept_on_grid_, kept_elsewhere_;
  std::deque<element_moves> moves_;
  std::vector<element_moves const*> moves_of_; // by lattice and component, then of what does not lie on the grid
  std::shared_ptr<share_list const> shares_;
  std::vector<lattice_record> lattices_; // with what shapes point to
  field_ledger::numbering states_;
  int components_;
  bool is_prepared_ = false;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/regrid.hpp>
#endif
