// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Checkpoints: what of the fields goes into a file, which is written behind the next steps. The bodies stand in
/// checkpoint.ipp.

#include <keel/impl/exchange/copy_queue.hpp>
#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/files/collective_file.hpp>
#include <keel/impl/residency/files/global_order.hpp>
#include <keel/impl/schedule/liveness.hpp>
#include <keel/impl/store/folder_lock.hpp>
#include <keel/impl/store/stored_file.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

class agreement;
struct fields_state;

inline constexpr std::int64_t checkpoint_version = 1;

/// A level of a component of a variable, as a file has it. All blocks of a grid are in one dataset.
struct saved_level {
  int variable = 0, level = 0, component = 0;
  region where = region::none; ///< owned elements, walls
  int filled = 0;              ///< layers of ghosts that were valid; `all_layers` if all
  int number = 0;              ///< of its dataset, and of the checksum of that
};
/// The dataset of a level: `/eta/0`, or `/eta/0/2` of the third component.
[[nodiscard]] std::string path_of(std::string_view variable, saved_level const& one, bool has_components);
[[nodiscard]] stored_dataset dataset_of(arrays const& of, saved_level const& one, whole_variable const& whole);
[[nodiscard]] std::string path_of_mesh(std::string_view mesh);
/// A dimension of a component's grid, as a file has it.
struct saved_dimension {
  std::int64_t extent;
  int width; ///< of the ghosts
  int ends;  ///< 0: at walls; 1: where it begins; from `on_cube` on: at other panels of a cube; else at a fold, and how
  static constexpr int on_cube = 2 + 16 * max_grid_rank;

  friend bool operator==(saved_dimension const&, saved_dimension const&) = default;
};
/// How a dimension ends, for that: a fold with what it says.
[[nodiscard]] inline int ends_of(share const& s, int d) {
  if (s.folds.is_cube) return saved_dimension::on_cube + 1 + s.folds.corners_along;
  return d == s.folds.at ? 2 + s.folds.along + max_grid_rank * s.folds.longer : s.wraps[std::size_t(d)] ? 1 : 0;
}
/// The grids of all components, one after the other; all blocks have one.
[[nodiscard]] std::vector<saved_dimension> grids_of(arrays const& of);
/// As it lies in a file that has its walls, if they are saved.
[[nodiscard]] inline whole_variable whole_of(arrays const& of, saved_level const& one) {
  return {of, one.variable, one.component, overlap(one.where, region::walls)};
}

/// What writes files of one name. Made when it is first needed; waits in the end for what it has to write.
class checkpoint_file {
public:
  /// Collective, as all of it.
  checkpoint_file(fields_state& of, std::string_view name);
  checkpoint_file(checkpoint_file const&) = delete;
  checkpoint_file& operator=(checkpoint_file const&) = delete;

  [[nodiscard]] std::string_view name() const { return name_; }
  /// Copies what is live, and begins to write it. `live` is null if all is that is valid. Returns when the fields may
  /// change: what a device alone has is copied there, and comes to the host behind the next steps. What cannot be
  /// written in the end is reported at the next call.
  void write(live_levels const* live);
  /// Finds out whether a file can be made, and keeps other jobs away from it. Throws on all ranks alike.
  void prepare();
  void finish() { file_.finish(); }
  [[nodiscard]] bool is_written() const { return file_.is_written(); }
  [[nodiscard]] finished_files finished() const { return file_.finished(); }

private:
  /// What is valid on all ranks, and live; tells once what is not live.
  [[nodiscard]] std::vector<saved_level> choose(live_levels const* live);
  /// Copies of a device's arrays, there and on the host. Memory is kept for the next file.
  struct snapshot {
    copy_queue beside;
    std::shared_ptr<std::byte> there, here;
    std::size_t bytes = 0, used = 0;
    /// Whether there is room for what is used, and another queue.
    [[nodiscard]] bool has_room(copy_queue const& own);
    /// Where so many bytes more begin.
    std::size_t add(std::size_t size) { return std::exchange(used, used + (size + 255) / 256 * 256); }
  };
  /// The memory that each level is copied from, the host where there is no choice; the host has what is to come from it
  /// then.
  [[nodiscard]] std::vector<memory> choose_memories(std::span<saved_level const> levels);
  /// Where the level's array is, or will be when the job's `fetch` has returned.
  [[nodiscard]] std::byte const* begin_copy(saved_level const& one, memory from);
  /// The file without its data.
  [[nodiscard]] stored_file describe(std::span<saved_level const> levels) const;

  fields_state& fields_;
  agreement const& ranks_;
  std::string name_, temporary_;
  std::optional<folder_lock> lock_;              // of rank 0
  std::array<snapshot, max_memories> snapshots_; // the file is written from
  collective_file file_;
  std::vector<std::string> left_out_; // valid, but no later step reads it; of the last one
  bool has_told_ = false;             // what was left out
  bool is_prepared_ = false;
};

/// Numbers the elements of all meshes.
void number_elements(arrays const& on, agreement const& ranks);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/checkpoint.ipp>
#endif
