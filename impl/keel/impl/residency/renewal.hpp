// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How values go from arrays to those that replace them, on any rank; and meshes that are cut anew. The bodies stand in
/// renew.hpp.

#include <keel/impl/layout/owner_search.hpp>
#include <keel/impl/residency/resizing.hpp>
#include <keel/policy/macros.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// The way of fields from some of their arrays to others. These and the messages are made beside what is there. What
/// was not committed is taken back. Those that derive from it prepare: from there on the fields have the new shapes and
/// arrays, whose contents are not there yet.
class renewal {
public:
  renewal(renewal const&) = delete;
  renewal& operator=(renewal const&) = delete;

  /// For each level and component that was added, whether its owned elements are valid here, so that they can travel:
  /// 1, else 0. Those travel that are on all ranks. The last one is left to the caller.
  [[nodiscard]] std::span<std::int64_t> travelling() { return travelling_; }
  /// Some elements that move so are new: only variables with values for these travel.
  void leave_without_values(element_moves const& moves);
  /// Sends and gets messages. No array has changed.
  void exchange();
  /// Whether elements go to the arrays that they come from.
  [[nodiscard]] bool is_in_place() const { return is_in_place_; }
  void unpack();
  /// Values that can be valid nowhere any more: if elements that were put in place do not stay there.
  void lose();
  /// Does not fail.
  void commit();

protected:
  /// `who` is what messages call it.
  renewal(fields_state& of, std::string_view who, std::span<new_values const> values = {})
      : fields_(of), who_(who), former_(of), values_(values) {}
  ~renewal() = default;
  /// All levels of a component, whose number was `from`, get other arrays. Without moves there are no values for them.
  void add(int variable, int component, int from, element_moves const* moves);
  /// What travels comes to one memory, and nothing else is under way.
  void gather();
  /// When all arrays are replaced: packs.
  void lay_out();
  /// Calls f(array, that on the host which replaces it, its bytes) for what travels.
  void for_each_moved(auto const& f) const {
    for (std::size_t n = 0; n < moved_.size(); ++n) {
      level_here const& one = moved_levels_[n];
      f(moved_[n], fields_.arrays_.provider().array(one.variable, one.level, one.component, host),
        fields_.arrays_.provider().size_of(one.variable, one.component));
    }
  }

  fields_state& fields_;
  std::string who_;
  former_arrays former_;
  bool is_in_place_ = false;

private:
  [[nodiscard]] new_values const* values_of(int variable) const;
  /// New elements get their values; zeros where nothing is tracked.
  void fill_new();
  struct level_here {
    int variable, level, component, from;
    element_moves const* moves;
    memory where = memory::none;
    bool lacks_values = false; ///< of elements that are new
    bool is_all_new = false;   ///< nothing of it was on this rank
  };

  std::span<new_values const> values_;
  std::vector<level_here> levels_;
  std::vector<std::int64_t> travelling_{0};
  std::vector<moved_array> moved_;
  std::vector<level_here> moved_levels_; // which each of them is
  std::vector<sent> sent_;               // what left the rank
};

class mesh_renewal : public renewal {
public:
  mesh_renewal(fields_state& of, std::span<cut_anew> meshes, std::string_view who,
               std::span<new_values const> values = {});
  ~mesh_renewal();
  void prepare();
  void commit();

private:
  void take_meshes();

  std::span<cut_anew> meshes_;
  std::vector<bool> stays_; // the arrays of each mesh
  std::vector<mesh_record> old_meshes_;
  std::vector<lattice_record> old_lattices_; // with what shapes point to
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/renew.hpp>
#endif
