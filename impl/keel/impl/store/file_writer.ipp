// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/file_writer.hpp>

#include <keel/impl/store/checksum.hpp>
#include <keel/impl/store/folder_lock.hpp>
#include <keel/policy/file_limit.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

namespace keel::residency::detail {

inline std::string failed(std::string const& path, char const* doing, int code) {
  return path + " cannot be " + doing + ": " + std::generic_category().message(code);
}

KEEL_INLINE int file_writer::flush(policy::open_file const& file) const {
  return job_.sums == 0 ? 0 : policy::code_of(calls_.fsync(file.number));
}

KEEL_INLINE int file_writer::put_runs(policy::open_file const& file) const {
  constexpr std::size_t chunk = 1 << 20; // is in a cache when it is written, after it was summed
  std::vector<std::uint64_t> row(1 + std::size_t(job_.sums), 0);
  for (written_run const& run : job_.runs) {
    for (std::size_t done = 0; done < run.bytes; done += chunk) {
      std::byte const* const from = run.from + done;
      std::size_t const size = std::min(chunk, run.bytes - done);
      if (job_.sums != 0)
        row[1 + std::size_t(run.sum)] +=
            checksum(from, size, run.first_word + done / std::size_t(run.word_bytes), run.word_bytes);
      auto const at = off_t(run.offset + std::int64_t(done));
      if (int const code = file.put(from, size, at, calls_.pwrite); code != 0) return code;
#if defined(SYNC_FILE_RANGE_WRITE)
      // The disk works meanwhile; what it cannot do, the flush tells.
      if (job_.sums != 0 && size >= chunk / 16) ::sync_file_range(file.number, at, off_t(size), SYNC_FILE_RANGE_WRITE);
#endif
    }
  }
  row[0] = part_is_there;
  std::size_t const bytes = row.size() * sizeof row[0];
  return file.put(row.data(), bytes, off_t(job_.table + job_.rank * std::int64_t(bytes)), calls_.pwrite);
}

// Empty, or the reason.
KEEL_INLINE std::string file_writer::put_part() const {
  policy::file_limit_refuses const longer;
  policy::open_file const file(calls_.open(job_.temporary.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.code != 0) return failed(job_.temporary, "opened", file.code);
  try {
    if (job_.fetch) job_.fetch();
  } catch (std::exception const& e) {
    return job_.temporary + " cannot be written: " + e.what();
  }
  if (int const code = put_runs(file); code != 0) return failed(job_.temporary, "written", code);
  int const code = flush(file);
  return code == 0 ? "" : failed(job_.temporary, "flushed", code);
}

// Empty, or the reason, after which the former file has the name.
KEEL_INLINE std::string file_writer::give_name() const {
  write_job const& job = job_;
  std::string const kept = job.previous + ".tmp";
  bool is_linked = false, is_kept = false; // the former file has another name, too; has another name
  if (!job.previous.empty()) {
    calls_.unlink(kept.c_str()); // a killed job may have left it
    is_linked = calls_.link(job.name.c_str(), kept.c_str()) == 0;
    int code = is_linked ? 0 : errno;
    if (code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EMLINK) { // no links here
      is_kept = calls_.rename(job.name.c_str(), job.previous.c_str()) == 0;
      code = is_kept ? 0 : errno;
    }
    if (code != 0 && code != ENOENT) return failed(job.name, "kept", code);
  }
  if (calls_.rename(job.temporary.c_str(), job.name.c_str()) != 0) {
    int const code = errno;
    if (is_linked) calls_.unlink(kept.c_str());
    if (is_kept) calls_.rename(job.previous.c_str(), job.name.c_str());
    return failed(job.temporary, "renamed", code);
  }
  if (is_linked && calls_.rename(kept.c_str(), job.previous.c_str()) != 0) {
    int const code = errno;
    calls_.rename(kept.c_str(), job.name.c_str());
    return failed(job.name, "kept", code);
  }
  // Where folders cannot be flushed, a crash of the system may bring the former names back, of whole files as well.
  policy::open_file const folder(calls_.open(folder_of(job.name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.code == 0) static_cast<void>(flush(folder));
  return {};
}

KEEL_INLINE file_writer::~file_writer() {
  if (thread_.joinable() && process_ != ::getpid()) {
    new std::thread(std::move(thread_)); // in the child of a fork, which has no such thread
    return;
  }
  static_cast<void>(finish(false));
}

KEEL_INLINE void file_writer::begin(write_job job) {
  static_cast<void>(finish(false));
  job_ = std::move(job);
  process_ = ::getpid();
  is_open_ = job_.rank == 0;
  is_written_ = false;
  // Signals are for the threads of the program, but for those that tell of a mistake of this one.
  sigset_t all, before;
  sigfillset(&all);
  for (int const own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF}) sigdelset(&all, own);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    thread_ = std::thread([this] {
      try { // an exception would end the program here
        why_ = put_part();
      } catch (std::bad_alloc const&) {
        why_ = "no memory"; // which needs none
      }
      is_written_.store(true, std::memory_order_release);
    });
  } catch (std::system_error const& e) {
    why_ = failed(job_.temporary, "written by a thread of its own", e.code().value());
    is_written_ = true;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

KEEL_INLINE std::string const& file_writer::wait_part() {
  if (thread_.joinable()) thread_.join();
  return why_;
}

KEEL_INLINE std::string const& file_writer::finish(bool all_wrote) {
  bool const is_good = wait_part().empty() && all_wrote;
  if (!std::exchange(is_open_, false)) return why_;
  if (is_good) why_ = give_name();
  if (!is_good || !why_.empty()) calls_.unlink(job_.temporary.c_str());
  else if (job_.when_named) job_.when_named();
  return why_;
}

} // namespace keel::residency::detail
