// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The thread that writes a rank's part of a file, and the end of a file that all ranks have written.

#include <keel/impl/store/file_calls.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace keel::residency::detail {

/// Bytes that go to `offset` of the file: from word `first_word` on of checksum `sum`, whose words have `word_bytes`.
struct written_run {
  std::byte const* from = nullptr;
  std::int64_t offset = 0;
  std::size_t bytes = 0;
  std::uint64_t first_word = 0;
  int sum = 0;
  int word_bytes = 8;
};

/// How far a rank's part of a file is. 0: not written.
struct part_state {
  static constexpr std::uint64_t written = 1, flushed = 2; ///< on its way to the disk; there, with `written`
  static constexpr std::uint64_t failed = 3;               ///< plus errno
  [[nodiscard]] static constexpr bool is_whole(std::uint64_t state) { return state == written || state == flushed; }
};

/// A rank's part of a file that is there already, with all its bytes.
struct write_job {
  std::string temporary; ///< the file, until all ranks have written it
  std::string name;      ///< then this is its name
  std::string previous;  ///< the file that had this name gets that one; empty: it is removed
  int rank = 0, ranks = 1;
  int sums = 0; ///< how many checksums there are, the same on all ranks; without any, nothing is flushed, too
  /// Offset of a table of std::uint64_t, [ranks][1 + sums], made of zeros: the `part_state` of a rank, then its share
  /// of each checksum.
  std::int64_t table = 0;
  std::vector<written_run> runs;         ///< whose bytes stay until the part is written or failed
  std::function<void()> fetch = {};      ///< the thread calls it first, to wait until what the runs refer to is there
  std::function<void()> when_named = {}; ///< rank 0's thread calls it when the file has its name
};

/// One file after the other. Its calls are for one thread; none of them sends a message.
class file_writer {
public:
  /// `calls` outlive it.
  explicit file_writer(file_calls const& calls = system_calls);
  file_writer(file_writer const&) = delete;
  file_writer& operator=(file_writer const&) = delete;
  /// Waits until this rank's own part is written or failed. A file that is not finished and that other ranks have not
  /// all written by then is removed.
  ~file_writer();

  /// Returns at once; `finish` was called for the one before. The thread writes the runs and the checksums, flushes,
  /// then writes the state and flushes; nothing of that waits for another rank. Then rank 0's looks at the table until
  /// all ranks have written, and finishes, so that the last file of a job that is killed is there.
  void begin(write_job job);

  /// Whether nothing is left to do for the thread: rank 0's has finished, too.
  [[nodiscard]] bool is_idle() const;

  /// Waits until this rank's own part is written or failed. Empty, or the reason of the failure.
  [[nodiscard]] std::string wait_part();

  /// On rank 0, ends the file as the ranks agreed: if `all_wrote`, the former file is kept as `previous`, the new one
  /// gets the name, and the folder is flushed; else the temporary file is removed. On other ranks it only waits as
  /// `wait_part`. Empty, or the reason of a failure, after which the former file has its name. May be called again.
  [[nodiscard]] std::string finish(bool all_wrote);

private:
  struct work;
  std::unique_ptr<work> work_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/file_writer.ipp>
#endif
