// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the file of a checkpoint has, and whether it is of these fields. The bodies stand in restart_content.ipp.

#include <keel/impl/residency/files/checkpoint.hpp>
#include <keel/impl/schedule/schedule_table.hpp>
#include <keel/impl/store/open_file.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// What a file has, as rank 0 found it and checked it; it travels.
struct restart_content {
  struct of_level {
    saved_level is;
    std::int64_t offset;
    std::uint64_t sum;
  };
  struct of_mesh {
    std::size_t mesh;        ///< among those with ids
    std::size_t first_share; ///< by rank of the former job, among `owned`
    std::int64_t total, offset;
    std::uint64_t sum;
    bool moves;
  };
  std::int64_t steps = 0, ranks = 0;
  std::vector<saved_dimension> grids; ///< of all components
  std::vector<std::int64_t> owned;
  std::vector<of_level> levels;
  std::vector<of_mesh> meshes;
};

/// A file that this rank only reads.
class file_to_read {
public:
  explicit file_to_read(std::string path) : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    require_done(file_.code);
  }
  void read(void* to, std::size_t bytes, std::int64_t offset) const { require_done(file_.get(to, bytes, offset)); }

private:
  void require_done(int code) const {
    if (code != 0)
      throw error("residency::restart", path_ + " cannot be read",
                  code == ENODATA ? "it is too short" : std::strerror(code));
  }
  std::string path_;
  policy::open_file file_;
};

/// Reads runs of a file; those that lie near each other, each behind the one before, by one call.
class run_reader {
public:
  explicit run_reader(file_to_read const& file) : file_(file) {}

  void read(std::byte* to, std::int64_t bytes, std::int64_t offset) {
    constexpr std::int64_t widest_gap = 1 << 14, most_at_once = 1 << 20;
    std::int64_t const end = runs_.empty() ? 0 : runs_.back().offset + runs_.back().bytes;
    if (runs_.empty() || offset < end || offset - end > widest_gap ||
        offset + bytes - runs_.front().offset > most_at_once)
      flush();
    if (!runs_.empty() && offset == end && to == runs_.back().to + runs_.back().bytes) runs_.back().bytes += bytes;
    else runs_.push_back({to, bytes, offset});
  }
  /// What was asked for is there when it returns.
  void flush() {
    constexpr std::int64_t short_run = 1 << 13; // costs less to copy than a call
    if (runs_.empty()) return;
    std::int64_t const begin = runs_.front().offset, size = runs_.back().offset + runs_.back().bytes - begin;
    if (bool const are_short = size < std::int64_t(runs_.size()) * short_run; are_short && runs_.size() > 1) {
      together_.resize(std::max(together_.size(), std::size_t(size)));
      file_.read(together_.data(), std::size_t(size), begin);
      for (run const& r : runs_) std::memcpy(r.to, together_.data() + (r.offset - begin), std::size_t(r.bytes));
    } else {
      for (run const& r : runs_) file_.read(r.to, std::size_t(r.bytes), r.offset);
    }
    runs_.clear();
  }

private:
  struct run {
    std::byte* to;
    std::int64_t bytes, offset;
  };
  file_to_read const& file_;
  std::vector<run> runs_;
  std::vector<std::byte> together_;
};

/// Throws unless the file is whole, and of fields like these. For rank 0.
[[nodiscard]] restart_content look_into(fields_state const& f, std::string const& path,
                                        std::span<schedule_nodes const> schedules);
/// The grids of these components, as `regrid` makes them; throws if one cannot be.
[[nodiscard]] std::vector<residency::patch> patches_of(arrays const& on, std::span<saved_dimension const> grids);
/// Gives all ranks what rank 0 has.
void share_content(agreement const& ranks, restart_content& all);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/restart_content.ipp>
#endif
