// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Meshes that are cut anew. The bodies stand in renew.hpp.

#include <keel/impl/residency/owner_search.hpp>
#include <keel/impl/residency/resizing.hpp>
#include <keel/policy/macros.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// A mesh that is cut anew. The values of its elements move so, or, without moves, are lost.
struct cut_anew {
  std::string_view mesh;
  std::shared_ptr<elements const> part;
  std::shared_ptr<element_moves> moves = nullptr;
  bool grows = false; ///< there shall be more room than is needed, because elements move again
};

/// The way of fields from one cut of meshes to another. The new arrays and the messages are made beside what is there.
/// What was not committed is taken back.
class renewal {
public:
  /// `who` is what messages call it.
  renewal(fields_state& of, std::span<cut_anew> meshes, std::string_view who);
  ~renewal();
  renewal(renewal const&) = delete;
  renewal& operator=(renewal const&) = delete;

  /// For each level and component of the variables on the meshes, whether the owned elements are valid here, so that
  /// they can travel: 1, else 0. Those travel that are on all ranks.
  [[nodiscard]] std::span<std::uint8_t> travelling() { return travelling_; }
  /// Gets ready: from here on the fields have the new shapes and arrays, whose contents are not there yet.
  void prepare();
  /// Packs, and sends and gets messages.
  void exchange();
  void commit();

private:
  struct level_here {
    int variable, level, component, mesh;
    memory where = memory::none;
  };
  void take_meshes();
  /// Tells the observer what left the rank.
  void notify(bool done);

  fields_state& fields_;
  std::span<cut_anew> meshes_;
  std::string who_;
  std::vector<level_here> levels_;
  std::vector<std::uint8_t> travelling_;
  std::vector<bool> stays_; // the arrays of each mesh
  std::vector<moved_array> moved_;
  std::vector<level_here> moved_levels_; // which each of them is
  former_arrays former_;
  std::vector<mesh_record> old_meshes_;
  std::vector<lattice_record> old_lattices_; // with what shapes point to
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/renew.hpp>
#endif
