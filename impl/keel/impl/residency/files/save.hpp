// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What an entry `save` writes: fields in global order, for those who look at them. The bodies stand in save.ipp.

#include <keel/impl/residency/files/collective_file.hpp>
#include <keel/impl/residency/files/saved_frame.hpp>
#include <keel/impl/store/frame_list.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>

#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

class agreement;
struct fields_state;

/// The files of all steps that have one name but for the number of the step, and the list of them that ParaView opens.
class saved_series {
public:
  saved_series(fields_state& of, std::string stem);
  [[nodiscard]] std::string const& stem() const { return stem_; }
  void finish() {
    auto& frames = listed_.frames;
    if (!file_.finish() && !frames.empty()) frames.erase(std::prev(frames.end()));
  }
  [[nodiscard]] bool is_written() const { return file_.is_written(); }
  [[nodiscard]] finished_files finished() const { return file_.finished(); }
  /// `finish` was called.
  void write(saved_frame const& what);

private:
  struct content;
  [[nodiscard]] content content_of(saved_frame const& what) const;
  void put_image(saved_frame const& what, content& in) const;
  void put_sphere(saved_frame const& what, content& in) const;
  void put_mesh(saved_frame const& what, content& in) const;

  fields_state& fields_;
  agreement const& ranks_;
  std::string stem_;
  frame_list former_, listed_; // those of an earlier run, and those in the list; by rank 0
  collective_file file_;
  bool has_read_ = false;
};

/// Throws on all ranks if files of this name cannot be made.
void prepare_to_save(fields_state& f, std::string_view name);
/// Writes the owned elements of these levels, to the files of this step. Collective.
void save(fields_state& f, std::string_view name, std::span<request const> what, component_range range);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/checkpoint_files.hpp> // whose end has the bodies: they need its class
#endif
