// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// All files that fields write, and when. The bodies stand in checkpoint_files.ipp.

#include <keel/impl/residency/files/checkpoint.hpp>
#include <keel/impl/residency/files/save.hpp>
#include <keel/impl/schedule/schedule_table.hpp>
#include <keel/policy/macros.hpp>
#include <keel/schedule/entry_kind.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// All files of fields, by name, and when they are written.
class checkpoint_files {
public:
  explicit checkpoint_files(fields_state& of) : fields_(of) {}
  /// Waits for what is written, and the master says how much failed, unless an exception is under way.
  ~checkpoint_files();

  [[nodiscard]] checkpoint_file& of(std::string_view name);
  /// Waits for what is written.
  void finish() {
    for (auto const& one : all_) one->finish();
  }
  /// Waits for all checkpoints, or for all that is saved, and counts them.
  [[nodiscard]] finished_files finish(entry_kind which);
  /// Writes what these entries of a schedule are to write: what later steps need of the schedules that ran as steps, or
  /// all that is valid if none did; and what the entry keeps.
  void write(schedule_nodes const& of, std::span<std::size_t const> entries);
  /// Goes on from a file before the first step, if the user asks for it, and returns whether. Does so once.
  bool begin_steps(std::span<schedule_nodes const> first);
  /// What these schedules read is needed, too, although they may not have run as steps yet.
  void go_on_with(std::span<schedule_nodes const> of) { going_on_.assign(of.begin(), of.end()); }
  /// After a step, whose schedule came to those entries. Its first one, if there is one, is meant when the user asks
  /// for checkpoints.
  void end_step(schedule_nodes const& of, std::span<std::size_t const> entries);

  std::vector<std::shared_ptr<saved_series>> saved;

private:
  /// Throws on all ranks if a file that these are to write cannot be made.
  void prepare(std::span<schedule_nodes const> first);
  void write(std::string_view name, std::span<request const> kept);
  /// Whether the job ends in so many seconds, as rank 0 has it.
  [[nodiscard]] bool ends_soon(int seconds) const;

  fields_state& fields_;
  std::vector<std::unique_ptr<checkpoint_file>> all_;
  std::vector<schedule_nodes> going_on_;
  bool is_prepared_ = false, has_begun_ = false, is_ending_ = false; // files; steps; the job
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/checkpoint_files.ipp>
#include <keel/impl/residency/files/save.ipp>
#endif
