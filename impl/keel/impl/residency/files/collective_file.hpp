// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A file that all ranks write behind the next steps, each its part. The bodies stand in collective_file.ipp.

#include <keel/impl/residency/files/global_order.hpp>
#include <keel/impl/store/file_writer.hpp>
#include <keel/impl/store/stored_file.hpp>
#include <keel/machine/agreement.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/schedule/checkpoint.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// Numbers that rank 0 has.
void send_all(machine::agreement const& ranks, std::vector<std::int64_t>& numbers);
/// The table of parts of a file with so many checksums.
[[nodiscard]] stored_dataset table_of_parts(int ranks, std::int64_t sums);

/// Elements of this rank that lie in a dataset of a file, the first of which has number 0.
struct staged_box {
  int dataset;
  void const* data;
  ordered_box box;
  int element_bytes;
  bool stays = false; ///< as it is until the file is written, so that no copy of it is needed
};

/// One file after the other. Collective, as all of it. Its end waits for what it has to write, unless an exception is
/// under way.
class collective_file {
public:
  /// `who` is in messages, `residency::checkpoint`.
  collective_file(machine::agreement const& ranks, std::string_view who) : ranks_(ranks), who_(who) {}
  ~collective_file();
  collective_file(collective_file const&) = delete;
  collective_file& operator=(collective_file const&) = delete;

  /// What all ranks need to know of a file that rank 0 made: where its table of parts and its datasets are.
  using offsets = std::vector<std::int64_t>;
  /// Lets rank 0 make a file of `describe()`, which all ranks call, and whose first dataset is the table of parts.
  /// Throws on all ranks alike.
  template <class F>
  [[nodiscard]] offsets make(std::string const& path, machine::failing_call const& failing, F const& describe) const {
    offsets made;
    ranks_.all_alike(failing, [&] {
      stored_file what = describe();
      if (ranks_.rank() == 0) made = make_on_this(path, what);
    });
    send_all(ranks_, made);
    return made;
  }
  /// Copies the boxes, and begins to write them; `names` has the names of the file, whether there are sums, and what to
  /// wait for. In messages it is `called`. Throws on all ranks if memory is lacking on one. `finish` was called for the
  /// one before.
  void begin(write_job names, offsets const& places, std::span<staged_box const> boxes, std::string called,
             machine::failing_call const& failing);
  /// Whether one is under way that all ranks have written, or failed to.
  [[nodiscard]] bool is_written() const;
  /// Returns when the file has its name, or false when the master has reported why not.
  bool finish();
  /// Calls `f`, which gets ready to write a file that is so called. What it throws costs that file and a warning of the
  /// master; if `is_start`, an error before the first file goes on. Returns whether there was none.
  template <class F>
  bool attempt(std::string const& called, bool is_start, F const& f) {
    try {
      f();
      return true;
    } catch (std::exception const& e) {
      if (is_start && finished_.written + finished_.failed == 0) throw;
      warn(called, reason_of(e));
    }
    return false;
  }
  [[nodiscard]] finished_files finished() const { return finished_; }

private:
  [[nodiscard]] static offsets make_on_this(std::string const& path, stored_file& what);
  void warn(std::string const& called, std::string_view why);

  machine::agreement const& ranks_;
  std::string_view who_;
  std::string called_, last_; // that is under way; that was written
  finished_files finished_;
  std::unique_ptr<std::byte[]> buffer_; // kept: the system takes longer to give pages than to fill them
  std::size_t room_ = 0;
  file_writer writer_;
  bool is_under_way_ = false;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/collective_file.ipp>
#endif
