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

/// Where the elements of a mesh lie in the file.
struct mesh_in_file {
  struct element {
    std::int64_t place;
    std::int32_t local;
  };
  bool is_cut_so = false;             ///< each rank has the ids that lie at its place in the file
  std::vector<element> elements = {}; ///< else those that this rank owns, by place
};

/// Calls add(bytes, number of the first, how many) for all that it has read, while that is in a cache.
inline void read_elements(run_reader& file, mesh_in_file const& mesh, whole_variable const& whole, std::byte* data,
                          std::int64_t offset, int element_bytes, auto const& add) {
  if (mesh.elements.empty()) return;
  ordered_box one = whole.boxes(region::owned, true).front(); // becomes that of an element
  auto const order = whole.dimensions();
  auto const of_mesh = std::size_t(
      std::find_if(order.begin(), order.end(), [](auto const& d) { return d.of_grid == 0; }) - order.begin());
  std::int64_t const stride = one.dimensions[of_mesh].stride;
  one.at = 0, one.dimensions[of_mesh].count = 1, one.dimensions[of_mesh].first = 0;
  std::int64_t step = 1;
  for (auto d = of_mesh + 1; d < std::size_t(one.rank); ++d) step *= one.dimensions[d].extent;
  for_each_run(one, [&](std::int64_t at, std::int64_t first, std::int64_t count) {
    auto const many = std::size_t(std::max<std::int64_t>(1, (1 << 18) / (count * element_bytes)));
    for (std::size_t n = 0; n < mesh.elements.size(); n += many) {
      auto const some = std::span(mesh.elements).subspan(n, std::min(many, mesh.elements.size() - n));
      for (auto const& e : some)
        file.read(data + (at + e.local * stride) * element_bytes, count * element_bytes,
                  offset + (first + e.place * step) * element_bytes);
      file.flush();
      for (auto const& e : some) add(data + (at + e.local * stride) * element_bytes, first + e.place * step, count);
    }
  });
}

/// Throws unless the file is whole, and of fields like these. For rank 0.
[[nodiscard]] restart_content look_into(fields_state& f, std::string const& path,
                                        std::span<schedule_nodes const> schedules);
/// The grids of these components, as `regrid` makes them; throws if one cannot be.
[[nodiscard]] std::vector<residency::patch> patches_of(arrays const& on, std::span<saved_dimension const> grids);
/// Gives all ranks what rank 0 has.
void share_content(agreement const& ranks, restart_content& all);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/restart_content.ipp>
#endif
