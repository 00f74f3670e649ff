// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// New arrays in place of old ones, with what the old ones hold on any rank. The bodies stand in remap.ipp.

#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/book.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

struct fields_state;

inline constexpr std::string_view take_less = "Take smaller arrays, or more ranks";

/// Replaces arrays of fields by arrays that lie in another way, all or none: the new ones are made beside the old ones
/// and filled from them, on this rank or another one. Unless it is committed, the fields have the old ones in the end.
class remap {
public:
  /// `who` is what messages call it.
  remap(fields_state& of, std::string_view who, std::span<new_values const> values = {});
  ~remap();
  remap(remap const&) = delete;
  remap& operator=(remap const&) = delete;

  [[nodiscard]] std::string_view who() const { return who_; }
  /// What arrays lie on: that of the fields until it is changed.
  struct layout {
    std::vector<mesh_record> meshes;
    std::vector<std::shared_ptr<geometry const>> lattices;
    std::shared_ptr<share_list const> shares;
    int components;
    std::optional<field_ledger::numbering> states; ///< if the components change
  };
  layout next;

  /// Before `run`: all levels of a new component get their owned elements by these moves, from the old component
  /// `from`. Without moves there are no values for them.
  void fill(int variable, int component, int from, element_moves const* moves);
  /// With `find`, the first step of `run`: some elements that move so are new, and only variables with values for them
  /// are valid.
  void lack_values(element_moves const& moves);

  /// Gives the fields `next`.
  void install();
  /// Lays a variable out anew, in new arrays where there were some, but for components that take those of old ones; or
  /// all in the same ones. Returns what it had.
  former_variable const& replace(int variable, variable_record lies, bool in_place = false, std::vector<int> kept = {});
  /// In each memory where an old array was valid the new one gets what both have; the rest is zeros.
  void copy(former_variable const& old);

  /// On all ranks or on none, with an error on all: `find` says which elements move, `lay_out` installs and replaces;
  /// values travel; commits.
  void run(thunk find, thunk lay_out);
  /// The fields keep the new arrays. Does not fail.
  void commit();

private:
  struct level_here {
    int variable, level, component, from;
    element_moves const* moves;
    memory where = memory::none; ///< where its owned elements are valid; if it travels, the same on all ranks
    bool travels = false;        ///< its owned elements are valid on all ranks
    bool lacks_values = false;   ///< of elements that are new
    bool is_all_new = false;     ///< nothing of it was on this rank
  };
  /// Finds which levels travel, and from which memory.
  void agree_on_levels(thunk find);
  [[nodiscard]] new_values const* values_of(int variable) const;
  /// Whether it has the element of `with_none`.
  [[nodiscard]] bool has_none(int variable) const;
  void swap();
  /// What travels comes to one memory, and nothing else is under way.
  void gather();
  /// When all arrays are replaced.
  void find_arrays();
  /// An array on a device gets the zeros of the host's.
  void zero(int variable, int level, int component, memory m);
  void exchange();
  void unpack();
  /// Values that can be valid nowhere any more.
  void lose();

  fields_state& fields_;
  arrays& arrays_;
  book& book_;
  std::string who_;
  std::span<new_values const> values_;
  std::shared_ptr<relocation> relocation_; ///< the fields have it again after a success
  bool is_installed_ = false;
  std::deque<former_variable> former_;
  std::vector<level_here> levels_;
  std::vector<std::int64_t> numbers_{0}; ///< of memories, two for each level, and one for agreements
  std::vector<moved_array> moved_;
  std::vector<sent> sent_; // what leaves the rank of each
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/remap.ipp>
#endif
