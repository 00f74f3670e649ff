// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The thread that writes a rank's part of a file, and the end of a file that all ranks have written.

#include <keel/impl/store/open_file.hpp>
#include <keel/policy/macros.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace keel::residency::detail {

/// The calls of the system that a writer makes, so that tests can make each of them fail. Each sets errno, as the
/// system's own.
struct file_calls {
  int (*open)(char const* path, int flags) = [](char const* path, int flags) { return ::open(path, flags); };
  ssize_t (*pwrite)(int, void const*, std::size_t, off_t) = ::pwrite;
  int (*fsync)(int) = ::fsync;
  int (*rename)(char const* from, char const* to) = ::rename;
  int (*link)(char const* from, char const* to) = ::link;
  int (*unlink)(char const* path) = ::unlink;
};

inline constexpr file_calls system_calls = {};

/// Bytes that go to `offset` of the file: from word `first_word` on of checksum `sum`, whose words have `word_bytes`.
struct written_run {
  std::byte const* from = nullptr;
  std::int64_t offset = 0;
  std::size_t bytes = 0;
  std::uint64_t first_word = 0;
  int sum = 0;
  int word_bytes = 8;
};

/// A rank's word that its part of a file is there.
inline constexpr std::uint64_t part_is_there = 2;

/// A rank's part of a file that is there already, with all its bytes.
struct write_job {
  std::string temporary; ///< the file, until all ranks have written it
  std::string name;      ///< then this is its name
  std::string previous;  ///< the file that had this name gets that one; empty: it is removed
  int rank = 0;
  int sums = 0; ///< how many checksums there are, the same on all ranks; without any, nothing is flushed, too
  /// Offset of a table of std::uint64_t, [ranks][1 + sums], made of zeros: the word of a rank that its part is there,
  /// then its share of each checksum.
  std::int64_t table = 0;
  std::vector<written_run> runs;         ///< whose bytes stay until the part is written or failed
  std::function<void()> fetch = {};      ///< the thread calls it first, to wait until what the runs refer to is there
  std::function<void()> when_named = {}; ///< rank 0 calls it when the file has its name
};

/// One file after the other. Its calls are for one thread; none of them sends a message.
class file_writer {
public:
  /// `calls` outlive it.
  explicit file_writer(file_calls const& calls = system_calls) : calls_(calls) {}
  file_writer(file_writer const&) = delete;
  file_writer& operator=(file_writer const&) = delete;
  /// Waits until this rank's own part is written or failed. A file that is not finished is removed.
  ~file_writer();

  /// Returns at once; `finish` was called for the one before. A thread writes the runs, the checksums and the rank's
  /// word, and flushes.
  void begin(write_job job);

  /// Whether this rank's own part is written or failed.
  [[nodiscard]] bool is_written() const { return is_written_.load(std::memory_order_acquire); }
  /// Waits for that. Empty, or the reason of the failure.
  [[nodiscard]] std::string const& wait_part();

  /// Waits as well, and on rank 0 ends the file as the ranks agreed: if `all_wrote`, the former file is kept as
  /// `previous`, the new one gets the name, and the folder is flushed; else the temporary file is removed. Empty, or
  /// the reason of a failure, after which the former file has its name. May be called again.
  [[nodiscard]] std::string const& finish(bool all_wrote);

private:
  [[nodiscard]] int flush(policy::open_file const& file) const;
  [[nodiscard]] int put_runs(policy::open_file const& file) const;
  [[nodiscard]] std::string put_part() const;
  [[nodiscard]] std::string give_name() const;

  file_calls const& calls_;
  write_job job_;
  std::thread thread_;
  pid_t process_ = 0; // that has the thread
  std::atomic<bool> is_written_ = true;
  bool is_open_ = false; // on rank 0: the file has no name yet
  std::string why_;      // of the first failure; the thread's until the part is written
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/file_writer.ipp>
#endif
